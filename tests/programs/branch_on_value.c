/* What a thread does depends on what it reads: the assertion is three decisions deep.
 * EXPECT all error kind=assertion
 * EXPECT -DFIXED every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;

static void *left(void *arg)
{
    if (atomic_load(&y) == 0) {
        atomic_store(&x, 1);
        if (atomic_load(&y) == 2) {
            atomic_store(&x, 3);
        }
    }
    return arg;
}

static void *right(void *arg)
{
    atomic_store(&y, 1);
    if (atomic_load(&x) == 1) {
        atomic_store(&y, 2);
#ifndef FIXED
        assert(atomic_load(&x) != 3);
#else
        (void)atomic_load(&x);
#endif
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
