/* Rounding mode and exception flags belong to a thread, which inherits them from its creator, and are
 * those of the start in every execution.
 * EXPECT every verified 2
 * EXPECT -DBROKEN all error kind=assertion
 * OPTIONS -Wl,--no-as-needed -lm
 */
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;
static volatile double zero;

static void *work(void *arg)
{
    assert(fegetround() == FE_DOWNWARD);
    fesetround(FE_UPWARD);
    atomic_fetch_add(&x, 1);
    assert(fegetround() == FE_UPWARD && !fetestexcept(FE_DIVBYZERO));
    return arg;
}

int main(void)
{
    pthread_t a;
    assert(fegetround() == FE_TONEAREST && !fetestexcept(FE_DIVBYZERO));
    fesetround(FE_DOWNWARD);
    pthread_create(&a, NULL, work, NULL);
    volatile double infinite = 1 / zero;
    (void)infinite;
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
#ifdef BROKEN
    assert(fegetround() == FE_UPWARD);
#else
    assert(fegetround() == FE_DOWNWARD && fetestexcept(FE_DIVBYZERO));
#endif
    return 0;
}
