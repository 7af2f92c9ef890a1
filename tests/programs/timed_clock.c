/* The clock passes with a wait that times out: it is that late then, for all threads. A thread that looks
 * at the clock sees it before or after.
 * EXPECT all verified
 * EXPECT -DWRONG all error kind=assertion
 * EXPECT -DSTUCK all error kind=assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;

static void *looks(void *arg)
{
    struct timespec a, b;
    clock_gettime(CLOCK_REALTIME, &a);
    clock_gettime(CLOCK_REALTIME, &b);
    assert(b.tv_sec >= a.tv_sec);
#ifdef STUCK
    assert(b.tv_sec == a.tv_sec);
#endif
    return arg;
}

int main(void)
{
    struct timespec now, until, after;
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, NULL, looks, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    until = now;
    until.tv_sec += 5;
    pthread_mutex_lock(&m);
    while (pthread_cond_timedwait(&c, &m, &until) == 0) {
    }
    pthread_mutex_unlock(&m);
    clock_gettime(CLOCK_REALTIME, &after);
    assert(after.tv_sec >= until.tv_sec);
    until = after;
    until.tv_sec += 3;
    assert(sem_timedwait(&s, &until) == -1 && errno == ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &after);
    assert(after.tv_sec == until.tv_sec);
    pthread_join(t, NULL);
#ifdef WRONG
    assert(after.tv_sec == now.tv_sec);
#endif
    return 0;
}
