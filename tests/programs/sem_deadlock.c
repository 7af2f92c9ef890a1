/* Semaphores nobody posts; taken crosswise; posted too seldom.
 * EXPECT -DNEVER all error kind=deadlock
 * EXPECT -DCROSSWISE all error kind=deadlock
 * EXPECT -DCROSSWISE -DORDERED every verified 2
 * EXPECT -DSELDOM all error kind=deadlock
 * EXPECT -DSELDOM -DOFTEN every verified 4
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t a, b;

static void both(sem_t *p, sem_t *q)
{
    sem_wait(p);
    sem_wait(q);
    sem_post(q);
    sem_post(p);
}

static void *work(void *arg)
{
#ifdef CROSSWISE
    both(&a, &b);
#else
    sem_wait(&a);
#endif
    return arg;
}

static void *other(void *arg)
{
#if defined CROSSWISE && defined ORDERED
    both(&a, &b);
#elif defined CROSSWISE
    both(&b, &a);
#else
    sem_wait(&a);
#endif
    return arg;
}

int main(void)
{
    pthread_t s, t;
#ifdef CROSSWISE
    int n = 1;
#else
    int n = 0;
#endif
    sem_init(&a, 0, (unsigned)n);
    sem_init(&b, 0, (unsigned)n);
    pthread_create(&s, NULL, work, NULL);
    pthread_create(&t, NULL, other, NULL);
#ifdef SELDOM
    sem_post(&a);
#endif
#ifdef OFTEN
    sem_post(&a);
#endif
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    (void)both;
    return 0;
}
