/* ABA: a reader takes the same pointer, seen twice, for a sign that nothing has changed. That holds as long
 * as no block gets the address of another one. Only --heap=reuse shows the difference.
 * EXPECT every verified
 * EXPECT --heap=reuse all error kind=assertion line=33
 * EXPECT -DLATE_FREE --heap=reuse every verified
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *_Atomic current;
static _Atomic int changes;

static void *updater(void *arg)
{
    void *old = atomic_exchange(&current, NULL);
    atomic_fetch_add(&changes, 1);
#ifndef LATE_FREE
    free(old);
#endif
    atomic_store(&current, malloc(16));
#ifdef LATE_FREE
    free(old);
#endif
    return arg;
}

static void *reader(void *arg)
{
    void *before = atomic_load(&current);
    int n = atomic_load(&changes);
    if (before && atomic_load(&current) == before && before == arg) assert(n == 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    void *first = malloc(16);
    atomic_init(&current, first);
    pthread_create(&a, NULL, updater, NULL);
    pthread_create(&b, NULL, reader, first);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(current);
    return 0;
}
