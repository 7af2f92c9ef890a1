/* main joins a thread that wants the mutex that main holds.
 * EXPECT all error kind=deadlock
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_mutex_lock(&m);
    pthread_join(t, NULL);
    pthread_mutex_unlock(&m);
    return 0;
}
