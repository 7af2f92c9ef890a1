/* Peterson's algorithm: mutual exclusion of two threads with loads and stores only.
 * EXPECT all verified
 * EXPECT -DTURN_FIRST all error kind=data-race
 * EXPECT -DNO_TURN all error kind=livelock
 * EXPECT -DRELAXED all error kind=data-race
 */
#include "classic.h"

#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static _Atomic int wants[2], turn;

static void lock(int me)
{
    int other = 1 - me;
#ifdef TURN_FIRST
    atomic_store_explicit(&turn, other, ORDER);
    atomic_store_explicit(&wants[me], 1, ORDER);
#else
    atomic_store_explicit(&wants[me], 1, ORDER);
#ifndef NO_TURN
    atomic_store_explicit(&turn, other, ORDER);
#endif
#endif
#ifdef NO_TURN
    while (atomic_load_explicit(&wants[other], ORDER))
        ;
#else
    while (atomic_load_explicit(&wants[other], ORDER) && atomic_load_explicit(&turn, ORDER) == other)
        ;
#endif
}

static void *work(void *me)
{
    lock((int)(intptr_t)me);
    entered(1);
    atomic_store_explicit(&wants[(intptr_t)me], 0, ORDER);
    return NULL;
}

int main(void)
{
    run_threads(2, work);
    assert(entered(0) == 2);
    return 0;
}
