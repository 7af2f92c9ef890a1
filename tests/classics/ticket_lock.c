/* A ticket lock: served in the order in which the tickets were drawn.
 * EXPECT all verified
 * EXPECT -DN=3 all verified
 * EXPECT -DTORN all error
 * EXPECT -DRELAXED all error kind=data-race
 */
#include "classic.h"

static _Atomic unsigned next, serving;

static void *work(void *unused)
{
#ifdef TORN
    unsigned mine = next;
    next = mine + 1;
#else
    unsigned mine = atomic_fetch_add(&next, 1);
#endif
#ifdef RELAXED
    while (atomic_load_explicit(&serving, memory_order_relaxed) != mine)
        ;
#else
    while (serving != mine)
        ;
#endif
    entered(1);
    serving = mine + 1;
    return unused;
}

int main(void)
{
    run_threads(N, work);
    assert(entered(0) == N);
    return 0;
}
