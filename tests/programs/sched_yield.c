/* sched_yield changes nothing.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    assert(sched_yield() == 0);
    atomic_fetch_add(&x, 1);
    sched_yield();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    sched_yield();
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 2);
    return 0;
}
