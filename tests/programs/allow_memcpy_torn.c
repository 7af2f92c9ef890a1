/* memcpy is not atomic: a reader may find the first half new and the second half old.
 * OPTIONS --data-races=allow
 * EXPECT all error kind=assertion
 * EXPECT -DLOCKED every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared[2], fresh[2] = {1, 1};

static void copy(void *to, const void *from)
{
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
    memcpy(to, from, sizeof shared);
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
}

static void *writer(void *arg)
{
    copy(shared, fresh);
    return arg;
}

int main(void)
{
    int mine[2];
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_create(&t, NULL, writer, NULL);
    copy(mine, shared);
    assert(mine[0] == mine[1]);
    pthread_join(t, NULL);
    return 0;
}
