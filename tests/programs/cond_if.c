/* if instead of while: a consumer that was woken finds the item taken by one that came in between.
 * EXPECT all error kind=assertion
 * EXPECT -DWHILE all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef WHILE /* right, but one item does not serve two consumers */
    while (items == 0) pthread_cond_wait(&c, &m);
#else
    if (items == 0) pthread_cond_wait(&c, &m);
#endif
    items--;
    assert(items >= 0);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *producer(void *arg)
{
    pthread_mutex_lock(&m);
    items++;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, consumer, NULL);
    pthread_create(&t[1], NULL, consumer, NULL);
    pthread_create(&t[2], NULL, producer, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
