/* A signal that a thread sends to itself is handled at once, by that thread; a blocked one waits. Handlers,
 * masks and pending signals are those of the start in every execution, and each thread has its own mask.
 * EXPECT every verified
 * EXPECT -DDEFAULT all error kind=crash thread=0.1
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int x;
static __thread volatile sig_atomic_t handled;

static void count(int number)
{
    handled += number == SIGUSR1 ? 1 : 10;
    atomic_load_explicit(&x, memory_order_relaxed); /* a handler is code like any other */
}

static void blocks_and_lets_through(void)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    assert(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    assert(raise(SIGUSR1) == 0 && raise(SIGUSR1) == 0 && handled == 0);
    assert(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
    assert(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    assert(handled == 1);
}

static void *work(void *arg)
{
    sigset_t mask;
    assert(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2));
    sigfillset(&mask);
    assert(pthread_sigmask(SIG_SETMASK, &mask, NULL) == 0);
    static _Alignas(4096) char fresh[4096];
    fresh[0] = 1; /* whatever the mask, this works */
#ifdef DEFAULT
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    raise(SIGTERM);
#endif
    return arg;
}

static void *other(void *arg)
{
    atomic_store(&x, 2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sigset_t mask;
    struct sigaction act = {.sa_handler = count}, old;
    stack_t mine = {.ss_flags = SS_DISABLE};
    assert(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
    assert(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2));
    assert(sigpending(&mask) == 0 && !sigismember(&mask, SIGHUP));
    assert(sigaction(SIGUSR1, &act, &old) == 0 && old.sa_handler == SIG_DFL);
    assert(signal(SIGUSR2, count) == SIG_DFL);
    assert(sigaltstack(&mine, NULL) == 0);
    blocks_and_lets_through();
    assert(kill(getpid(), SIGUSR2) == 0 && handled == 11);
    assert(pthread_kill(pthread_self(), SIGUSR2) == 0 && handled == 21);
#ifdef BROKEN
    assert(handled == 20);
#endif
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigaddset(&mask, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &mask, NULL); /* and left so at the end */
    raise(SIGHUP);
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, other, NULL);
    atomic_store(&x, 1);
    pthread_join(b, NULL);
    return 0;
}
