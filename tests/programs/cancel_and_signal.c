/* A waiter that is signalled and then cancelled has not lost the signal for others: it goes on with it,
 * and is cancelled at its next cancellation point, or another one has got it. POSIX: no signal is consumed
 * by a wait that ends in cancellation.
 * EXPECT all verified
 * EXPECT -DLOSES all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int tokens;

static void give_back(void *arg) { pthread_mutex_unlock(arg); }

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(give_back, &m);
    while (!tokens) pthread_cond_wait(&c, &m);
#ifdef LOSES
    pthread_testcancel();
#endif
    tokens--;
    pthread_cleanup_pop(1);
    return arg;
}

static void give(void)
{
    pthread_mutex_lock(&m);
    tokens++;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
}

int main(void)
{
    pthread_t a, b;
    void *result = NULL;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    give();
    pthread_cancel(a);
    pthread_join(a, &result);
    if (result != PTHREAD_CANCELED) give();
    pthread_join(b, NULL);
    assert(tokens == 0);
    return 0;
}
