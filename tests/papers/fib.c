/* Fibonacci: two threads, N times each i += j and j += i, as separate atomic loads and stores. No value
 * beyond the Fibonacci number of 2N+2 is reachable, and that one is.
 *
 * EXPECT -DN=1 every verified 3
 * EXPECT -DN=2 every verified 19
 * EXPECT -DN=3 all verified 141
 * EXPECT -DN=4 optimal verified 1107
 * EXPECT -DN=4 source verified 1107
 * EXPECT -DN=5 optimal verified 8953
 * EXPECT -DN=5 source verified 8953
 * EXPECT -DN=3 -DREACH all error kind=assertion
 * SLOW -DN=6 optimal verified 73789
 * SLOW -DN=6 source verified 73789
 * SLOW -DN=7 optimal verified 616227
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static _Atomic int i = 1, j = 1;

static void *add_j(void *arg)
{
    for (int k = 0; k < N; k++) atomic_store(&i, atomic_load(&i) + atomic_load(&j));
    return arg;
}

static void *add_i(void *arg)
{
    for (int k = 0; k < N; k++) atomic_store(&j, atomic_load(&j) + atomic_load(&i));
    return arg;
}

static int fibonacci(int n)
{
    int a = 0, b = 1;
    for (int k = 0; k < n; k++) {
        int c = a + b;
        a = b;
        b = c;
    }
    return a;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add_j, NULL);
    pthread_create(&b, NULL, add_i, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int most = fibonacci(2 * N + 2);
#ifdef REACH
    assert(atomic_load(&i) < most && atomic_load(&j) < most);
#else
    assert(atomic_load(&i) <= most && atomic_load(&j) <= most);
#endif
    return 0;
}
