/* A robust mutex whose owner ends: the next one is told so, and makes the state consistent; if it does
 * not, the mutex is lost for good. An ordinary one stays locked. Two threads that lock and end without
 * unlocking, and main, that has waited for both or takes part.
 * EXPECT -DN=1 every verified 1
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=2 --no-sleep-sets none verified 2
 * EXPECT -DN=2 -DNOT_REPAIRED every verified 2
 * EXPECT -DN=1 -DPLAIN all error kind=deadlock
 * EXPECT -DN=1 -DUNAWARE all error kind=assertion
 * EXPECT -DN=1 -DTIMED every verified 1
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m;
static int x, died, lost;

static int lock(void)
{
#ifdef TIMED
    struct timespec until = {2000000000, 0};
    return pthread_mutex_timedlock(&m, &until);
#else
    return pthread_mutex_lock(&m);
#endif
}

static void *work(void *arg)
{
    int r = lock();
    if (r == ENOTRECOVERABLE) {
        lost++; /* after it was lost there is nobody else in here */
        return arg;
    }
    x++;
    if (r == EOWNERDEAD) {
        died++;
#ifdef NOT_REPAIRED
        pthread_mutex_unlock(&m);
        return arg;
#else
        assert(pthread_mutex_consistent(&m) == 0);
#endif
    }
    return arg; /* with the mutex */
}

int main(void)
{
    pthread_t t[N];
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
#ifndef PLAIN
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
#endif
    pthread_mutex_init(&m, &attr);
    assert(pthread_mutex_consistent(&m) == EINVAL);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    int r = lock();
#ifdef UNAWARE
    assert(r == 0);
#endif
#ifdef NOT_REPAIRED
    assert(r == ENOTRECOVERABLE && died == 1 && x == 2);
#else
    assert(r == EOWNERDEAD && pthread_mutex_consistent(&m) == 0 && x == N && died == N - 1);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == EPERM);
#endif
    assert(!lost);
    return 0;
}
