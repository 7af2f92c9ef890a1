/* Writer and readers, 2017 Fig. 1: p writes x; q reads y, then x; r reads z, then x. Four classes. Any
 * algorithm with persistent sets that starts with p explores at least five.
 *
 * EXPECT optimal verified 4
 * EXPECT source verified 4 blocked=0
 * EXPECT dpor verified 4 total=~5
 * EXPECT sleep verified 4
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y, z;

static void *p(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}

static void *q(void *arg)
{
    (void)atomic_load(&y);
    (void)atomic_load(&x);
    return arg;
}

static void *r(void *arg)
{
    (void)atomic_load(&z);
    (void)atomic_load(&x);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, p, NULL);
    pthread_create(&t[1], NULL, q, NULL);
    pthread_create(&t[2], NULL, r, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
