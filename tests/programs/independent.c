/* Threads that share nothing: one execution, however many there are.
 * EXPECT -DN=2 every verified 1
 * EXPECT -DN=20 optimal verified 1
 * EXPECT -DN=20 source verified 1 blocked=0
 * EXPECT -DN=20 dpor verified 1 blocked=0
 * EXPECT -DN=2 --no-sleep-sets none verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static _Atomic int own[N];

static void *work(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
    assert(atomic_load((_Atomic int *)arg) == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, &own[i]);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
