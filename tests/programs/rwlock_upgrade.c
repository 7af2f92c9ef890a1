/* Whoever reads and then wants to write without giving the lock back waits for itself, for ever; a try
 * tells. Fixed: give it back first; another may write in between. Of the six orders of read, write of each
 * thread two pairs differ only in the order of the reads: 4. With a try, which fails: it comes before,
 * between or after the other's lock and unlock; of these 3 * 3 two cannot be: 7.
 * EXPECT all error kind=deadlock
 * EXPECT -DSINGLE all error kind=deadlock thread=0
 * EXPECT -DFIXED every verified 4
 * EXPECT -DTRY every verified 7
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x;

static void *work(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    int seen = x;
    (void)seen;
#ifdef TRY
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
#else
#ifdef FIXED
    pthread_rwlock_unlock(&lock);
#endif
    pthread_rwlock_wrlock(&lock);
    x++;
#endif
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
#ifdef SINGLE
    work(NULL);
#endif
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
