/* Recursion that needs much stack but has an end: half a megabyte in each thread.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

__attribute__((noinline)) static int down(int n)
{
    volatile char frame[1000];
    frame[n % 1000] = 1;
    return n == 0 ? atomic_fetch_add(&x, 1) : down(n - 1) + frame[n % 1000] - 1;
}

static void *work(void *arg)
{
    assert(down(500) < 2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
