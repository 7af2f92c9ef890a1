/* No reduction, but no state twice: from every state, everything that is enabled. */
#include "reduction.h"
#include "stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k) { return x->nodes[k].enabled; }

const struct mz_reduction mz_reduction_stateful = {"stateful",        false,   mz_stateful_enter,
                                                   mz_stateful_event, NULL,    mz_stateful_end,
                                                   mz_stateful_next,  threads, false};
