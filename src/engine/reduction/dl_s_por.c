/* Lazy source set partial-order reduction: 2023, Algorithm 3.
 *
 * Lines 5-8 mz_stateful_enter and go_on (stateful.c); 9-12 the walk itself; 18-32 threads() here, with the
 * current sets from extend_current (lines 26-28) and UpdateBack from source_set.c (line 29).
 *
 * Line 27 in the paper goes through the graph again from s' on, and appendix A is about how to do that
 * seldom. Here the set A is kept with each state, as the number of a set (later_accesses.c), so line 27 is a
 * look-up. Two things of the appendix remain: nothing is computed for the last thread (first disjunct of line
 * 21), and with --order=visited-first the steps that lead to visited states come first.
 *
 * The paper assumes that there are no deadlocks. Here an operation that conflicts but never happens, because
 * it stays blocked, counts too (tests/random/corpus/blocked-counts.model), and so does a timeout that a
 * signal prevents. The paper also assumes that there are no cycles: on a cycle, line 27 would look at an
 * incomplete graph, so all enabled threads are explored there. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

uint64_t mz_source_set_threads(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    const struct mz_mark *m = &x->stateful->marks[k];
    if (!n->done) {
        uint64_t one = mz_stateful_invisible(x, k);
        return one ? one : mz_bit(mz_stateful_first(x, k));
    }
    if (m->single) return m->progress ? n->backtrack : n->enabled;
    return m->cyclic ? n->enabled : mz_update_back(x, k);
}

const struct mz_reduction mz_reduction_dl_s_por = {
    .stateful = true,
    .uses_later_accesses = true,
    .enter = mz_stateful_enter,
    .event = mz_stateful_event,
    .end = mz_stateful_end,
    .next = mz_stateful_next,
    .threads = mz_source_set_threads,
};
