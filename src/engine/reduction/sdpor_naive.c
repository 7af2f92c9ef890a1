/* The combination of DPOR and a table of states that 2008, section 4.2, warns of: the search stops at a visited
 * state, and nothing is done about it. It is here to be compared with.
 *
 * It may miss executions: what follows the visited state may need backtracking points on the path that led there, and no
 * event of that future is seen. tests/random/corpus/sdpor-naive.model is such a program. So a complete search with this
 * algorithm proves nothing, and its verdict is never `verified` (algorithm.def). */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    return n->done ? n->backtrack : mz_bit(mz_stateful_pick(x, n->enabled));
}

const struct mz_reduction mz_reduction_sdpor_naive = {
    .stateful = true,
    .enter = mz_stateful_enter,
    .event = mz_dpor_event,
    .pending = mz_dpor_pending,
    .end = mz_stateful_end,
    .next = mz_stateful_next,
    .threads = threads,
};
