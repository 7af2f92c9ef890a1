/* A section moves from one account to another; a reader of both, one after the other, may see either side of
 * it or, without a section of its own, the middle.
 *
 * EXPECT every verified 2
 * EXPECT -DBARE all error kind=assertion
 */
#include <assert.h>
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int a = 10, b;

static void *move(void *arg)
{
    mz_atomic_begin();
    atomic_fetch_sub(&a, 3);
    atomic_fetch_add(&b, 3);
    mz_atomic_end();
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, move, NULL);
#ifndef BARE
    mz_atomic_begin();
#endif
    int sum = atomic_load(&a) + atomic_load(&b);
#ifndef BARE
    mz_atomic_end();
#endif
    assert(sum == 10);
    pthread_join(t, NULL);
    return 0;
}
