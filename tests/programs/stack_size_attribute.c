/* A thread with a stack size of its own.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_attr_t attr;
    assert(pthread_attr_init(&attr) == 0);
    assert(pthread_attr_setstacksize(&attr, 1 << 20) == 0);
    assert(pthread_create(&a, &attr, work, NULL) == 0);
    assert(pthread_create(&b, &attr, work, NULL) == 0);
    pthread_attr_destroy(&attr);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
