/* The queue of queue.c without its bug: a thread that was woken checks the condition again, because another thread may
 * have been faster.
 *
 *     mazurka check examples/queue_fixed.c
 *
 * EXPECT all verified 30
 */
#include <assert.h>
#include <pthread.h>

#define SIZE 2

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    int item[SIZE];
    int head, count;
};

static struct queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

static void put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->mutex);
    while (q->count == SIZE) pthread_cond_wait(&q->not_full, &q->mutex);
    q->item[(q->head + q->count) % SIZE] = item;
    q->count++;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static int get(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    while (q->count == 0) pthread_cond_wait(&q->not_empty, &q->mutex);
    assert(q->count > 0);
    int item = q->item[q->head];
    q->head = (q->head + 1) % SIZE;
    q->count--;
    pthread_cond_signal(&q->not_full);
    pthread_mutex_unlock(&q->mutex);
    return item;
}

static void *producer(void *arg)
{
    put(&queue, 1);
    put(&queue, 2);
    return arg;
}

static void *consumer(void *arg)
{
    *(int *)arg = get(&queue);
    return arg;
}

int main(void)
{
    pthread_t p, c1, c2;
    int first = 0, second = 0;
    pthread_create(&c1, NULL, consumer, &first);
    pthread_create(&c2, NULL, consumer, &second);
    pthread_create(&p, NULL, producer, NULL);
    pthread_join(p, NULL);
    pthread_join(c1, NULL);
    pthread_join(c2, NULL);
    assert(first + second == 3);
    return 0;
}
