/* Created detached by attribute; and main ends while it runs.
 * EXPECT all verified
 * EXPECT -DFAIL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    int old = atomic_fetch_add(&x, 1);
#ifdef FAIL
    assert(old == 0); /* reachable only if main adds first and then does not end too soon */
#else
    (void)old;
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    assert(pthread_create(&t, &attr, work, NULL) == 0);
    pthread_attr_destroy(&attr);
    atomic_fetch_add(&x, 1);
    return 0;
}
