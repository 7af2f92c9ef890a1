/* Indexer, 2005 Fig. 1: N threads insert 4 messages each into a hash table of 128 entries. Up to 11 threads
 * no two ever meet in one entry, so one execution stands for all; every further thread multiplies by 8.
 * With 11 threads there are too many states for the stateful algorithms. With INSERT_NEW an insertion that fails
 * is a write, too, as in the paper of 2017: its insertions are always dependent.
 *
 * EXPECT -DN=2 all verified 1
 * EXPECT -DN=4 all verified 1
 * EXPECT -DN=11 all verified 1 search=stateless
 * EXPECT -DN=12 optimal verified 8
 * EXPECT -DN=12 source verified 8 blocked=0
 * EXPECT -DN=12 dpor verified 8 total=~78
 * EXPECT -DN=12 -DINSERT_NEW optimal verified 8
 * EXPECT -DN=12 -DINSERT_NEW source verified 8 blocked=0
 * EXPECT -DN=13 optimal verified 64
 * EXPECT -DN=13 source verified 64 blocked=0
 * EXPECT -DN=14 optimal verified 512
 * EXPECT -DN=14 source verified 512 blocked=0
 * EXPECT -DN=15 optimal verified 4096
 * EXPECT -DN=15 source verified 4096 blocked=0
 * SLOW -DN=15 dpor verified 4096 total=~341832
 * SLOW -DN=16 optimal verified 32768
 * SLOW -DN=16 source verified 32768 blocked=0
 */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 12
#endif
#define SIZE 128
#define MAX  4

static _Atomic int table[SIZE];
static int tids[N];

static int hash(int w) { return (w * 7) % SIZE; }

static void *indexer(void *arg)
{
    int tid = *(int *)arg;
    for (int m = 1; m <= MAX; m++) {
        int w = m * 11 + tid;
        int h = hash(w);
        for (;;) {
            int empty = 0;
#ifdef INSERT_NEW
            if ((empty = atomic_fetch_or(&table[h], 1)) == 0) break;
#else
            if (atomic_compare_exchange_strong(&table[h], &empty, w)) break;
#endif
            h = (h + 1) % SIZE;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
        tids[i] = i + 1;
        pthread_create(&t[i], NULL, indexer, &tids[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
