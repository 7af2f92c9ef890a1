/* N threads with R critical sections each, under three locks, which threads take in different orders: a search of a size
 * that can be chosen. See bench/estimate.py. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 4
#endif
#ifndef R
#define R 4
#endif

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static int counts[3];

static void *work(void *arg)
{
    long me = (long)arg;
    for (long i = 0; i < R; i++) {
        long k = (me * 7 + i * 3 + i * i * me) % 3;
        pthread_mutex_lock(&locks[k]);
        counts[k]++;
        pthread_mutex_unlock(&locks[k]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    assert(counts[0] + counts[1] + counts[2] == N * R);
}
