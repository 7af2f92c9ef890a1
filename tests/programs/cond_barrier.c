/* A barrier made of a mutex and a condition variable. With one signal instead of the broadcast three threads
 * do not all come through.
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 12
 * EXPECT -DN=3 -DSIGNAL all error kind=deadlock
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int count, generation, before[N], id[N];

static void barrier(void)
{
    pthread_mutex_lock(&m);
    int mine = generation;
    if (++count == N) {
        count = 0;
        generation++;
#ifdef SIGNAL
        pthread_cond_signal(&c);
#else
        pthread_cond_broadcast(&c);
#endif
    } else {
        while (mine == generation) pthread_cond_wait(&c, &m);
    }
    pthread_mutex_unlock(&m);
}

static void *work(void *arg)
{
    before[*(int *)arg] = 1;
    barrier();
    for (int i = 0; i < N; i++) assert(before[i]);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
        id[i] = i;
        pthread_create(&t[i], NULL, work, &id[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
