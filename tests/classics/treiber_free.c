/* Treiber's stack with nodes from the heap that are freed when they are taken off: another thread may be
 * about to look at the freed node. With addresses that come back (--heap=reuse) its compare-exchange may even
 * succeed. Freed only at the end, all is well.
 * EXPECT all verified
 * EXPECT --heap=reuse all verified
 * EXPECT -DFREE all error
 * EXPECT --heap=reuse -DFREE all error
 */
#include "classic.h"

struct node {
    struct node *_Atomic below;
};
static struct node *_Atomic top;
static struct node *taken[2];

static void push(void)
{
    struct node *n = malloc(sizeof *n), *old = top;
    do n->below = old;
    while (!atomic_compare_exchange_strong(&top, &old, n));
}

static void *work(void *me)
{
    struct node *old = top;
    while (old && !atomic_compare_exchange_strong(&top, &old, old->below))
        ;
#ifdef FREE
    free(old);
#else
    taken[(intptr_t)me] = old;
#endif
    push();
    return NULL;
}

int main(void)
{
    push();
    push();
    run_threads(2, work);
    for (struct node *n = top, *below; n; n = below) {
        below = n->below;
        free(n);
    }
    free(taken[0]);
    free(taken[1]);
    return 0;
}
