/* A signal to the process is handled by any thread that does not block it; if only the sender does not, before
 * kill returns.
 * EXPECT every verified
 * EXPECT stateful verified
 * EXPECT -DANY all error kind=assertion
 * EXPECT -DBLOCKED every verified
 * EXPECT -DEXIT every error kind=crash
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int handled, by;
static __thread int me;

static void handler(int number)
{
    (void)number;
    by = me;
    handled++;
}

static void block(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(how, &set, NULL);
}

static void *thread(void *unused)
{
    me = 2;
    return unused;
}

int main(void)
{
    pthread_t t;
    me = 1;
#ifndef EXIT
    signal(SIGTERM, handler);
#endif
#ifndef ANY
    block(SIG_BLOCK);
#endif
    pthread_create(&t, NULL, thread, NULL);
#ifndef BLOCKED
    block(SIG_UNBLOCK);
#endif
    kill(getpid(), SIGTERM);
#ifdef BLOCKED
    assert(!handled);
    block(SIG_UNBLOCK);
#endif
#ifdef ANY
    pthread_join(t, NULL);
    assert(by != 2);
#else
    assert(handled == 1 && by == 1);
    pthread_join(t, NULL);
#endif
    return 0;
}
