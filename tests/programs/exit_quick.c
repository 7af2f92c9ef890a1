/* quick_exit runs its own handlers, and none of exit.
 * EXPECT every verified 2
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;
static int calls;

static void quick(void)
{
    calls++;
#ifdef BROKEN
    assert(calls == 2);
#else
    assert(calls == 1);
#endif
}
static void slow(void) { assert(0); }

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    at_quick_exit(quick);
    atexit(slow);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
    quick_exit(0);
}
