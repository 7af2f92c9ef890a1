/* More threads than the barrier waits for: who meets whom depends on the order of the arrivals. N threads
 * of which PLACES meet: N! orders, times PLACES for each meeting. With a number that does not divide, some
 * are left over for ever.
 * EXPECT -DN=2 -DPLACES=1 every verified 2
 * EXPECT -DN=4 -DPLACES=2 all verified 96
 * EXPECT -DN=4 -DPLACES=2 sleep verified 96
 * EXPECT -DN=2 -DPLACES=1 --no-sleep-sets none verified 6
 * EXPECT -DN=4 -DPLACES=2 --no-sleep-sets none verified
 * EXPECT -DN=3 -DPLACES=2 all error kind=deadlock
 * EXPECT -DN=4 -DPLACES=2 -DPAIRS all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_barrier_t barrier;
static int serial[N];

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    serial[me] = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int sum = 0;
    pthread_barrier_init(&barrier, NULL, PLACES);
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) sum += serial[i];
    assert(sum == N / PLACES);
#ifdef PAIRS
    assert(serial[0] + serial[1] == 1); /* as if 0 met 1 */
#endif
    return 0;
}
