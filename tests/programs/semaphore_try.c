/* Attempts that fail commute. None comes after the post (1), one of the two (2), both in two orders (2). With
 * LOOK: a look at the count comes before or after the wait that it cannot disable: 2 * 2.
 * EXPECT every verified 5
 * EXPECT -DLOOK every verified 4
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static int got[2];

static void *tries(void *which)
{
    int value = 0;
#ifdef LOOK
    sem_getvalue(&s, &value);
#else
    value = sem_trywait(&s) == 0;
#endif
    *(int *)which = value;
    return NULL;
}

int main(void)
{
    pthread_t p, q;
#ifdef LOOK
    sem_init(&s, 0, 1);
#else
    sem_init(&s, 0, 0);
#endif
    pthread_create(&p, NULL, tries, &got[0]);
    pthread_create(&q, NULL, tries, &got[1]);
#ifdef LOOK
    sem_wait(&s);
#else
    sem_post(&s);
#endif
    pthread_join(p, NULL);
    pthread_join(q, NULL);
#ifndef LOOK
    assert(got[0] + got[1] <= 1);
#endif
#ifdef BROKEN
    assert(got[0] + got[1] == 1);
#endif
    return 0;
}
