/* The right way to wait: a loop around the wait. The waiter comes first and waits, or second and does not.
 * EXPECT every verified 2
 * EXPECT -DDYNAMIC every verified 2
 * EXPECT -DBROADCAST every verified 2
 */
#include <assert.h>
#include <pthread.h>

#ifdef DYNAMIC
static pthread_mutex_t m;
static pthread_cond_t c;
#else
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
#endif
static int ready, data;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&m);
    while (!ready) assert(pthread_cond_wait(&c, &m) == 0);
    assert(data == 42);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *setter(void *arg)
{
    pthread_mutex_lock(&m);
    data = 42;
    ready = 1;
#ifdef BROADCAST
    assert(pthread_cond_broadcast(&c) == 0);
#else
    assert(pthread_cond_signal(&c) == 0);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
#ifdef DYNAMIC
    pthread_mutex_init(&m, NULL);
    pthread_cond_init(&c, NULL);
#endif
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, setter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef DYNAMIC
    pthread_cond_destroy(&c);
    pthread_mutex_destroy(&m);
#endif
    return 0;
}
