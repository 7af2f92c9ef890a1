/* A read-modify-write by another thread, even a relaxed one, goes on with the release sequence; a store by
 * another thread ends it.
 * EXPECT every verified 6
 * EXPECT -DSTORE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag;
static int data;

static void *producer(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}

static void *between(void *arg)
{
#ifdef STORE
    if (atomic_load_explicit(&flag, memory_order_relaxed) == 1)
        atomic_store_explicit(&flag, 2, memory_order_relaxed);
#else
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
#endif
    return arg;
}

static void *consumer(void *arg)
{
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2) assert(data == 42);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, producer, NULL);
    pthread_create(&t[1], NULL, between, NULL);
    pthread_create(&t[2], NULL, consumer, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
