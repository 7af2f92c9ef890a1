#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, r;
static void *a(void *v)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    r = atomic_load_explicit(&y, memory_order_relaxed);
    return v;
}
static void *b(void *v)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    r = atomic_load_explicit(&x, memory_order_relaxed);
    return v;
}
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, a, 0);
    pthread_create(&t, 0, b, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
