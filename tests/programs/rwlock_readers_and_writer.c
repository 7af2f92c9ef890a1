/* Readers commute; the writer comes before or after each of them: 2 * 2. Where writers come first all is
 * ordered, and a writer that waits keeps readers out: with one reader 3 orders.
 * EXPECT every verified 4
 * EXPECT -DWRITERS_FIRST every verified 3
 * EXPECT -DKEPT all error kind=deadlock
 * EXPECT -DBROKEN all error kind=data-race
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock;
static int x;

static void *reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    assert(x == 0 || x == 1);
#ifndef KEPT
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

static void *writer(void *unused)
{
#ifdef BROKEN
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    x++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t p, q, w;
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
#ifdef WRITERS_FIRST
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&lock, &kind);
    pthread_create(&p, NULL, reader, NULL);
#ifndef WRITERS_FIRST
    pthread_create(&q, NULL, reader, NULL);
#endif
    pthread_create(&w, NULL, writer, NULL);
    pthread_join(p, NULL);
#ifndef WRITERS_FIRST
    pthread_join(q, NULL);
#endif
    pthread_join(w, NULL);
    return 0;
}
