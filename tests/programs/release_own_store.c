/* A later relaxed store by the same thread goes on with its release sequence (C11 5.1.2.4): who reads it
 * synchronizes with the release. What was written in between is not covered.
 * EXPECT every verified 3
 * EXPECT -DBETWEEN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag;
static int data, more;

static void *producer(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    more = 43;
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    return arg;
}

static void *consumer(void *arg)
{
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2) {
        assert(data == 42);
#ifdef BETWEEN
        assert(more == 43);
#endif
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
