/* Reading within reading. By default readers come first, and the second lock never waits. Where writers
 * come first it waits for a writer that waits for the first: deadlock. Without the second lock that is
 * fine: the writer's claim comes before the reader, while it reads, or after it.
 * EXPECT every verified 2
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NP every verified 2
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP all error kind=deadlock
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP -DONCE every verified 3
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP -DONCE --no-sleep-sets none verified 3
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP -DTRY every verified 4
 * EXPECT -DKIND=PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP -DTRY --no-sleep-sets none verified 4
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

#ifndef KIND
#define KIND PTHREAD_RWLOCK_DEFAULT_NP
#endif

static pthread_rwlock_t lock;
static int x;

static void *reader(void *arg)
{
    int twice = 0;
    pthread_rwlock_rdlock(&lock);
    int before = x;
#ifdef TRY /* the claim comes before all, before the try, before the unlock, or after it */
    twice = pthread_rwlock_tryrdlock(&lock) == 0;
#elif !defined ONCE
    twice = pthread_rwlock_rdlock(&lock) == 0;
    assert(twice);
#endif
    assert(before == x);
    if (twice) pthread_rwlock_unlock(&lock);
    assert(before == x);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    x++;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, KIND);
    pthread_rwlock_init(&lock, &attr);
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
