/* A recursive mutex may be locked again by its owner, and is free only after as many unlocks. The assertion
 * of -DFAIL is behind the second lock.
 * EXPECT every verified 2
 * EXPECT -DFAIL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m;
static int x;

static void add(int n)
{
    pthread_mutex_lock(&m);
    x++;
    if (n > 1) add(n - 1);
    pthread_mutex_unlock(&m);
}

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    int before = x;
    add(2);
    assert(x == before + 2);
#ifdef FAIL
    assert(x == 2);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 4);
    return 0;
}
