/* An assumption that holds in no execution leaves nothing to be verified: vacuous, not verified. If it holds
 * in one of them, that one counts. An error before it is an error.
 * EXPECT -DHOLDS=0 all vacuous says=assumption
 * EXPECT -DHOLDS=(v==2) all vacuous says=assumption
 * EXPECT -DHOLDS=(v==1) every verified 2
 * EXPECT -DHOLDS=1 every verified 2
 * EXPECT -DHOLDS=0 -DERROR all error kind=assertion
 * EXPECT -DHOLDS=0 -DRACES --data-races=allow all vacuous says=assumption
 */
#include <assert.h>
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static int plain;

static void *work(void *arg)
{
    atomic_store(&x, 1);
#ifdef RACES
    plain = 1;
#endif
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    int v = atomic_load(&x);
#ifdef RACES
    plain = 2;
#endif
#ifdef ERROR
    assert(v == 0);
#endif
    (void)plain, (void)v;
    mz_assume(HOLDS);
    pthread_join(t, NULL);
    return 0;
}
