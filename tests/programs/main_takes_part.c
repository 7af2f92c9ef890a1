/* main is a thread like the others: its operations between create and join count.
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    atomic_fetch_add(&x, 10);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 100);
    atomic_fetch_add(&x, 100);
    pthread_join(a, NULL);
    atomic_fetch_add(&x, 1000);
    assert(x == 1212);
    return 0;
}
