/* The value of a semaphore is read between two posts: three values. Readers commute. Where it is put is
 * written to: by two threads at once, a data race.
 * EXPECT -DN=1 every verified 3
 * EXPECT -DN=2 every verified 9
 * EXPECT -DN=1 --no-sleep-sets none verified 3
 * EXPECT -DN=2 --no-sleep-sets none verified 12
 * EXPECT -DN=1 -DWRONG all error kind=assertion
 * EXPECT -DN=2 -DSHARED all error kind=data-race
 * EXPECT -DN=1 -DSHARED every verified 3
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
#ifdef SHARED
static int value;
#endif

static void *look(void *arg)
{
#ifndef SHARED
    int value = -1;
#endif
    assert(sem_getvalue(&s, &value) == 0);
    assert(value >= 0 && value <= 2);
#ifdef WRONG
    assert(value != 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t t[N];
    sem_init(&s, 0, 0);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, look, NULL);
    sem_post(&s);
    sem_post(&s);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
