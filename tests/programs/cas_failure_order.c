/* A compare and swap that fails uses its failure order: acquire sees the data, relaxed races.
 * EXPECT -DFAILURE=memory_order_acquire every verified 2
 * EXPECT -DFAILURE=memory_order_relaxed all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef FAILURE
#define FAILURE memory_order_acquire
#endif

static _Atomic int flag;
static int data;

static void *producer(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}

static void *consumer(void *arg)
{
    int expected = 2;
    if (!atomic_compare_exchange_strong_explicit(&flag, &expected, 3, memory_order_acq_rel, FAILURE) &&
        expected == 1)
        assert(data == 42);
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
