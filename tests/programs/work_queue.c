/* A pool of workers that take numbers from a shared counter until there are no more.
 * EXPECT -DWORKERS=2 -DJOBS=2 every verified 8
 * EXPECT -DWORKERS=3 -DJOBS=3 optimal verified 162
 * EXPECT -DWORKERS=3 -DJOBS=3 source verified 162 blocked=0
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef WORKERS
#define WORKERS 2
#define JOBS    2
#endif

static _Atomic int next;
static int done[JOBS];

static void *worker(void *arg)
{
    for (;;) {
        int job = atomic_fetch_add(&next, 1);
        if (job >= JOBS) break;
        done[job]++;
    }
    return arg;
}

int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < JOBS; i++) assert(done[i] == 1);
    return 0;
}
