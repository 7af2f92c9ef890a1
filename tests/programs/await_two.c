/* Waiting for a condition over two variables. An await reads both of them, whatever their values are.
 *   default   x && y: the await comes after both stores, which are independent: 1 class
 *   EITHER    x || y: the await comes after the first store, and before or after the second one: 3 classes
 *   AGAIN     one thread sets x and takes it back, which disables the await again; at the end main sets x for good. The
 *             await comes between the two stores or after the third: 2 classes
 *   NEVER     the same without the third store: 2 classes, one of them is a deadlock
 *   PLAIN     what a thread writes before its store is visible after the await
 *   RELAXED   but not with relaxed loads in the condition: a data race
 * EXPECT every verified 1
 * EXPECT -DEITHER every verified 3
 * EXPECT -DAGAIN every verified 2
 * EXPECT -DNEVER all error kind=deadlock
 * EXPECT -DPLAIN every verified 1
 * EXPECT -DPLAIN -DRELAXED all error kind=data-race
 */
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int data;

#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_acquire
#endif

static int holds(void *unused)
{
    (void)unused;
#if defined EITHER
    return atomic_load(&x) || atomic_load(&y);
#elif defined AGAIN || defined NEVER
    return atomic_load(&x) == 1;
#else
    return atomic_load_explicit(&x, ORDER) && atomic_load_explicit(&y, ORDER);
#endif
}

static void *first(void *unused)
{
    data = 1;
    atomic_store_explicit(&x, 1, memory_order_release);
#if defined AGAIN || defined NEVER
    atomic_store(&x, 0);
#endif
    return unused;
}

static void *second(void *unused)
{
#if !defined AGAIN && !defined NEVER
    atomic_store_explicit(&y, 1, memory_order_release);
#endif
    return unused;
}

static void *waits(void *unused)
{
    mz_await(holds, NULL);
#ifdef PLAIN
    mz_assert(data == 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b, w;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&w, NULL, waits, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef AGAIN
    atomic_store(&x, 1);
#endif
    pthread_join(w, NULL);
}
