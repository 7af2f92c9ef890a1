/* Threads create threads: which one a search meets first differs between executions. A schedule that named threads by
 * numbers in that order did not replay ("the schedule does not fit this program").
 * EXPECT every error kind=assertion thread=0.2.1
 * EXPECT -j3 optimal error kind=assertion
 * EXPECT stateful error kind=assertion
 * EXPECT -DLEVELS=27 optimal error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef LEVELS
#define LEVELS 1 /* of threads between main and the children; 27: their paths have more than 48 letters */
#endif

static atomic_int begun, turn;

static void *child(void *who)
{
    int order = atomic_fetch_add(&turn, 1);
    if (who) assert(order != 0);
    return NULL;
}

static void *parent(void *who);

static void create(void *who, long level)
{
    pthread_t t;
    if (level < LEVELS)
        pthread_create(&t, NULL, parent, (char *)who + 2);
    else
        pthread_create(&t, NULL, child, (void *)((long)who & 1));
    pthread_join(t, NULL);
}

static void *parent(void *who)
{
    long level = (long)who / 2;
    if (level == 1) atomic_fetch_add(&begun, 1);
    create(who, level);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, parent, (void *)(2 + i));
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
