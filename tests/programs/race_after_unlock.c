/* The read under the mutex is right; the write comes too late. In the order "second thread first" the two
 * accesses are ordered by the mutex and nothing is wrong.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *late(void *arg)
{
    pthread_mutex_lock(&m);
    int v = x;
    pthread_mutex_unlock(&m);
    x = v + 1;
    return arg;
}

static void *right(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, late, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
