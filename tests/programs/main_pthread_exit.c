/* main ends with pthread_exit: the others go on, and the program ends with status 0 after the last of them.
 * EXPECT every verified 2
 * EXPECT -DFAIL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    int old = atomic_fetch_add(&x, 1);
#ifdef FAIL
    assert(old == 0);
#else
    assert(old < 2);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_exit(NULL);
}
