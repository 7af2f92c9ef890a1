/* Synchronization is transitive: the data goes over two flags and two threads.
 * EXPECT every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int first, second;
static int data;

static void *one(void *arg)
{
    data = 42;
    atomic_store_explicit(&first, 1, memory_order_release);
    return arg;
}

static void *two(void *arg)
{
    int seen = atomic_load_explicit(&first, memory_order_acquire);
    atomic_store_explicit(&second, seen, memory_order_release);
    return arg;
}

static void *three(void *arg)
{
    if (atomic_load_explicit(&second, memory_order_acquire)) assert(data == 42);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_create(&t[2], NULL, three, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
