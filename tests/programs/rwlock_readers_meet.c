/* The readers also meet in an atomic variable. Both before the writer, or both after it: 2 orders; one before
 * and one after: 1. If one reader's release depends on the other's lock, the writer can only go before both.
 * EXPECT every verified 6
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int x;
static int written;

static void *reads(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    int seen = x;
    int after = written;
    pthread_rwlock_unlock(&lock);
#ifdef BROKEN
    assert(!(seen && !after)); /* the writer may come after both readers */
#else
    (void)seen, (void)after;
#endif
    return unused;
}

static void *stores(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    x = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t p, q;
    pthread_create(&p, NULL, reads, NULL);
    pthread_create(&q, NULL, stores, NULL);
    pthread_rwlock_wrlock(&lock);
    written = 1;
    pthread_rwlock_unlock(&lock);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
    return 0;
}
