/* Philosophers who share a fork with each neighbour. If one of them takes the right fork first, they cannot
 * all wait for each other. Who of two neighbours eats first is free for each pair, but not in a circle:
 * 2^N - 2 orders.
 * EXPECT -DN=2 all verified 2
 * EXPECT -DN=3 all verified 6
 * EXPECT -DN=4 all verified 14
 * EXPECT -DN=5 all verified 30
 * EXPECT -DN=6 all verified 62
 * EXPECT -DN=2 -DALL_ALIKE all error kind=deadlock
 * EXPECT -DN=3 -DALL_ALIKE all error kind=deadlock
 * EXPECT -DN=6 -DALL_ALIKE optimal error kind=deadlock
 */
#include "classic.h"

static pthread_mutex_t forks[N];
static int meals[N];

static void *work(void *me)
{
    int a = (int)(intptr_t)me, b = (a + 1) % N;
#ifndef ALL_ALIKE
    if (a == N - 1) a = 0, b = N - 1;
#endif
    pthread_mutex_lock(&forks[a]);
    pthread_mutex_lock(&forks[b]);
    meals[(intptr_t)me]++;
    pthread_mutex_unlock(&forks[b]);
    pthread_mutex_unlock(&forks[a]);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < N; i++) pthread_mutex_init(&forks[i], NULL);
    run_threads(N, work);
    for (int i = 0; i < N; i++) assert(meals[i] == 1);
    return 0;
}
