/* A bounded buffer with condition variables: P producers and as many consumers, ITEMS each (2007, Table
 * 1, and 2008, Table 1, "bbuf"). With four threads the tool of 2008 makes 349,717 transitions (16,246
 * runs), with eight that of 2007 makes 1,938,816 runs.
 * Optimized frames keep values that are not needed any more, so there are more states: opt=0 where there is a limit.
 * EXPECT stateful verified transitions=..349717
 * EXPECT sdpor verified transitions=..349717
 * EXPECT -DITEMS=2 stateful verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 s-por verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 de-s-por verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 dl-s-por verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 sdpor verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 portfolio verified states=..1000 transitions=..2000 opt=0
 * EXPECT -DITEMS=2 --state-match=exact dl-s-por verified states=..2000 opt=0
 * EXPECT -DITEMS=2 --state-capture=delta stateful verified
 * EXPECT -DP=4 stateful verified states=..30000
 * EXPECT -DP=4 s-por verified states=..30000
 * EXPECT -DP=4 de-s-por verified states=..30000
 * EXPECT -DP=4 dl-s-por verified states=..30000
 * EXPECT -DP=4 sdpor verified states=..30000
 * EXPECT -DP=2 every verified
 */
#include <assert.h>
#include <pthread.h>

#ifndef P
#define P 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#ifndef ROOM
#define ROOM 2
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[ROOM], count, first, sum;

static void *produce(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&m);
        while (count == ROOM) pthread_cond_wait(&not_full, &m);
        buffer[(first + count++) % ROOM] = 1;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&m);
        while (count == 0) pthread_cond_wait(&not_empty, &m);
        sum += buffer[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t t[2 * P];
    for (int i = 0; i < P; i++) pthread_create(&t[i], NULL, produce, NULL);
    for (int i = P; i < 2 * P; i++) pthread_create(&t[i], NULL, consume, NULL);
    for (int i = 0; i < 2 * P; i++) pthread_join(t[i], NULL);
    assert(sum == P * ITEMS);
    return 0;
}
