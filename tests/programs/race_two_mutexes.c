/* Each thread holds a mutex, but not the same one.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *work(void *arg)
{
    pthread_mutex_lock(arg);
    x++;
    pthread_mutex_unlock(arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, &m1);
    pthread_create(&b, NULL, work, &m2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
