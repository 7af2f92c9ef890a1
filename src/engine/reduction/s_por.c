/* Safe set partial-order reduction: 2023, Algorithm 1.
 *
 * safeSet(s) is one thread whose step is invisible, if there is one, else all enabled threads. Invisible
 * steps are choices, and operations on objects that no other thread ever uses. The paper finds these objects
 * in the text of the program. Here every object is assumed to be one until a second thread is about to use
 * it. If the search has relied on the assumption by then, it starts over (which is rarely needed: the first
 * execution shows most of what is shared).
 *
 * The paper assumes that there are no cycles. With cycles a thread could be postponed for ever: while thread
 * p goes round a loop of invisible steps, no step of the other threads would be explored
 * (tests/random/corpus/ignored.model). So if the invisible step leads back to a state on the path, all
 * enabled threads are explored. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

static uint64_t threads(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    if (!n->done) { /* Algorithm 1, line 4 */
        uint64_t one = mz_stateful_invisible(x, k);
        return one ? one : n->enabled;
    }
    return x->stateful->marks[k].progress ? n->backtrack : n->enabled;
}

const struct mz_reduction mz_reduction_s_por = {
    .stateful = true,
    .enter = mz_stateful_enter,
    .event = mz_stateful_event,
    .end = mz_stateful_end,
    .next = mz_stateful_next,
    .threads = threads,
};
