/* No reduction, but no state is explored twice: explores all enabled threads from every state. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k) { return x->nodes[k].enabled; }

const struct mz_reduction mz_reduction_stateful = {
    .stateful = true,
    .sleeps_with_states = true,
    .enter = mz_stateful_enter,
    .event = mz_stateful_event,
    .end = mz_stateful_end,
    .next = mz_stateful_next,
    .threads = threads,
};
