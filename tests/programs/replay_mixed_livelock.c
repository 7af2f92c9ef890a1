/* A loop that waits for ever, on a byte of a word that others access as a whole: objects of mixed sizes start a search
 * over, which a replay cannot. The livelock was found and not replayed.
 * EXPECT all error kind=livelock
 * EXPECT stateful error kind=livelock
 * EXPECT -DBARRIER all error kind=livelock
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static union {
    _Atomic uint32_t word;
    _Atomic uint8_t byte[4];
} flag;
#ifdef BARRIER
static pthread_barrier_t barrier;
#endif

static void *wait_for_flag(void *unused)
{
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#endif
    while (!atomic_load(&flag.byte[1]))
        ;
    return unused;
}

static void *set_flag(void *unused)
{
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#endif
    uint32_t old = atomic_load(&flag.word);
    if (old == 0) atomic_store(&flag.word, 1); /* byte 0: not the one that is waited for */
    return unused;
}

int main(void)
{
    pthread_t a, b;
#ifdef BARRIER
    pthread_barrier_init(&barrier, NULL, 2);
#endif
    pthread_create(&a, NULL, wait_for_flag, NULL);
    pthread_create(&b, NULL, set_flag, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
