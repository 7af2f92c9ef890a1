/* pthread_exit ends a thread from within a nested call, with a value; nothing after it runs.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int x;

static void leave(int depth)
{
    if (depth > 0) {
        leave(depth - 1);
        atomic_store(&x, 100);
    } else {
        pthread_exit((void *)(intptr_t)(atomic_fetch_add(&x, 1) + 10));
    }
}

static void *work(void *arg)
{
    leave(3);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    void *ra, *rb;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    assert((intptr_t)ra + (intptr_t)rb == 21 && x == 2);
    return 0;
}
