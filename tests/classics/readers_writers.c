/* Readers and writers with semaphores (Courtois, Heymans, Parnas 1971, first problem): the first reader
 * locks the writers out, the last one lets them in.
 * EXPECT all verified
 * EXPECT -DNO_MUTEX all error kind=data-race
 * EXPECT -DEVERY_READER all error
 */
#include "classic.h"

#include <semaphore.h>

static sem_t mutex, room;
static int readers, data;

static void *reader(void *unused)
{
#ifndef NO_MUTEX
    sem_wait(&mutex);
#endif
#ifdef EVERY_READER
    readers++;
#else
    if (++readers == 1)
#endif
    sem_wait(&room);
#ifndef NO_MUTEX
    sem_post(&mutex);
#endif
    assert(data == 0 || data == 2);
#ifndef NO_MUTEX
    sem_wait(&mutex);
#endif
    if (--readers == 0) sem_post(&room);
#ifndef NO_MUTEX
    sem_post(&mutex);
#endif
    return unused;
}

static void *writer(void *unused)
{
    sem_wait(&room);
    data++;
    data++;
    sem_post(&room);
    return unused;
}

int main(void)
{
    pthread_t t[3];
    sem_init(&mutex, 0, 1);
    sem_init(&room, 0, 1);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, i == 0 ? writer : reader, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
