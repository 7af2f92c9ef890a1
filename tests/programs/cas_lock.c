/* A lock made of compare-and-exchange. A thread that fails to take it loops, and waits: the search stops it at the first
 * round. So the counts are those of a lock, whatever slots the compiler uses in the frame of lock().
 * (clang 14 at -O0 copied the expected value into slots whose addresses it gave to hooks: one more round each time, 7134
 * executions.)
 * EXPECT all verified 90
 * EXPECT -O0 all verified 90
 * EXPECT -O2 all verified 90
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int held;
static int sum;

static void lock(void)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&held, &expected, 1)) expected = 0;
}

static void *work(void *arg)
{
    for (int i = 0; i < 2; i++) {
        lock();
        sum++;
        atomic_store(&held, 0);
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(sum == 6);
    return 0;
}
