/* What must not be done with a semaphore.
 * EXPECT -DDESTROYED optimal error kind=api-misuse line=28
 * EXPECT -DNEW optimal error kind=api-misuse line=31
 * EXPECT -DZERO optimal error kind=api-misuse line=33
 * EXPECT -DOVERFLOW optimal error kind=api-misuse line=36
 * EXPECT -DWAITED_FOR optimal error kind=api-misuse line=38
 * EXPECT -DEARLY optimal error kind=api-misuse
 */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t s, zero;

static void *work(void *arg)
{
    sem_wait(&s);
    return arg;
}

static void misuse(void)
{
#ifdef DESTROYED
    static sem_t d;
    sem_init(&d, 0, 1);
    sem_destroy(&d);
    sem_wait(&d);
#elif defined NEW
    sem_t *n = malloc(sizeof *n);
    sem_post(n);
#elif defined ZERO
    sem_trywait(&zero);
#elif defined OVERFLOW
    sem_init(&zero, 0, SEM_VALUE_MAX);
    sem_post(&zero);
#elif defined WAITED_FOR
    sem_destroy(&s);
#endif
}

int main(void)
{
    pthread_t a;
    sem_init(&s, 0, 0);
    pthread_create(&a, NULL, work, NULL);
    misuse();
#ifdef EARLY /* the post lets the other go, but it may still be in sem_wait */
    sem_post(&s);
    sem_destroy(&s);
#endif
    pthread_join(a, NULL);
    (void)zero;
    return 0;
}
