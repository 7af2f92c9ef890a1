/* 2005 Fig. 2: the indexer with two threads and one message each. The two meet in no entry: one class.
 *
 * EXPECT every verified 1
 * EXPECT --no-sleep-sets none verified 2
 */
#define N   2
#define MAX 1
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int table[128];
static int tids[N];

static void *indexer(void *arg)
{
    int tid = *(int *)arg;
    for (int m = 1; m <= MAX; m++) {
        int w = m * 11 + tid, h = (w * 7) % 128, empty = 0;
        while (!atomic_compare_exchange_strong(&table[h], &empty, w)) {
            h = (h + 1) % 128;
            empty = 0;
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
