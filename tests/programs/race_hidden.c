/* The race is only there if the second thread finds the flag set, and the one who sets it does so last.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int step;
int data;

static void *first(void *arg)
{
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    data = 1;
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&step, memory_order_relaxed) == 2) data = 2;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&a, NULL, first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
