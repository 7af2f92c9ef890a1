/* A semaphore as a mutex, then with two places.
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 6
 * EXPECT -DN=3 --no-sleep-sets none verified 6
 * EXPECT -DN=2 -DPLACES=2 -DFREE every verified 6
 * EXPECT -DN=2 -DPLACES=2 -DFREE --no-sleep-sets none verified 6
 * EXPECT -DN=2 -DPLACES=2 all error kind=data-race
 * EXPECT -DN=2 -DPLACES=0 all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#ifndef PLACES
#define PLACES 1
#endif

static sem_t s;
static int x;

static void *work(void *arg)
{
    assert(sem_wait(&s) == 0);
#ifndef FREE
    x++;
#endif
    assert(sem_post(&s) == 0);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    sem_init(&s, 0, PLACES);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
#ifndef FREE
    assert(x == N);
#endif
    sem_destroy(&s);
    return 0;
}
