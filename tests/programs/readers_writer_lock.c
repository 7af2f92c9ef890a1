/* A lock for many readers or one writer, made of a mutex and a condition variable.
 * EXPECT every verified 62
 * EXPECT -DBROKEN all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int readers, writing, data;

static void read_lock(void)
{
    pthread_mutex_lock(&m);
    while (writing) pthread_cond_wait(&c, &m);
    readers++;
    pthread_mutex_unlock(&m);
}

static void read_unlock(void)
{
    pthread_mutex_lock(&m);
    if (--readers == 0) pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
}

static void write_lock(void)
{
    pthread_mutex_lock(&m);
#ifdef BROKEN
    while (writing) pthread_cond_wait(&c, &m);
#else
    while (writing || readers) pthread_cond_wait(&c, &m);
#endif
    writing = 1;
    pthread_mutex_unlock(&m);
}

static void write_unlock(void)
{
    pthread_mutex_lock(&m);
    writing = 0;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
}

static void *reader(void *arg)
{
    read_lock();
    assert(data == 0 || data == 1);
    read_unlock();
    return arg;
}

static void *writer(void *arg)
{
    write_lock();
    data++;
    write_unlock();
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, reader, NULL);
    pthread_create(&t[1], NULL, writer, NULL);
    pthread_create(&t[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(data == 1);
    return 0;
}
