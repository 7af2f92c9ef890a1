/* A thread that waits on a condition variable is cancelled twice: the second time changes nothing, wherever
 * it comes.
 * EXPECT every verified
 * EXPECT stateful verified
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DNEVER all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_t waiter;

static void unlock(void *arg) { pthread_mutex_unlock(arg); }

static void *wait(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return arg;
}

static void *cancel(void *arg)
{
    pthread_cancel(waiter);
    pthread_cancel(waiter);
    return arg;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&waiter, NULL, wait, NULL);
    pthread_create(&t, NULL, cancel, NULL);
    pthread_join(waiter, &result);
#ifdef NEVER
    assert(result != PTHREAD_CANCELED);
#else
    assert(result == PTHREAD_CANCELED);
#endif
    pthread_join(t, NULL);
    return 0;
}
