/* Eager source set partial-order reduction: 2023, Algorithm 2.
 *
 * As DL-S-POR, but threads that conflict with a step on the path are noted at once: when an operation happens
 * (line 11, event), is blocked (pending), or is known to follow a visited state (lines 16-17, end).
 * UpdateBack (line 13) is the same.
 *
 * Line 20 of the paper looks for the *last* transition on the path that is dependent. This is not enough even
 * in programs without cycles and deadlocks: if that transition always comes before the operation that depends
 * on it, the race with an earlier one is never seen (tests/random/corpus/last-dependent.model). So all
 * dependent transitions are updated, as appendix A demands for visited states anyway. */
#include "engine/reduction.h"
#include "engine/stateful/stateful.h"

/* Lines 18-22. */
static void update_current(struct mz_exploration *x, const struct mz_elem *a)
{
    for (uint32_t k = 0; k < x->path.depth; k++) {
        struct mz_elem e = mz_elem_of(&x->trace.events[k]);
        if (e.thread != a->thread && mz_conflict(&x->trace, &e, a))
            x->stateful->marks[k].raw |= mz_bit(a->thread);
    }
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    x->trace.race_count -= races;
    if (!n) return;
    struct mz_elem e = mz_elem_of(mz_event_at(&x->trace, n));
    if (e.object) update_current(x, &e);
}

static void pending(struct mz_exploration *x, int thread)
{
    const struct mz_mark *m = &x->stateful->marks[x->path.depth];
    if ((x->view->enabled | m->sleeping) & mz_bit(thread)) return;
    struct mz_elem e = mz_blocked_entry(x, thread, m->blocked_on[thread]);
    update_current(x, &e);
}

static void end(struct mz_exploration *x)
{
    mz_stateful_end(x);
    if (x->ending != MZ_ENDING_VISITED) return;
    uint32_t count;
    const struct mz_elem *entries =
        mz_future_entries(x->stateful->futures, x->stateful->child.future, &count);
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].op != MZ_OP_WOKEN) update_current(x, &entries[i]);
}

const struct mz_reduction mz_reduction_de_s_por = {
    .stateful = true,
    .uses_later_accesses = true,
    .notes_conflicts_early = true,
    .enter = mz_stateful_enter,
    .event = event,
    .pending = pending,
    .end = end,
    .next = mz_stateful_next,
    .threads = mz_source_set_threads,
};
