/* A try comes before the other's lock, while it is held, or after: three classes; against readers a try to
 * read always succeeds, and commutes.
 * EXPECT -DTRY=pthread_rwlock_tryrdlock -DLOCK=pthread_rwlock_wrlock every verified 3
 * EXPECT -DTRY=pthread_rwlock_trywrlock -DLOCK=pthread_rwlock_rdlock every verified 3
 * EXPECT -DTRY=pthread_rwlock_trywrlock -DLOCK=pthread_rwlock_wrlock every verified 3
 * EXPECT -DTRY=pthread_rwlock_tryrdlock -DLOCK=pthread_rwlock_rdlock -DNEVER every verified 1
 * EXPECT -DTRY=pthread_rwlock_tryrdlock -DLOCK=pthread_rwlock_wrlock --no-sleep-sets none verified 3
 * EXPECT -DTRY=pthread_rwlock_trywrlock -DLOCK=pthread_rwlock_rdlock --no-sleep-sets none verified 3
 * EXPECT -DTRY=pthread_rwlock_tryrdlock -DLOCK=pthread_rwlock_rdlock -DNEVER --no-sleep-sets none verified 6
 * EXPECT -DTRY=pthread_rwlock_tryrdlock -DLOCK=pthread_rwlock_wrlock -DNEVER all error kind=assertion
 * EXPECT -DTRY=pthread_rwlock_trywrlock -DLOCK=pthread_rwlock_rdlock -DNEVER all error kind=assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *locks(void *arg)
{
    LOCK(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *tries(void *arg)
{
    int r = TRY(&lock);
#ifdef NEVER
    assert(r == 0);
#endif
    assert(r == 0 || r == EBUSY);
    if (r == 0) pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, locks, NULL);
    pthread_create(&b, NULL, tries, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
