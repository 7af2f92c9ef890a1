/* __builtin_memcpy and its like, of sizes that gcc copies in line.
 * EXPECT every verified 6
 * EXPECT -O0 all verified 6
 * EXPECT -O2 all verified 6
 * EXPECT -DN=200 -O2 all verified 6
 * EXPECT -D_FORTIFY_SOURCE=2 -O2 -DFORTIFY all verified 6
 * EXPECT stateful verified
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DRACE -O2 all error kind=data-race
 * EXPECT -DRACE -DN=24 all error kind=data-race
 * EXPECT -DRACE -DFORTIFY -D_FORTIFY_SOURCE=2 -O2 all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef N
#define N 72
#endif
#ifdef FORTIFY
#define COPY memcpy
#define SET  memset
#else
#define COPY __builtin_memcpy
#define SET  __builtin_memset
#endif

static unsigned char g[N];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *x)
{
    for (int i = 0; i < 2; i++) {
        unsigned char mine[N];
#ifndef RACE
        pthread_mutex_lock(&mutex);
#endif
        COPY(mine, g, N);
        SET(mine, mine[N - 1] + 1, N);
        COPY(g, mine, N);
#ifndef RACE
        pthread_mutex_unlock(&mutex);
#endif
    }
    return x;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++) assert(g[i] == 4);
    return 0;
}
