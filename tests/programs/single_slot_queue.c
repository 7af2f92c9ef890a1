/* One producer, one consumer, a ring of two slots with atomic positions: right with release and acquire, a
 * race with relaxed ones.
 * EXPECT -DORDER=0 every verified 19
 * EXPECT -DORDER=1 all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#if ORDER == 0
#define PUT memory_order_release
#define GET memory_order_acquire
#else
#define PUT memory_order_relaxed
#define GET memory_order_relaxed
#endif

static int ring[2];
static _Atomic unsigned head, tail;

static void *producer(void *arg)
{
    for (int i = 1; i <= 3; i++) {
        unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
        if (t - atomic_load_explicit(&head, GET) == 2) continue; /* full: drop it */
        ring[t % 2] = i;
        atomic_store_explicit(&tail, t + 1, PUT);
    }
    return arg;
}

static void *consumer(void *arg)
{
    int last = 0;
    for (int i = 0; i < 2; i++) {
        unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
        if (atomic_load_explicit(&tail, GET) == h) continue; /* empty */
        int v = ring[h % 2];
        assert(v > last);
        last = v;
        atomic_store_explicit(&head, h + 1, PUT);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
