/* A timed wait is woken or times out. The signaller comes first (1); or the waiter, which is woken (1), or
 * times out before the signal and has the mutex again before the signaller (1) or after (1): 4. In a loop,
 * with the mutex first it waits again, and is woken: 4, too; a second round in vain is like the first and
 * left out.
 * At -O0 what the wait returned has a place on the stack, so the loop goes round once more (-DLOOP): opt=2.
 * EXPECT every verified 4
 * EXPECT -DCLOCKWAIT every verified 4
 * EXPECT --no-sleep-sets none verified 5
 * EXPECT -DNEVER all error kind=assertion
 * EXPECT -DALWAYS all error kind=assertion
 * EXPECT -DSTALE all error kind=assertion
 * EXPECT -DLOOP every verified 4 opt=2
 * EXPECT -DALONE every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static int wait(void)
{
    struct timespec until = {2000000000, 0};
#ifdef CLOCKWAIT
    return pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &until);
#else
    return pthread_cond_timedwait(&c, &m, &until);
#endif
}

static void *waiter(void *arg)
{
    int r = 0;
    pthread_mutex_lock(&m);
#ifdef LOOP
    while (!ready) r = wait();
    r = 0;
#else
    while (!ready && r == 0) r = wait();
#endif
#ifdef NEVER
    assert(r == 0);
#endif
#ifdef ALWAYS
    assert(!ready || r == ETIMEDOUT);
#endif
#ifdef STALE /* it may have become true in spite of the time-out */
    assert(r == 0 || !ready);
#endif
    assert(ready || r == ETIMEDOUT);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    struct timespec wrong = {0, 1000000000};
    pthread_t t;
    pthread_mutex_lock(&m);
    assert(pthread_cond_timedwait(&c, &m, &wrong) == EINVAL);
    pthread_mutex_unlock(&m);
    pthread_create(&t, NULL, waiter, NULL);
#ifndef ALONE
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
#endif
    pthread_join(t, NULL);
    return 0;
}
