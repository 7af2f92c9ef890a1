/* For each reader the attempt to write comes before it, while it holds the lock, or after it: 3 * 3. An
 * attempt to read comes before, during or after the writer.
 * EXPECT every verified 9
 * EXPECT -DREAD every verified 3
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *holds(void *unused)
{
#ifdef READ
    pthread_rwlock_wrlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
#endif
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t p, q;
    pthread_create(&p, NULL, holds, NULL);
#ifndef READ
    pthread_create(&q, NULL, holds, NULL);
#endif
#ifdef READ
    int result = pthread_rwlock_tryrdlock(&lock);
#else
    int result = pthread_rwlock_trywrlock(&lock);
#endif
#ifdef BROKEN
    assert(result == 0);
#endif
    assert(result == 0 || result == EBUSY);
    if (result == 0) pthread_rwlock_unlock(&lock);
    pthread_join(p, NULL);
#ifndef READ
    pthread_join(q, NULL);
#endif
    return 0;
}
