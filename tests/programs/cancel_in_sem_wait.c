/* A thread in sem_wait is cancelled just when another one takes what it could have had: no deadlock,
 * it wakes. With -DEARLY it is cancelled before it can get there.
 * EXPECT all verified
 * EXPECT --no-sleep-sets none verified
 * EXPECT -DEARLY every verified
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore, go;

static void *waits(void *arg)
{
#ifdef EARLY
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_wait(&go);
    pthread_setcancelstate(old, NULL);
#endif
    sem_wait(&semaphore);
    return arg;
}

static void *tries(void *arg)
{
    sem_trywait(&semaphore);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&semaphore, 0, 1);
    sem_init(&go, 0, 0);
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, tries, NULL);
    pthread_cancel(a);
    sem_post(&go);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
