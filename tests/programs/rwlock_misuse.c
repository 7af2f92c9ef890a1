/* What must not be done with a read-write lock.
 * EXPECT -DHELD_BY_OTHER optimal error kind=api-misuse line=22
 * EXPECT -DNOT_LOCKED optimal error kind=api-misuse line=30
 * EXPECT -DDESTROY_HELD optimal error kind=api-misuse line=33
 * EXPECT -DDESTROYED optimal error kind=api-misuse line=36
 * EXPECT -DNEW optimal error kind=api-misuse line=39
 * EXPECT -DLEFT_LOCKED all error kind=deadlock
 * EXPECT every verified 1
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *arg)
{
#ifdef LEFT_LOCKED
    pthread_rwlock_wrlock(&lock);
#elif defined HELD_BY_OTHER
    pthread_rwlock_unlock(&lock);
#endif
    return arg;
}

static void misuse(pthread_rwlock_t *l)
{
#ifdef NOT_LOCKED
    pthread_rwlock_unlock(l);
#elif defined DESTROY_HELD
    pthread_rwlock_rdlock(l);
    pthread_rwlock_destroy(l);
#elif defined DESTROYED
    pthread_rwlock_destroy(l);
    pthread_rwlock_tryrdlock(l);
#elif defined NEW
    pthread_rwlock_t *n = malloc(sizeof *n);
    pthread_rwlock_rdlock(n);
#elif defined LEFT_LOCKED
    pthread_rwlock_rdlock(l);
#else
    pthread_rwlock_wrlock(l); /* held for writing: glibc tells both ways */
    assert(pthread_rwlock_rdlock(l) == EDEADLK && pthread_rwlock_wrlock(l) == EDEADLK);
    assert(pthread_rwlock_tryrdlock(l) == EBUSY && pthread_rwlock_trywrlock(l) == EBUSY);
    pthread_rwlock_unlock(l);
#endif
}

int main(void)
{
    pthread_t a;
#ifdef HELD_BY_OTHER
    pthread_rwlock_rdlock(&lock);
#endif
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    misuse(&lock);
    return 0;
}
