/* A counter whose update is a load and a store, both atomic: no data race, but an update may be lost.
 * EXPECT all error kind=assertion
 * EXPECT -DWEAK every verified 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *add(void *arg)
{
    atomic_store(&x, atomic_load(&x) + 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef WEAK
    assert(x == 1 || x == 2);
#else
    assert(x == 2);
#endif
    return 0;
}
