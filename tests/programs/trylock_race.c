/* A failed trylock does not synchronize: reading what the holder writes is a race.
 * EXPECT all error kind=data-race
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *holder(void *arg)
{
    pthread_mutex_lock(&m);
    x = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *trier(void *arg)
{
    if (pthread_mutex_trylock(&m) == 0) {
        pthread_mutex_unlock(&m);
        return arg;
    }
    return x == 2 ? arg : NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, holder, NULL);
    pthread_create(&b, NULL, trier, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
