/* Producers and consumers with a buffer of SIZE places, a mutex and two condition variables.
 * EXPECT all verified
 * EXPECT -DP=2 all verified
 * EXPECT -DC=2 all verified
 * EXPECT -DP=2 -DC=2 optimal verified
 * SLOW -DP=3 -DC=3 optimal verified
 * EXPECT -DC=2 -DIF all error kind=assertion
 * EXPECT -DP=2 -DC=2 -DONE_CONDITION all error kind=deadlock
 * SLOW -DP=4 -DC=4 -DIF optimal error kind=assertion
 */
#include "classic.h"

#ifndef P
#define P 1
#endif
#ifndef C
#define C 1
#endif
#ifndef SIZE
#define SIZE 1
#endif
#define ITEMS (P > C ? P : C)

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int count, put, got;

#ifdef IF
#define UNTIL(condition) if (!(condition))
#else
#define UNTIL(condition) while (!(condition))
#endif
#ifdef ONE_CONDITION /* a signal meant for a consumer may wake a producer */
#define not_full not_empty
#endif

static void *producer(void *unused)
{
    pthread_mutex_lock(&m);
    UNTIL(count < SIZE) pthread_cond_wait(&not_full, &m);
    assert(count < SIZE);
    count++;
    put++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *consumer(void *unused)
{
    pthread_mutex_lock(&m);
    UNTIL(count > 0) pthread_cond_wait(&not_empty, &m);
    assert(count > 0);
    count--;
    got++;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&m);
    return unused;
}

/* Each thread handles one item; who is fewer in number gets help from main. */
int main(void)
{
    pthread_t t[P + C];
    for (int i = 0; i < P + C; i++) pthread_create(&t[i], NULL, i < C ? consumer : producer, NULL);
    for (int i = P; i < ITEMS; i++) producer(NULL);
    for (int i = C; i < ITEMS; i++) consumer(NULL);
    for (int i = 0; i < P + C; i++) pthread_join(t[i], NULL);
    assert(put == ITEMS && got == ITEMS);
    return 0;
}
