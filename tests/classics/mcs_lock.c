/* The lock of Mellor-Crummey and Scott: a queue of nodes, each thread spins on its own.
 * EXPECT all verified
 * EXPECT -DN=3 all verified
 * EXPECT -DNO_WAIT all error
 * EXPECT -DRELAXED all error kind=data-race
 */
#include "classic.h"

struct node {
    struct node *_Atomic next;
    _Atomic bool waits;
};
static struct node *_Atomic tail;

#ifdef RELAXED
#define PASS memory_order_relaxed
#else
#define PASS memory_order_release
#endif

static void lock(struct node *n)
{
    atomic_store(&n->next, NULL);
    atomic_store(&n->waits, true);
    struct node *before = atomic_exchange(&tail, n);
    if (!before) return;
    atomic_store(&before->next, n);
    while (atomic_load(&n->waits))
        ;
}

static void unlock(struct node *n)
{
    struct node *expected = n;
    if (!atomic_load(&n->next)) {
        if (atomic_compare_exchange_strong(&tail, &expected, NULL)) return;
#ifdef NO_WAIT
        return; /* the one behind us is not there yet, and nobody will wake it */
#endif
        while (!atomic_load(&n->next))
            ;
    }
    atomic_store_explicit(&atomic_load(&n->next)->waits, false, PASS);
}

static void *work(void *me)
{
    static struct node nodes[N];
    lock(&nodes[(intptr_t)me]);
    entered(1);
    unlock(&nodes[(intptr_t)me]);
    return NULL;
}

int main(void)
{
    run_threads(N, work);
    assert(entered(0) == N);
    return 0;
}
