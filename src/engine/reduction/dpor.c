/* Dynamic partial-order reduction, 2005: Fig. 3 with the set E of line 5, clocks as in Fig. 4 and 5 but exact
 * for reads and writes (only the accesses that conflict are dependent).
 *
 * Without sleep sets this is Fig. 3 to the letter: at every new state, for every thread p, enabled or not
 * (line 3), the last event that is dependent with p's next operation, may be co-enabled with it and does not
 * happen before p (line 4) gets a backtracking point.
 *
 * With --persistent=static, PersistentSet(s) takes the place of enabled(s) in lines 5, 7 and 10 (node.persistent), as the
 * paper says at the end of section 3.
 *
 * With --marks, lines 6 and 7 are the second optimization that the paper describes at the end of section 3
 * (mz_want_marked).
 *
 * With sleep sets that is not enough. The paper looks at the last event only, because earlier ones are found
 * "through the recursion", when the last one has been reversed; but the sleep set may cut short exactly that
 * execution. (Example: a writer of x, and two readers that first read something else. The execution where
 * only the second reader comes before the writer is missed; tests/random/corpus.) So with sleep sets every
 * race gets its backtracking point, as 2017, section 5.1, states the algorithm: some q in I(v) whose first
 * event happens before p's is in backtrack, or is added to it.
 *
 * Eager (options.eager, only with sleep sets): 2007, Fig. 9. Every event that is dependent with p's event gets
 * its backtracking point at once, not only the last one. These are more points than needed, so nothing is lost.
 * They are known earlier, which helps workers that explore different branches without talking to each other. */
#include "engine/reduction.h"

/* ---- without sleep sets: 2005, Fig. 3 ---- */

/* Lines 5-7. q in E: enabled before event i, and q = p or an event of q after i happens before p. */
static void add_backtrack(struct mz_exploration *x, int p, mz_number i, mz_clock before)
{
    const struct mz_node *n = &x->nodes[i - 1];
    const uint32_t *clock = mz_clock_at(&x->trace, before);
    uint64_t set = n->persistent & mz_bit(p);
    for (uint64_t t = n->persistent; t; t &= t - 1)
        if (clock[__builtin_ctzll(t)] > i) set |= t & -t;
    if (mz_unlikely(x->options.marks))
        mz_want_marked(x, i - 1, set & mz_bit(p) ? mz_bit(p) : set);
    else
        mz_want(x, i - 1, set, !set ? n->persistent : set & mz_bit(p) ? mz_bit(p) : set & -set);
}

/* Line 4: for all threads p, at each new state. */
void mz_dpor_pending(struct mz_exploration *x, int p)
{
    if (x->options.sleep_sets) return;
    if (x->options.refresh) x->options.refresh(x->options.system, p);
    mz_number i = mz_dependence_last(&x->trace, p, mz_pending_of(x, p));
    if (i) add_backtrack(x, p, i, x->trace.thread_clock[p]);
}

/* ---- with sleep sets: 2017, section 5.1 ---- */

static void reverse(struct mz_exploration *x, const struct mz_race *race)
{
    uint64_t set = mz_persistent_initials(x, race), last = set & mz_bit(race->last.thread);
    MZ_ASSERT(set);
    mz_want(x, race->first - 1, set, last ? last : set & -set);
}

/* 2007, Fig. 9, lines 6-12, for the dependent events before the last one. */
static void reverse_all(struct mz_exploration *x, const struct mz_race *race)
{
    mz_number i = race->first;
    while ((i = mz_dependence_before(&x->trace, &race->last, race->before, i)))
        add_backtrack(x, race->last.thread, i, race->before);
}

static void reverse_races(struct mz_exploration *x, uint32_t races)
{
    for (uint32_t i = x->trace.race_count - races; i < x->trace.race_count; i++) {
        reverse(x, &x->trace.races[i]);
        if (x->options.eager) reverse_all(x, &x->trace.races[i]);
    }
}

void mz_dpor_event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    if (x->options.sleep_sets) reverse_races(x, races);
    for (uint32_t i = x->trace.race_count - races; i < x->trace.race_count && !x->options.sleep_sets; i++) {
        const struct mz_race *r = &x->trace.races[i];
        if (!n) /* this timeout is never pending after the first event (classic.c) */
            add_backtrack(x, r->last.thread, r->first, x->trace.thread_clock[r->last.thread]);
    }
    x->counters.races += races;
    x->trace.race_count -= races;
}

static void end(struct mz_exploration *x)
{
    if (!x->options.sleep_sets) return;
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1) {
        uint32_t n = mz_blocked_races(x, __builtin_ctzll(t));
        reverse_races(x, n);
        x->trace.race_count -= n;
    }
}

const struct mz_reduction mz_reduction_dpor = {
    .uses_backtrack_sets = true,
    .uses_races = true,
    .enter = mz_enter_alone,
    .event = mz_dpor_event,
    .pending = mz_dpor_pending,
    .end = end,
    .next = mz_next_in_backtrack,
};
