/* Readers, 2017 Fig. 13: one writer of x; each of N readers reads a variable of its own, then x. Each reader
 * is before or after the writer: 2^N classes. The first read of a reader makes persistent sets larger than
 * source sets, which is what the program shows.
 *
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 optimal verified 4
 * EXPECT -DN=2 source verified 4 blocked=0
 * EXPECT -DN=2 dpor verified 4 total=~5
 * EXPECT -DN=2 sleep verified 4
 * EXPECT -DN=8 optimal verified 256
 * EXPECT -DN=8 source verified 256 blocked=0
 * EXPECT -DN=8 dpor verified 256 total=~3281
 * EXPECT -DN=13 optimal verified 8192
 * EXPECT -DN=13 source verified 8192 blocked=0
 * SLOW -DN=13 dpor verified 8192 total=~797162
 * SLOW -DN=16 optimal verified 65536
 * SLOW -DN=16 source verified 65536 blocked=0
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static _Atomic int x, own[N];

static void *writer(void *arg)
{
    (void)arg;
    atomic_store(&x, 42);
    return NULL;
}

static void *reader(void *arg)
{
    (void)atomic_load((_Atomic int *)arg);
    (void)atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t w, r[N];
    pthread_create(&w, NULL, writer, NULL);
    for (int i = 0; i < N; i++) pthread_create(&r[i], NULL, reader, &own[i]);
    pthread_join(w, NULL);
    for (int i = 0; i < N; i++) pthread_join(r[i], NULL);
    return 0;
}
