/* The frontier that the nodes of the path keep themselves (frontier.h), and taking branches from wakeup trees. */
#include "engine/frontier.h"
#include "engine/reduction.h"

const struct mz_frontier mz_frontier_own = {.may_fall_back = true};

bool mz_take_own_branch(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    struct mz_elem first;
    if (!n->wakeup) return false;
    x->nodes[k + 1].wakeup = mz_wakeup_pop(&x->trace, &n->wakeup, &first);
    n->step = (struct mz_step){.thread = first.thread, .choice = first.choice};
    n->foreseen = first.access + 1;
    return true;
}
