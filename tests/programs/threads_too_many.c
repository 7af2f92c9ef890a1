/* More threads than mazurka can follow (64): a thread stops where it would create another one, and the rest is explored. What
 * the stopped thread holds or would have woken is no deadlock. CHAIN: threads that create threads without end.
 * EXPECT all incomplete
 * EXPECT -DCHAIN all incomplete
 * EXPECT -DLOCKED all incomplete
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DCHAIN -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int created;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

#ifdef BROKEN
#define LIMIT 40
#else
#define LIMIT 1000
#endif

#ifdef CHAIN
static void *link_of_chain(void *arg)
{
    pthread_t next;
    assert(atomic_fetch_add(&created, 1) < LIMIT);
    if (pthread_create(&next, NULL, link_of_chain, arg) == 0) pthread_detach(next);
    return NULL;
}

int main(void)
{
    pthread_t first;
    pthread_create(&first, NULL, link_of_chain, NULL);
    pthread_join(first, NULL);
}
#else
static void *one_of_many(void *arg)
{
    assert(atomic_fetch_add(&created, 1) < LIMIT);
    return arg;
}

static void *waits(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t waiter;
    pthread_create(&waiter, NULL, waits, NULL);
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        pthread_create(&t, NULL, one_of_many, NULL);
        pthread_join(t, NULL);
    }
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
    pthread_join(waiter, NULL);
}
#endif
