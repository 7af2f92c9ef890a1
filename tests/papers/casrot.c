/* Rotation by compare and swap: thread i changes x from i to i+1. A failed one only reads, so far fewer than
 * N! classes.
 *
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 5
 * EXPECT -DN=4 every verified 14
 * EXPECT -DN=5 all verified 43
 * EXPECT -DN=8 optimal verified 2048
 * EXPECT -DN=8 source verified 2048
 * EXPECT -DN=9 optimal verified 8597
 * SLOW -DN=10 optimal verified 38486
 * SLOW -DN=11 optimal verified 182905
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static _Atomic int x;
static int tids[N];

static void *rotate(void *arg)
{
    int i = *(int *)arg;
    int expected = i;
    atomic_compare_exchange_strong(&x, &expected, i + 1);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
        tids[i] = i;
        pthread_create(&t[i], NULL, rotate, &tids[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
