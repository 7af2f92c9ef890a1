/* A signal to another thread interrupts it anywhere until it ends, also one that does nothing visible.
 * EXPECT every error kind=crash
 * EXPECT stateful error kind=crash
 * EXPECT s-por error kind=crash
 * EXPECT -DIGNORED every verified
 * EXPECT -DDEFAULT all error kind=crash thread=0
 * EXPECT -DCOUNT every verified
 * EXPECT -DCOUNT stateful verified
 * EXPECT -DCOUNT --strict optimal incomplete says=handler
 * EXPECT -DCOUNT -DEARLY all error kind=assertion
 * EXPECT -DCOUNT -DBLOCKED every verified
 * EXPECT -DJOINED all error kind=api-misuse
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int handled, x;

static void handler(int number)
{
    (void)number;
#ifdef COUNT
    handled++;
#else
    abort();
#endif
}

static void *thread(void *unused)
{
#ifdef EARLY
    x = 1;
    x = 2;
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
#ifdef IGNORED
    signal(SIGUSR1, SIG_IGN);
#elif !defined DEFAULT
    signal(SIGUSR1, handler);
#endif
#ifdef BLOCKED
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
    pthread_create(&t, NULL, thread, NULL);
#ifdef JOINED
    pthread_join(t, NULL);
    pthread_kill(t, SIGUSR1);
    return 0;
#endif
    pthread_kill(t, SIGUSR1);
#ifdef EARLY
    assert(!(handled == 1 && x == 1)); /* it may come between the two stores */
#endif
    pthread_join(t, NULL);
#ifdef BLOCKED
    assert(handled == 0);
#else
    assert(handled <= 1);
#endif
    return 0;
}
