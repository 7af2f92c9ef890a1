/* Wakeup stress, 2017 Fig. 12: N threads increment counter2; one more increments counter1 at once, another
 * one only after the N have finished. 2 * N! classes, and wakeup trees that grow with N!. The paper's
 * barrier, whose waits are not dependent, is a join of the N threads here. With BARRIER it is a real barrier: no thread looks at
 * the result of pthread_barrier_wait, so it makes no difference which thread is the serial one.
 *
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 every verified 4
 * EXPECT -DN=3 all verified 12
 * EXPECT -DN=4 optimal verified 48
 * EXPECT -DN=4 source verified 48 blocked=0
 * EXPECT -DN=5 optimal verified 240
 * EXPECT -DN=5 source verified 240 blocked=0
 * EXPECT -DN=6 optimal verified 1440
 * EXPECT -DN=6 source verified 1440 blocked=0
 * EXPECT -DN=7 optimal verified 10080
 * EXPECT -DN=7 source verified 10080 blocked=0
 * EXPECT -DBARRIER -DN=1 every verified 2
 * EXPECT -DBARRIER -DN=2 every verified 4
 * EXPECT -DBARRIER -DN=3 all verified 12
 * EXPECT -DBARRIER -DN=5 optimal verified 240
 * SLOW -DN=8 optimal verified 80640
 * SLOW -DN=8 source verified 80640 blocked=0
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static _Atomic int counter1, counter2;
static pthread_t worker[N];

#ifdef BARRIER
static pthread_barrier_t barrier;
#endif

static void *first(void *arg)
{
    atomic_fetch_add(&counter1, 1);
    return arg;
}

static void *work(void *arg)
{
    atomic_fetch_add(&counter2, 1);
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#endif
    return arg;
}

static void *last(void *arg)
{
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#else
    for (int j = 0; j < N; j++) pthread_join(worker[j], NULL);
#endif
    atomic_fetch_add(&counter1, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
#ifdef BARRIER
    pthread_barrier_init(&barrier, NULL, N + 1);
#endif
    pthread_create(&a, NULL, first, NULL);
    for (int j = 0; j < N; j++) pthread_create(&worker[j], NULL, work, NULL);
    pthread_create(&b, NULL, last, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#ifdef BARRIER
    for (int j = 0; j < N; j++) pthread_join(worker[j], NULL);
#endif
    return 0;
}
