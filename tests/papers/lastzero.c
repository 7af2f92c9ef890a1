/* Last zero, 2017 Fig. 11: process j writes array[j-1]+1 to array[j]; process 0 looks from the end for the
 * last zero. (N+3) * 2^(N-2) classes. What process 0 reads decides how far it goes, so that source sets
 * without wakeup trees run into sleep sets.
 *
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 every verified 5
 * EXPECT -DN=3 all verified 12
 * EXPECT -DN=4 all verified 28
 * EXPECT -DN=5 optimal verified 64
 * EXPECT -DN=5 source verified 64 total=~79
 * EXPECT -DN=5 --order=names source verified 64 total=79
 * EXPECT -DN=8 --order=descending source verified 704 total=704
 * EXPECT -DN=8 --order=round-robin source verified 704
 * EXPECT -DN=8 --order=sequential dpor verified 704
 * EXPECT -DN=8 --order-seed=7 source verified 704
 * EXPECT -DN=8 --order=random optimal verified 704
 * EXPECT -DN=8 --order=descending optimal verified 704
 * EXPECT -DN=5 dpor verified 64 total=~241
 * EXPECT -DN=9 optimal verified 1536
 * EXPECT -DN=9 source verified 1536
 * EXPECT -DN=10 optimal verified 3328
 * EXPECT -DN=10 source verified 3328 total=~7204
 * SLOW -DN=10 dpor verified 3328 total=~53198
 * SLOW -DN=15 optimal verified 147456
 * SLOW -DN=15 source verified 147456 total=~302587
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static _Atomic int array[N + 1];
static int index_of[N + 1];

static void *search(void *arg)
{
    int i = N;
    while (atomic_load(&array[i]) != 0) i--;
    return arg;
}

static void *increment(void *arg)
{
    int j = *(int *)arg;
    int previous = atomic_load(&array[j - 1]);
    atomic_store(&array[j], previous + 1);
    return NULL;
}

int main(void)
{
    pthread_t t[N + 1];
    for (int j = 0; j <= N; j++) {
        index_of[j] = j;
        pthread_create(&t[j], NULL, j == 0 ? search : increment, &index_of[j]);
    }
    for (int j = 0; j <= N; j++) pthread_join(t[j], NULL);
    return 0;
}
