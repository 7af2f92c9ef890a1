/* The value returned by a thread reaches the one who joins it.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int turn;

static void *work(void *arg) { return (void *)((intptr_t)arg + atomic_fetch_add(&turn, 1)); }

int main(void)
{
    pthread_t a, b;
    void *ra = NULL, *rb = NULL;
    pthread_create(&a, NULL, work, (void *)100);
    pthread_create(&b, NULL, work, (void *)200);
    assert(pthread_join(b, &rb) == 0);
    assert(pthread_join(a, &ra) == 0);
    assert((intptr_t)ra + (intptr_t)rb == 301);
    assert((intptr_t)ra == 100 || (intptr_t)ra == 101);
    return 0;
}
