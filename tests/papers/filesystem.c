/* File system, 2005 Fig. 7 (after Frangipani): each thread allocates a disk block for its inode, under one
 * lock per inode and one per block. Up to 13 threads no two ever want the same block; from 14 on, thread
 * 13+k and thread k do, and each such pair doubles the count. With many threads there are too many states for the
 * stateful algorithms.
 *
 * EXPECT -DN=4 all verified 1
 * EXPECT -DN=13 all verified 1 search=stateless
 * EXPECT -DN=2 static verified 4
 * EXPECT -DN=4 --sleep-sets static verified 1
 * EXPECT -DN=4 --stateful static verified
 * EXPECT -DN=4 --stateful --sleep-sets static verified
 * EXPECT -DN=4 --stateful --sleep-sets none verified states=82 says=livelocks
 * EXPECT -DN=14 --no-sleep-sets dpor verified 3
 * EXPECT -DN=14 --no-sleep-sets --persistent=static dpor verified 2
 * EXPECT -DN=14 --persistent=static classic verified 2
 * EXPECT -DN=14 --no-sleep-sets --marks dpor verified 3
 * EXPECT -DN=14 optimal verified 2
 * EXPECT -DN=14 source verified 2 blocked=0
 * EXPECT -DN=14 dpor verified 2 total=~4
 * EXPECT -DN=16 optimal verified 8
 * EXPECT -DN=16 source verified 8 blocked=0
 * EXPECT -DN=16 dpor verified 8 total=~64
 * EXPECT -DN=18 optimal verified 32
 * EXPECT -DN=18 source verified 32 blocked=0
 * EXPECT -DN=18 dpor verified 32 total=~1024
 * EXPECT -DN=19 optimal verified 64
 * EXPECT -DN=19 source verified 64 blocked=0
 * SLOW -DN=19 dpor verified 64 total=~4096
 * EXPECT -DN=20 optimal verified 128
 * EXPECT -DN=20 source verified 128 blocked=0
 * EXPECT -DN=22 optimal verified 512
 * EXPECT -DN=22 source verified 512 blocked=0
 * SLOW -DN=24 optimal verified 2048
 * SLOW -DN=24 source verified 2048 blocked=0
 * SLOW -DN=26 optimal verified 8192
 * SLOW -DN=26 source verified 8192 blocked=0
 */
#include <pthread.h>
#include <stdbool.h>

#ifndef N
#define N 14
#endif
#define NUMBLOCKS 26
#define NUMINODE  32

static pthread_mutex_t locki[NUMINODE] = {[0 ... NUMINODE - 1] = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t lockb[NUMBLOCKS] = {[0 ... NUMBLOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};
static int inode[NUMINODE];
static bool busy[NUMBLOCKS];
static int tids[N];

static void *allocate(void *arg)
{
    int i = *(int *)arg % NUMINODE;
    pthread_mutex_lock(&locki[i]);
    if (inode[i] == 0) {
        int b = (i * 2) % NUMBLOCKS;
        for (;;) {
            pthread_mutex_lock(&lockb[b]);
            if (!busy[b]) {
                busy[b] = true;
                inode[i] = b + 1;
                pthread_mutex_unlock(&lockb[b]);
                break;
            }
            pthread_mutex_unlock(&lockb[b]);
            b = (b + 1) % NUMBLOCKS;
        }
    }
    pthread_mutex_unlock(&locki[i]);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) {
        tids[i] = i;
        pthread_create(&t[i], NULL, allocate, &tids[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
