/* A try or a timed wait finds the semaphore posted or not: two classes, with the right errno. Two of them:
 * six orders, of which those with both failing first are one class.
 * EXPECT -DTRY=sem_trywait(&s) -DBUSY=EAGAIN every verified 2
 * EXPECT -DTRY=sem_timedwait(&s,&until) -DBUSY=ETIMEDOUT every verified 2
 * EXPECT -DTRY=sem_clockwait(&s,CLOCK_MONOTONIC,&until) -DBUSY=ETIMEDOUT every verified 2
 * EXPECT -DTRY=sem_trywait(&s) -DBUSY=EAGAIN --no-sleep-sets none verified 2
 * EXPECT -DTRY=sem_trywait(&s) -DBUSY=EAGAIN -DNEVER all error kind=assertion line=27
 * EXPECT -DTRY=sem_timedwait(&s,&until) -DBUSY=ETIMEDOUT -DALWAYS all error kind=assertion line=30
 * EXPECT -DTRY=sem_timedwait(&s,&until) -DBUSY=ETIMEDOUT -DTWO every verified 5
 * EXPECT -DTRY=sem_trywait(&s) -DBUSY=EAGAIN -DTWO --no-sleep-sets none verified 6
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t s;

static void *tries(void *arg)
{
    struct timespec until = {2000000000, 0};
    int r = TRY;
    (void)until;
#ifdef NEVER
    assert(r == 0);
#endif
#ifdef ALWAYS
    assert(r != 0);
#endif
    assert(r == 0 || (r == -1 && errno == BUSY));
    return arg;
}

int main(void)
{
    struct timespec wrong = {0, -1};
    pthread_t a, b;
    sem_init(&s, 0, 1);
    assert(sem_timedwait(&s, &wrong) == -1 && errno == EINVAL);
    assert(sem_trywait(&s) == 0 && sem_trywait(&s) == -1 && errno == EAGAIN);
    pthread_create(&a, NULL, tries, NULL);
#ifdef TWO
    pthread_create(&b, NULL, tries, NULL);
#endif
    sem_post(&s);
    pthread_join(a, NULL);
#ifdef TWO
    pthread_join(b, NULL);
#else
    (void)b;
#endif
    return 0;
}
