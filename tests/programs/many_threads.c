/* Fifty threads that meet nowhere, and then forty-nine of which two meet.
 * EXPECT -DN=50 optimal verified 1
 * EXPECT -DN=50 source verified 1 blocked=0
 * EXPECT -DN=49 -DTWO_MEET optimal verified 2
 * EXPECT -DN=49 -DTWO_MEET source verified 2 blocked=0
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 50
#endif

static _Atomic int cell[N];

static void *work(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
#ifdef TWO_MEET
        pthread_create(&t[i], NULL, work, &cell[i == N - 1 ? 0 : i]);
#else
        pthread_create(&t[i], NULL, work, &cell[i]);
#endif
    }
    int sum = 0;
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) sum += cell[i];
    assert(sum == N);
    return 0;
}
