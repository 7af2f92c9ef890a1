/* bbuf, the fourth benchmark of 2007: a bounded buffer, P producers that put one item each and C consumers
 * that get one each. With 4 + 4 threads, room for two items, and waiters that are woken in the order they
 * came (-DFIFO: the queue is the program's own, with a semaphore for each waiter), there are 1,938,816
 * executions: the number of runs in Table 1 of the paper. With condition variables, where any waiter may be
 * woken, there are 10,020,672.
 *
 * The counts: the executions are the orders in which the mutex is taken, and the choices of whom to wake.
 * 1 + 1: the consumer comes second, or first and waits. 2 + 2, SIZE=2: counted over the states (who is to
 * come, who waits, what is in the buffer).
 *
 * EXPECT -DP=1 -DC=1 all verified 2
 * EXPECT -DP=1 -DC=1 -DFIFO all verified 2
 * EXPECT -DP=2 -DC=2 -DFIFO all verified 48
 * EXPECT -DP=2 -DC=2 all verified 60
 * EXPECT -DP=2 -DC=2 -DSIZE=1 -DFIFO optimal verified 56
 * EXPECT -DP=2 -DC=2 -DSIZE=1 optimal verified 64
 * EXPECT -DP=2 -DC=2 --update=all dpor verified 60
 * EXPECT -DP=2 -DC=2 -DFIFO --update=all dpor verified 48
 * EXPECT -DP=2 -DC=2 -DSIZE=1 -DIF optimal error kind=assertion
 * SLOW -DFIFO optimal verified 1938816
 * SLOW -DFIFO --update=all dpor verified 1938816
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#ifndef P
#define P 4
#endif
#ifndef C
#define C 4
#endif
#ifndef SIZE
#define SIZE 2
#endif
#ifdef IF /* who is woken does not look again */
#define UNTIL(condition) if (!(condition))
#else
#define UNTIL(condition) while (!(condition))
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

#ifdef FIFO
struct queue {
    sem_t places[P + C];
    int first, last;
};
static struct queue not_full, not_empty;

static void wait(struct queue *q)
{
    sem_t *place = &q->places[q->last++];
    assert(q->last <= P + C);
    pthread_mutex_unlock(&m);
    sem_wait(place);
    pthread_mutex_lock(&m);
}

static void signal(struct queue *q)
{
    if (q->first < q->last) sem_post(&q->places[q->first++]);
}
#else
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
#define wait(q)   pthread_cond_wait(q, &m)
#define signal(q) pthread_cond_signal(q)
#endif

static void *produce(void *unused)
{
    pthread_mutex_lock(&m);
    UNTIL(count < SIZE) wait(&not_full);
    count++;
    assert(count <= SIZE);
    signal(&not_empty);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *consume(void *unused)
{
    pthread_mutex_lock(&m);
    UNTIL(count > 0) wait(&not_empty);
    count--;
    assert(count >= 0);
    signal(&not_full);
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t t[P + C];
#ifdef FIFO
    for (int i = 0; i < P + C; i++) {
        sem_init(&not_full.places[i], 0, 0);
        sem_init(&not_empty.places[i], 0, 0);
    }
#endif
    for (int i = 0; i < P + C; i++) pthread_create(&t[i], NULL, i < P ? produce : consume, NULL);
    for (int i = 0; i < P + C; i++) pthread_join(t[i], NULL);
    return 0;
}
