/* The consequence of a race is a deadlock: both threads believe the other one will signal.
 * OPTIONS --data-races=allow
 * EXPECT all error kind=deadlock
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int seen;

static void *work(void *arg)
{
    int order = seen++; /* not under the mutex */
    pthread_mutex_lock(&m);
    if (order == 0)
        while (seen < 2) pthread_cond_wait(&c, &m);
    else
        pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
