#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct queue { atomic_int head; atomic_uint tail[3]; };
struct queue queue;
static void *worker(void *arg)
{
    int v = atomic_load(&queue.head);
    atomic_store(&queue.tail[1], 4000000000u);
    atomic_store(&queue.head, v - 1);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(queue.head == -2);
    return 0;
}
