/* The signal is lost, wakes, or comes after the timeout; never a deadlock.
 * EXPECT every verified 3
 * EXPECT -DALL every verified 3
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DUNTIMED all error kind=deadlock
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *waits(void *unused)
{
    struct timespec until = {1, 0};
    pthread_mutex_lock(&m);
#ifdef UNTIMED
    int result = pthread_cond_wait(&c, &m);
    (void)until;
#else
    int result = pthread_cond_timedwait(&c, &m, &until);
#endif
    pthread_mutex_unlock(&m);
#ifdef BROKEN
    assert(result == 0);
#endif
    assert(result == 0 || result == ETIMEDOUT);
    return unused;
}

int main(void)
{
    pthread_t p;
    pthread_create(&p, NULL, waits, NULL);
#ifdef ALL
    pthread_cond_broadcast(&c);
#else
    pthread_cond_signal(&c);
#endif
    pthread_join(p, NULL);
    return 0;
}
