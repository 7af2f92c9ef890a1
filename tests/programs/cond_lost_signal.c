/* A signal that nobody waits for is lost: without a predicate the waiter may wait for ever. So it does when
 * the flag is set outside the mutex, between its test and the wait.
 * EXPECT all error kind=deadlock
 * EXPECT -DFLAG all error kind=deadlock
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static _Atomic int ready;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef FLAG
    while (!atomic_load(&ready))
#endif
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *setter(void *arg)
{
    atomic_store(&ready, 1);
    pthread_cond_signal(&c);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, setter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
