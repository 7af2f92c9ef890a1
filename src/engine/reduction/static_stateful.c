/* Static partial-order reduction with a table of states, as in 2005, Fig. 6 and 8. The proviso for cycles is T1 of
 * stateful.h: from a state that lies on a cycle of the explored graph, all enabled threads are explored. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k)
{
    return x->stateful->marks[k].cyclic ? x->nodes[k].enabled : x->nodes[k].persistent;
}

const struct mz_reduction mz_reduction_static_stateful = {
    .stateful = true,
    .sleeps_with_states = true,
    .only_persistent_sets = true,
    .enter = mz_stateful_enter,
    .event = mz_stateful_event,
    .end = mz_stateful_end,
    .next = mz_stateful_next,
    .threads = threads,
};
