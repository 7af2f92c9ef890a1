/* sigwait: a thread of its own takes the signals of the process. Nobody handles them, so nobody is interrupted.
 * EXPECT every verified
 * EXPECT stateful verified
 * EXPECT -DTHREAD every verified
 * EXPECT -DTIMED every verified
 * EXPECT -DQUEUE all verified
 * EXPECT -DNOBODY all error kind=deadlock
 * EXPECT -DSUSPEND every verified
 * EXPECT -DSUSPEND -DOPEN all error kind=deadlock
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int got;
static sigset_t set, old;

static void handler(int number) { got = number; }

static void *waiter(void *unused)
{
#ifdef SUSPEND
    sigsuspend(&old);
    assert(got == SIGUSR1);
#elif defined TIMED
    const struct timespec second = {1, 0};
    got = sigtimedwait(&set, NULL, &second);
#elif defined QUEUE
    siginfo_t info;
    assert(sigwaitinfo(&set, &info) == SIGUSR1);
    assert(info.si_value.sival_int == 5 && info.si_code == SI_QUEUE);
    got = SIGUSR1;
#else
    int number = 0;
    assert(!sigwait(&set, &number));
    got = number;
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef SUSPEND
    signal(SIGUSR1, handler);
#endif
#ifdef OPEN /* the signal may come before the thread waits */
    pthread_sigmask(SIG_BLOCK, NULL, &old);
    pthread_create(&t, NULL, waiter, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#else
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&t, NULL, waiter, NULL);
#endif
#ifdef THREAD
    pthread_kill(t, SIGUSR1);
#elif defined SUSPEND
    pthread_kill(t, SIGUSR1);
#elif defined QUEUE
    const union sigval value = {.sival_int = 5};
    sigqueue(getpid(), SIGUSR1, value);
#elif !defined NOBODY
    kill(getpid(), SIGUSR1);
#endif
    pthread_join(t, NULL);
#ifdef TIMED
    assert(got == SIGUSR1 || got == -1);
#else
    assert(got == SIGUSR1);
#endif
    (void)handler;
    return 0;
}
