/* N threads lock one mutex, add to a plain counter, unlock: N! classes.
 *
 * EXPECT -DN=2 every verified 2
 * EXPECT -DN=3 every verified 6
 * EXPECT -DN=4 every verified 24
 * EXPECT -DN=5 optimal verified 120
 * EXPECT -DN=5 source verified 120 blocked=0
 * EXPECT -DN=6 optimal verified 720
 * EXPECT -DN=6 source verified 720 blocked=0
 * EXPECT -DN=7 optimal verified 5040
 * EXPECT -DN=7 source verified 5040 blocked=0
 * SLOW -DN=8 optimal verified 40320
 * SLOW -DN=8 source verified 40320 blocked=0
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *locker(void *arg)
{
    pthread_mutex_lock(&mutex);
    x++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, locker, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(x == N);
    return 0;
}
