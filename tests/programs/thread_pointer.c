/* The thread pointer itself tells threads apart, in a program without thread-local variables and without
 * libc.
 * EXPECT every verified 2
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static void *other;

static void *work(void *arg)
{
    other = __builtin_thread_pointer();
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
#ifdef BROKEN
    assert(other == __builtin_thread_pointer());
#else
    assert(other != __builtin_thread_pointer());
#endif
    return 0;
}
