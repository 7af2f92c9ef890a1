/* Floating read: N writers of x with different values and one reader of x. As Mazurkiewicz traces (N+1)!.
 *
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 every verified 6
 * EXPECT -DN=3 all verified 24
 * EXPECT -DN=5 optimal verified 720
 * EXPECT -DN=5 source verified 720 blocked=0
 * EXPECT -DN=6 optimal verified 5040
 * EXPECT -DN=6 source verified 5040 blocked=0
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static _Atomic int x;
static int value[N];

static void *writer(void *arg)
{
    atomic_store(&x, *(int *)arg);
    return NULL;
}

static void *reader(void *arg)
{
    (void)atomic_load(&x);
    return arg;
}

int main(void)
{
    pthread_t w[N], r;
    for (int i = 0; i < N; i++) {
        value[i] = i + 1;
        pthread_create(&w[i], NULL, writer, &value[i]);
    }
    pthread_create(&r, NULL, reader, NULL);
    for (int i = 0; i < N; i++) pthread_join(w[i], NULL);
    pthread_join(r, NULL);
    return 0;
}
