/* A handler of atexit that joins a thread: it runs while the program is still alive.
 * EXPECT every verified 2
 * EXPECT -DFAIL all error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x;
static pthread_t t;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

static void at_end(void)
{
    pthread_join(t, NULL);
#ifdef FAIL
    assert(x == 3);
#else
    assert(x == 2);
#endif
}

int main(void)
{
    atexit(at_end);
    pthread_create(&t, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    return 0;
}
