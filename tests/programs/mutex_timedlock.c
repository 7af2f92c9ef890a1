/* A timed lock gets the mutex, before or after the other, or times out while the other holds it: 3. What
 * it waits for may never come: that is no deadlock.
 * EXPECT every verified 3
 * EXPECT -DCLOCK every verified 3
 * EXPECT --no-sleep-sets none verified 3
 * EXPECT -DNEVER all error kind=assertion
 * EXPECT -DKEPT every verified 2
 * EXPECT -DTWICE every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static int timed(void)
{
    struct timespec until = {2000000000, 0};
#ifdef CLOCK
    return pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until);
#else
    return pthread_mutex_timedlock(&m, &until);
#endif
}

static void *work(void *arg)
{
    int r = timed();
#ifdef NEVER
    assert(r == 0);
#endif
    assert(r == 0 || r == ETIMEDOUT);
    if (r == 0) {
        x++;
#ifdef TWICE
        assert(timed() == ETIMEDOUT);
#endif
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    struct timespec wrong = {0, -1};
    pthread_t t;
    assert(pthread_mutex_timedlock(&m, &wrong) == EINVAL);
    pthread_create(&t, NULL, work, NULL);
#ifndef TWICE
    pthread_mutex_lock(&m);
    x++;
#ifndef KEPT
    pthread_mutex_unlock(&m);
#endif
#endif
    pthread_join(t, NULL);
    return 0;
}
