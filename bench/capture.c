/* For bench/capture.sh, which measures the cost of knowing the state after each step. The program writes to KIB KiB of
 * memory; then THREADS threads make STEPS steps each. A step is an atomic store with WORDS plain writes before it, and an
 * atomic load. The values alternate, so there are many steps and few states. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef KIB
#define KIB 64
#endif
#ifndef STEPS
#define STEPS 100
#endif
#ifndef WORDS
#define WORDS 4
#endif
#ifndef THREADS
#define THREADS 2
#endif

long memory[KIB * 128 + THREADS * WORDS];
static atomic_int turn[THREADS];

static void *work(void *arg)
{
    int me = (int)(ptrdiff_t)arg;
    for (int i = 1; i <= STEPS; i++) {
        for (int w = 0; w < WORDS; w++) memory[me * WORDS + w] = i & 1;
        atomic_store(&turn[me], i);
        atomic_load(&turn[(me + 1) % THREADS]);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) memory[i] = (long)i;
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, (void *)(ptrdiff_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    return 0;
}
