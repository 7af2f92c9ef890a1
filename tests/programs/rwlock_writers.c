/* Writers exclude each other and readers: W writers and a reader make (W + 1)! orders. Also on a lock made
 * by pthread_rwlock_init. Two locks taken crosswise are a deadlock, unless all only read.
 * EXPECT -DW=1 every verified 2
 * EXPECT -DW=2 every verified 6
 * EXPECT -DW=2 --no-sleep-sets none verified 6
 * EXPECT -DW=2 -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock;
static int x, inside;

static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&lock);
#ifdef BROKEN
    int seen = x;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    x = seen + 1;
#else
    assert(!inside++);
    x++;
    inside--;
#endif
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *reader(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    assert(!inside && x <= W);
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[W + 1];
    pthread_rwlock_init(&lock, NULL);
    for (int i = 0; i < W; i++) pthread_create(&t[i], NULL, writer, NULL);
    pthread_create(&t[W], NULL, reader, NULL);
    for (int i = 0; i <= W; i++) pthread_join(t[i], NULL);
    assert(x == W);
    pthread_rwlock_destroy(&lock);
    return 0;
}
