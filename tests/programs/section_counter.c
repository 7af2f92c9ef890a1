/* An atomic section is one operation, and orders what is inside like a mutex does.
 * EXPECT every verified 2
 * EXPECT -DN=3 every verified 6
 * EXPECT -DBARE all error kind=data-race
 */
#include <assert.h>
#include <mazurka.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static int x, y;

static void *work(void *arg)
{
#ifndef BARE
    mz_atomic_begin();
#endif
    x++;
    y = x;
#ifndef BARE
    mz_atomic_end();
#endif
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    assert(x == N && y == N);
    return 0;
}
