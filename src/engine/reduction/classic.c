/* Dynamic partial-order reduction as it was evaluated in 2005: Fig. 5, to the letter.
 *
 * Where `dpor` (dpor.c) is more exact, this is what the paper has:
 *  - all accesses to an object are dependent, reads and failed operations too (section 4.2), so L(o) is one event;
 *  - a thread that is not enabled before that event adds all threads that are (line 7), not one of the set E;
 *  - there are no sleep sets unless they are asked for.
 *
 * The lines of Fig. 5: 3-8 pending; 10-11 mz_enter_alone; 13 mz_next_in_backtrack; 14.2-14.5 trace/dependence.c, where
 * mz_dependence_last() is L(alpha(next(s, p))) if it does not happen before p.
 *
 * With sleep sets Fig. 5 may miss executions, for the reason told in dpor.c (tests/random/corpus/classic-asleep.model):
 * the verdict is then never `verified` (algorithm.def: AWAKE). */
#include "engine/reduction.h"

/* Lines 5-7, for S_i */
static void add_backtrack(struct mz_exploration *x, int p, mz_number i)
{
    uint64_t enabled = x->nodes[i - 1].persistent;
    if (mz_unlikely(x->options.marks))
        mz_want_marked(x, i - 1, enabled & mz_bit(p));
    else if (enabled & mz_bit(p))
        mz_want(x, i - 1, mz_bit(p), mz_bit(p));
    else
        mz_want(x, i - 1, 0, enabled);
}

/* Lines 3-8 */
static void pending(struct mz_exploration *x, int p)
{
    mz_number i = mz_dependence_last(&x->trace, p, mz_pending_of(x, p));
    if (i) add_backtrack(x, p, i);
}

/* A signal prevents the timeout of the waiter that it wakes. pending() never sees that timeout after the signal,
 * so its race is found here. */
static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    struct mz_trace *tr = &x->trace;
    for (uint32_t i = tr->race_count - races; i < tr->race_count && !n; i++)
        add_backtrack(x, tr->races[i].last.thread, tr->races[i].first);
    x->counters.races += races;
    tr->race_count -= races;
}

static void end(struct mz_exploration *x) { (void)x; }

const struct mz_reduction mz_reduction_classic = {
    .uses_backtrack_sets = true,
    .all_accesses_conflict = true,
    .enter = mz_enter_alone,
    .event = event,
    .pending = pending,
    .end = end,
    .next = mz_next_in_backtrack,
};
