/* Dining philosophers: everybody takes the left fork first and all may starve; if the last one is left-handed
 * nobody does.
 * EXPECT -DN=2 all error kind=deadlock
 * EXPECT -DN=3 all error kind=deadlock
 * EXPECT -DN=5 optimal error kind=deadlock
 * EXPECT -DN=2 -DLEFT_HANDED every verified 2
 * EXPECT -DN=3 -DLEFT_HANDED every verified 6
 * EXPECT -DN=4 -DLEFT_HANDED all verified 14
 * EXPECT -DN=5 -DLEFT_HANDED optimal verified 30
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static pthread_mutex_t fork_[N];
static int eaten[N];
static int seat[N];

static void *philosopher(void *arg)
{
    int i = *(int *)arg;
    int first = i, second = (i + 1) % N;
#ifdef LEFT_HANDED
    if (i == N - 1) {
        first = 0;
        second = N - 1;
    }
#endif
    pthread_mutex_lock(&fork_[first]);
    pthread_mutex_lock(&fork_[second]);
    eaten[i]++;
    pthread_mutex_unlock(&fork_[second]);
    pthread_mutex_unlock(&fork_[first]);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_mutex_init(&fork_[i], NULL);
    for (int i = 0; i < N; i++) {
        seat[i] = i;
        pthread_create(&t[i], NULL, philosopher, &seat[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) assert(eaten[i] == 1);
    return 0;
}
