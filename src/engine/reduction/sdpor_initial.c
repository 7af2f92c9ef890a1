/* The initial solution of 2008, section 4.2: DPOR with a table of states; when the search meets a visited state, every
 * enabled thread of every state on the path is to be explored. It is here to be compared with: it misses nothing, but
 * `sdpor` needs fewer backtracking points.
 *
 * Why it is sound (T1 and T2 of stateful.h). A state on a cycle of the explored graph leads to a visited state, and so gets
 * all of its enabled threads: T1. Of any other state s, let a state below s be met a second time: then all threads of s are
 * explored, which is persistent. If no state below s is met a second time, what is below s is a tree, and the search there
 * is that of `dpor`, whose sets are persistent: T2. A state that was visited before s was is complete by then, or s is on a
 * cycle with it. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    if (!n->done) return mz_bit(mz_stateful_pick(x, n->enabled));
    return x->stateful->marks[k].cyclic ? n->enabled : n->backtrack;
}

static void end(struct mz_exploration *x)
{
    mz_stateful_end(x);
    if (x->ending != MZ_ENDING_VISITED) return;
    for (uint32_t k = 0; k < x->path.depth; k++) x->nodes[k].backtrack |= x->nodes[k].enabled;
}

const struct mz_reduction mz_reduction_sdpor_initial = {
    .stateful = true,
    .enter = mz_stateful_enter,
    .event = mz_dpor_event,
    .pending = mz_dpor_pending,
    .end = end,
    .next = mz_stateful_next,
    .threads = threads,
};
