/* The same increment without trying again: one of the two may be lost.
 * EXPECT all error kind=assertion line=24
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *increment(void *arg)
{
    int old = atomic_load(&x);
    atomic_compare_exchange_strong(&x, &old, old + 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, increment, NULL);
    pthread_create(&b, NULL, increment, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 2);
    return 0;
}
