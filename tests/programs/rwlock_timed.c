/* Timed locks get the lock or time out, both where the other may hold it: three classes, as for a try.
 * What the thread holds itself for writing it is told.
 * EXPECT -DTIMED=pthread_rwlock_timedrdlock -DLOCK=pthread_rwlock_wrlock every verified 3
 * EXPECT -DTIMED=pthread_rwlock_timedwrlock -DLOCK=pthread_rwlock_rdlock every verified 3
 * EXPECT -DTIMED=pthread_rwlock_timedwrlock -DLOCK=pthread_rwlock_wrlock --no-sleep-sets none verified 3
 * EXPECT -DTIMED=pthread_rwlock_timedrdlock -DLOCK=pthread_rwlock_rdlock -DNEVER every verified 1
 * EXPECT -DTIMED=pthread_rwlock_timedrdlock -DLOCK=pthread_rwlock_wrlock -DNEVER all error kind=assertion
 * EXPECT -DTIMED=pthread_rwlock_timedrdlock -DLOCK=pthread_rwlock_wrlock -DALWAYS all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER, other = PTHREAD_RWLOCK_INITIALIZER;

static void *locks(void *arg)
{
    LOCK(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *waits(void *arg)
{
    struct timespec until = {2000000000, 0};
    int r = TIMED(&lock, &until);
#ifdef NEVER
    assert(r == 0);
#endif
#ifdef ALWAYS
    assert(r == ETIMEDOUT);
#endif
    assert(r == 0 || r == ETIMEDOUT);
    if (r == 0) pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    struct timespec wrong = {0, 1000000000};
    pthread_t a, b;
    pthread_rwlock_wrlock(&other);
    assert(pthread_rwlock_timedwrlock(&other, &wrong) == EINVAL);
    wrong.tv_nsec = 0;
    assert(pthread_rwlock_timedrdlock(&other, &wrong) == EDEADLK);
    assert(pthread_rwlock_clockwrlock(&other, CLOCK_MONOTONIC, &wrong) == EDEADLK);
    pthread_rwlock_unlock(&other);
    assert(pthread_rwlock_clockrdlock(&other, CLOCK_MONOTONIC, &wrong) == 0);
    pthread_create(&a, NULL, locks, NULL);
    pthread_create(&b, NULL, waits, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
