/* if instead of while, with enough items for all: the one who was signalled loses its item to one who never
 * waited, for a moment, and takes what is not there.
 * EXPECT all error kind=assertion
 * EXPECT -DWHILE every verified 30
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef WHILE
    while (items == 0) pthread_cond_wait(&c, &m);
#else
    if (items == 0) pthread_cond_wait(&c, &m);
#endif
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *producer(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        items++;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
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
