/* One path forgets to unlock, and only one order of the threads takes it.
 * EXPECT all error kind=deadlock
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int full;

static void *fill(void *arg)
{
    pthread_mutex_lock(&m);
    if (full) return arg;
    full = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *empty(void *arg)
{
    pthread_mutex_lock(&m);
    full = 0;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, fill, NULL);
    pthread_create(&t[1], NULL, empty, NULL);
    pthread_create(&t[2], NULL, fill, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
