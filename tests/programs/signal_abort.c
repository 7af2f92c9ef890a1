/* abort() runs the handler of SIGABRT. If that leaves by longjmp, the program goes on; if it returns, it
 * ends.
 * EXPECT every verified 2
 * EXPECT -DRETURNS all error kind=crash
 */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;
static sigjmp_buf out;

static void handler(int number)
{
    (void)number;
#ifndef RETURNS
    siglongjmp(out, 1);
#endif
}

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    signal(SIGABRT, handler);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
    if (!sigsetjmp(out, 1)) abort();
    sigset_t mask;
    assert(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGABRT));
    return 0;
}
