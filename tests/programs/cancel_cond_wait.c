/* A thread that waits on a condition variable is cancelled: it has the mutex again, and its cleanup handler
 * gives it back. The cancel comes before the thread has said that it waits, or after: 2. Without the handler
 * the mutex stays locked, and the next one waits for ever. With a signal after the cancel, it is cancelled or
 * comes too late to wait; with a signal before the cancel it is never cancelled.
 * EXPECT every verified 2
 * EXPECT -DNO_HANDLER all error kind=deadlock
 * EXPECT -DSIGNAL all verified
 * EXPECT -DSIGNAL --no-sleep-sets none verified
 * EXPECT -DSIGNAL -DNEVER all error kind=assertion
 * EXPECT -DSIGNAL -DALWAYS all error kind=assertion
 * EXPECT -DLATE -DNEVER all verified
 * EXPECT -DTIMED all verified
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, cleaned;

static void give_back(void *arg)
{
    cleaned++;
    pthread_mutex_unlock(arg);
}

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
#ifndef NO_HANDLER
    pthread_cleanup_push(give_back, &m);
#endif
#ifdef TIMED
    struct timespec until = {2000000000, 0};
    if (!ready) pthread_cond_timedwait(&c, &m, &until);
#else
    while (!ready) pthread_cond_wait(&c, &m);
#endif
#ifndef NO_HANDLER
    pthread_cleanup_pop(0);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

static void wake(void)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
}

int main(void)
{
    pthread_t t;
    void *result = NULL;
    pthread_create(&t, NULL, work, &m);
#ifdef LATE
    wake();
#endif
    pthread_cancel(t);
#ifdef SIGNAL
    wake();
#endif
    pthread_join(t, &result);
    pthread_mutex_lock(&m);
    assert(cleaned == (result == PTHREAD_CANCELED));
#ifdef NEVER
    assert(!cleaned);
#endif
#ifdef ALWAYS
    assert(cleaned);
#endif
    pthread_mutex_unlock(&m);
    (void)give_back, (void)wake;
    return 0;
}
