/* The race on x is reversed by a branch of N + 1 steps. Before the search comes to it, it finds that z is
 * accessed in two sizes and starts over, and has to throw the long branch away. Orders: of the accesses to x,
 * and of those to y. The stateful algorithms would compare 600,000 states, each with the whole path to it: only -DN=1000.
 * OPTIONS --max-steps=1000000
 * EXPECT all verified 4 search=stateless
 * EXPECT -DN=1000 all verified 4
 * EXPECT -DN=10 -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef N
#define N 600000
#endif

static _Atomic int x, y, own;
static union {
    _Atomic uint32_t whole;
    _Atomic uint16_t half[2];
} z;

static void *first(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}

static void *second(void *arg)
{
    for (int i = 0; i < N; i++) atomic_fetch_add(&own, 1);
    int seen = atomic_exchange(&x, 2);
#ifdef BROKEN
    assert(seen == 1);
#endif
    (void)seen;
    return arg;
}

static void *third(void *arg)
{
    atomic_store(&y, 1);
    return arg;
}

static void *fourth(void *arg)
{
    if (!atomic_load(&y)) atomic_store(&z.half[1], 1);
    return arg;
}

static void run(void *(*f)(void *), void *(*g)(void *))
{
    pthread_t a, b;
    pthread_create(&a, NULL, f, NULL);
    pthread_create(&b, NULL, g, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

int main(void)
{
    run(first, second);
    atomic_store(&z.whole, 0);
    run(third, fourth);
    return 0;
}
