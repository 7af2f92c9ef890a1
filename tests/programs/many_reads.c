/* Reads of one variable, and at the end of each thread an operation on another one: the search must not go
 * through all the reads again at each of them. One order without the last operations, two with them (without
 * sleep sets one of them more than once).
 * Stateful algorithms look at all pairs of reads: search=stateless.
 * OPTIONS --max-steps=200000
 * EXPECT all verified 1 search=stateless
 * EXPECT --no-sleep-sets dpor verified 1
 * EXPECT -DLAST all verified 2 search=stateless
 * EXPECT -DLAST --no-sleep-sets dpor verified
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;

static void *work(void *arg)
{
    for (int i = 0; i < 90000; i++) (void)atomic_load(&x);
#ifdef LAST
    atomic_fetch_add(&y, 1);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return atomic_load(&y) > 2;
}
