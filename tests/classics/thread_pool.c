/* A pool of N threads with a queue of tasks, and its shutdown: all tasks are done, all threads end.
 * EXPECT all verified
 * EXPECT -DSIGNAL all error kind=deadlock
 * EXPECT -DFLAG_UNLOCKED all error
 * EXPECT -DDROP all error kind=assertion
 */
#include "classic.h"

#define TASKS 1

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_or_end = PTHREAD_COND_INITIALIZER;
static int queued, done;
static bool ending;

static void *worker(void *unused)
{
    pthread_mutex_lock(&m);
    for (;;) {
        while (!queued && !ending) pthread_cond_wait(&work_or_end, &m);
#ifdef DROP
        if (ending) break;
#else
        if (!queued) break;
#endif
        queued--;
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
        done++;
    }
    pthread_mutex_unlock(&m);
    return unused;
}

static void shut_down(void)
{
#ifdef FLAG_UNLOCKED
    ending = true;
#endif
    pthread_mutex_lock(&m);
    ending = true;
#ifdef SIGNAL
    pthread_cond_signal(&work_or_end);
#else
    pthread_cond_broadcast(&work_or_end);
#endif
    pthread_mutex_unlock(&m);
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < TASKS; i++) {
        pthread_mutex_lock(&m);
        queued++;
        pthread_cond_signal(&work_or_end);
        pthread_mutex_unlock(&m);
    }
    shut_down();
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(done == TASKS);
    return 0;
}
