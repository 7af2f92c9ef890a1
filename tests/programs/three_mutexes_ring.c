/* Three threads, three mutexes, each takes two: a deadlock of all three in one class of seven.
 * EXPECT all error kind=deadlock
 * EXPECT --keep-going optimal error errors=1
 */
#include <pthread.h>

static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER};
static int id[3] = {0, 1, 2};

static void *work(void *arg)
{
    int i = *(int *)arg;
    pthread_mutex_lock(&m[i]);
    pthread_mutex_lock(&m[(i + 1) % 3]);
    pthread_mutex_unlock(&m[(i + 1) % 3]);
    pthread_mutex_unlock(&m[i]);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
