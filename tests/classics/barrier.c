/* A barrier from a mutex and a condition variable, used twice. The number of the phase tells those who wait
 * that theirs is over; without it a fast thread enters the next phase before a slow one has left.
 * EXPECT all verified
 * EXPECT -DIF all verified
 * EXPECT -DSPURIOUS -DIF --spurious-wakeups all error kind=assertion
 * EXPECT -DNO_PHASE all error kind=deadlock
 */
#include "classic.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int waiting, phase, done[2];

#ifdef IF /* good enough, as long as nobody wakes up without a reason */
#define while if
#endif

static void barrier(void)
{
    pthread_mutex_lock(&m);
    int mine = phase;
    if (++waiting == N) {
        waiting = 0;
        phase++;
        pthread_cond_broadcast(&all_here);
    } else {
#ifdef NO_PHASE
        while (waiting != 0) pthread_cond_wait(&all_here, &m);
#else
        while (phase == mine) pthread_cond_wait(&all_here, &m);
#endif
    }
    pthread_mutex_unlock(&m);
}

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        done[i]++;
        pthread_mutex_unlock(&m);
        barrier();
        pthread_mutex_lock(&m);
        assert(done[i] == N);
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(void)
{
    run_threads(N, work);
    return 0;
}
