/* The lock of Craig, Landin and Hagersten: each thread spins on the node of the one before it, and takes
 * that node over afterwards.
 * EXPECT all verified
 * EXPECT -DROUNDS=2 all verified
 * EXPECT -DN=3 all verified
 * EXPECT -DROUNDS=2 -DOWN_NODE all error kind=livelock
 */
#include "classic.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif

struct node {
    _Atomic bool locked;
};
static struct node first, own[N];
static struct node *_Atomic tail = &first;

static void *work(void *me)
{
    struct node *mine = &own[(intptr_t)me];
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&mine->locked, true);
        struct node *before = atomic_exchange(&tail, mine);
        while (atomic_load(&before->locked))
            ;
        entered(1);
        atomic_store(&mine->locked, false);
#ifndef OWN_NODE /* the next one may still be looking at it */
        mine = before;
#endif
    }
    return NULL;
}

int main(void)
{
    run_threads(N, work);
    assert(entered(0) == N * ROUNDS);
    return 0;
}
