/* Two waiters: a broadcast wakes both, one signal wakes one of them and the other waits for ever.
 * EXPECT all error kind=deadlock
 * EXPECT -DBROADCAST every verified 10
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int open_;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&m);
    while (!open_) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *opener(void *arg)
{
    pthread_mutex_lock(&m);
    open_ = 1;
#ifdef BROADCAST
    pthread_cond_broadcast(&c);
#else
    pthread_cond_signal(&c);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, waiter, NULL);
    pthread_create(&t[1], NULL, waiter, NULL);
    pthread_create(&t[2], NULL, opener, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
