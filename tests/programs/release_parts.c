/* Several release sequences on one object: a release store after a release fence, a read-modify-write that
 * heads one of its own, and a store that ends the one of another thread.
 * EXPECT -DCASE=1 all verified
 * EXPECT -DCASE=2 all verified
 * EXPECT -DCASE=3 all error kind=data-race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int A;
static int data;
#define R memory_order_release
#define X memory_order_relaxed
#define Q memory_order_acquire
#if CASE == 1
static void *t1(void *a)
{
    atomic_thread_fence(R);
    data = 1;
    atomic_store_explicit(&A, 1, R);
    atomic_store_explicit(&A, 2, X);
    return a;
}
static void *t2(void *a) { return a; }
static void *t3(void *a)
{
    if (atomic_load_explicit(&A, Q) == 2) return (void *)(long)data;
    return a;
}
#elif CASE == 2
static void *t1(void *a)
{
    atomic_store_explicit(&A, 1, R);
    return a;
}
static void *t2(void *a)
{
    int e = 1;
    data = 1;
    if (atomic_compare_exchange_strong_explicit(&A, &e, 2, R, X)) atomic_store_explicit(&A, 5, X);
    return a;
}
static void *t3(void *a)
{
    if (atomic_load_explicit(&A, Q) == 5) return (void *)(long)data;
    return a;
}
#else
static void *t1(void *a)
{
    atomic_store_explicit(&A, 1, R);
    if (atomic_load_explicit(&A, X) == 2) atomic_store_explicit(&A, 3, X);
    return a;
}
static void *t2(void *a)
{
    int e = 1;
    data = 1;
    atomic_compare_exchange_strong_explicit(&A, &e, 2, R, X);
    return a;
}
static void *t3(void *a)
{
    if (atomic_load_explicit(&A, Q) == 3) return (void *)(long)data;
    return a;
}
#endif
int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], 0, t1, 0);
    pthread_create(&t[1], 0, t2, 0);
    pthread_create(&t[2], 0, t3, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
