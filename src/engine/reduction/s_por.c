/* Safe set partial-order reduction: 2023, Algorithm 1.
 *
 * safeSet(s) is one thread whose step is invisible, if there is one, else all that are enabled. Invisible are
 * choices, and operations on objects that no other thread ever uses. The paper takes that from the text of
 * the program; here it is assumed of every object until a second thread is about to use it. If the assumption
 * had been relied on by then, the search starts over (which is rarely needed: the first execution shows most
 * of what is shared).
 *
 * The paper assumes that there are no cycles. With them a thread could be put off for ever: while thread p
 * goes round a loop of invisible steps, nothing of the others would be explored
 * (tests/random/corpus/ignored.model). So a step that leads back to a state on the path is not enough: then
 * everything is explored. */
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
