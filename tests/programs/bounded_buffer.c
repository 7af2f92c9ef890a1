/* Producers and consumers over a buffer of one slot. With one condition variable for both and signal instead
 * of broadcast, a signal may wake the wrong kind: all wait.
 * EXPECT -DP=1 -DC=1 -DITEMS=2 every verified 8
 * EXPECT -DP=2 -DC=2 -DITEMS=1 -DSIGNAL optimal error kind=deadlock
 * EXPECT -DP=2 -DC=2 -DITEMS=1 -DSIGNAL source error kind=deadlock
 * EXPECT -DP=2 -DC=1 -DITEMS=1 every verified 16
 */
#include <assert.h>
#include <pthread.h>

#ifndef P
#define P     1
#define C     1
#define ITEMS 2
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int slot, full, sum, taken;

static void tell(void)
{
#ifdef SIGNAL
    pthread_cond_signal(&c);
#else
    pthread_cond_broadcast(&c);
#endif
}

static void *producer(void *arg)
{
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&m);
        while (full) pthread_cond_wait(&c, &m);
        slot = i;
        full = 1;
        tell();
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (int i = 0; i < P * ITEMS / C; i++) {
        pthread_mutex_lock(&m);
        while (!full) pthread_cond_wait(&c, &m);
        sum += slot;
        taken++;
        full = 0;
        tell();
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t p[P], q[C];
    for (int i = 0; i < P; i++) pthread_create(&p[i], NULL, producer, NULL);
    for (int i = 0; i < C; i++) pthread_create(&q[i], NULL, consumer, NULL);
    for (int i = 0; i < P; i++) pthread_join(p[i], NULL);
    for (int i = 0; i < C; i++) pthread_join(q[i], NULL);
    assert(taken == P * ITEMS && sum == P * ITEMS * (ITEMS + 1) / 2);
    return 0;
}
