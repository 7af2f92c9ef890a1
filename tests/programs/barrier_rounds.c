/* N threads meet M times. Arrivals commute; who is the serial thread is a choice each time, as all threads look at the result:
 * N^M classes.
 * What was written before is read after without a race.
 * EXPECT -DN=2 -DM=1 every verified 2
 * EXPECT -DN=2 -DM=2 every verified 4
 * EXPECT -DN=3 -DM=1 every verified 3
 * EXPECT -DN=2 -DM=3 all verified 8
 * EXPECT -DN=2 -DM=1 --no-sleep-sets none verified 4
 * EXPECT -DN=2 -DM=2 --no-sleep-sets none verified 16
 * EXPECT -DN=3 -DM=1 --no-sleep-sets none verified 18
 * EXPECT -DN=2 -DM=1 -DCOUNT=3 all error kind=deadlock
 * EXPECT -DN=2 -DM=1 -DEARLY all error kind=data-race
 * EXPECT -DN=3 -DM=1 -DGUESS all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef COUNT
#define COUNT N
#endif

static pthread_barrier_t barrier;
static int cell[M][N];
static int serials[N];

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < M; round++) {
        cell[round][me] = round + me;
#ifdef EARLY
        assert(cell[round][(me + 1) % N] >= 0);
#endif
        int r = pthread_barrier_wait(&barrier);
        assert(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
        serials[me] += r != 0;
        for (int i = 0; i < N; i++) assert(cell[round][i] == round + i);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int sum = 0;
    assert(pthread_barrier_init(&barrier, NULL, 0) != 0);
    pthread_barrier_init(&barrier, NULL, COUNT);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) sum += serials[i];
    assert(sum == M);
#ifdef GUESS
    assert(serials[1] == 0);
#endif
    assert(pthread_barrier_destroy(&barrier) == 0);
    return 0;
}
