/* A ring of SIZE places, two items. With one place everything happens in turn. With two the second put may
 * come before the first get; if not, the second claim of a place before or after the first one is free: 3.
 * If the producer does not wait for places it overwrites what is being read.
 * EXPECT -DSIZE=1 every verified 1
 * EXPECT -DSIZE=2 every verified 3
 * EXPECT -DSIZE=1 --no-sleep-sets none verified 1
 * EXPECT -DSIZE=2 --no-sleep-sets none verified 6
 * EXPECT -DSIZE=1 -DNO_PLACES all error kind=assertion
 * EXPECT -DSIZE=2 -DNO_ITEMS all error kind=assertion
 * EXPECT -DSIZE=1 -DTHREE all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t items, places;
static int ring[SIZE];

static void *producer(void *arg)
{
    for (int i = 0; i < 2; i++) {
#ifndef NO_PLACES
        sem_wait(&places);
#endif
        ring[i % SIZE] = i + 1;
        sem_post(&items);
    }
    return arg;
}

static void *consumer(void *arg)
{
#ifdef THREE
    int n = 3;
#else
    int n = 2;
#endif
    for (int i = 0; i < n; i++) {
#ifndef NO_ITEMS
        sem_wait(&items);
#endif
        assert(ring[i % SIZE] == i + 1);
        sem_post(&places);
    }
    return arg;
}

int main(void)
{
    pthread_t p, c;
    sem_init(&items, 0, 0);
    sem_init(&places, 0, SIZE);
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
