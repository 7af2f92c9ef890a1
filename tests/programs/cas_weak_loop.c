/* An increment made of a load and a weak compare and swap that tries again.
 * EXPECT -DN=2 every verified 4
 * EXPECT -DN=3 all verified 48
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static _Atomic int x;

static void *increment(void *arg)
{
    int old = atomic_load(&x);
    while (!atomic_compare_exchange_weak(&x, &old, old + 1)) {
    }
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, increment, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(x == N);
    return 0;
}
