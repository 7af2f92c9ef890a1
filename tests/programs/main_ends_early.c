/* main returns while a thread runs: the program ends there, in whatever state the thread is. What the thread
 * does before is still checked.
 * EXPECT all verified
 * EXPECT -DFAIL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    atomic_store(&x, 3);
#ifdef FAIL
    assert(0);
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    return 0;
}
