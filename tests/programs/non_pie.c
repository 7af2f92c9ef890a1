/* An executable at a fixed address: what it calls, also through a table of functions, must be noticed.
 * EXPECT -no-pie all error kind=assertion
 * EXPECT -DTABLE -no-pie all error kind=assertion
 * EXPECT -DTABLE all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#ifdef TABLE
static const struct {
    int (*lock)(pthread_mutex_t *), (*trylock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
} table = {pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_unlock};
#define pthread_mutex_lock    table.lock
#define pthread_mutex_trylock table.trylock
#define pthread_mutex_unlock  table.unlock
#endif

static void *holder(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, holder, NULL);
    assert(pthread_mutex_trylock(&mutex) == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
    return 0;
}
