/* Dynamic partial-order reduction, 2005: Fig. 3 with the set E of line 5, clocks as in Fig. 4 and 5 but exact
 * for reads and writes (only the accesses that conflict are dependent), and, unless switched off, sleep sets.
 *
 * At every new state, for every thread p, enabled or not (line 3), the last event that is dependent with
 * p's next operation, may be co-enabled with it and does not happen before p (line 4) gets a backtracking
 * point. */
#include "reduction.h"

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_default_step(x, k);
    if (step.thread != MZ_NOBODY) x->nodes[k].backtrack = mz_bit(step.thread);
    return step;
}

/* Lines 5-7. q in E: enabled before event i, and q = p or an event of q after i happens before p. */
static void add_backtrack(struct mz_exploration *x, int p, mz_number i)
{
    struct mz_node *n = &x->nodes[i - 1];
    const uint32_t *clock = mz_clock_at(x, x->thread_clock[p]);
    uint64_t set = n->enabled & mz_bit(p);
    for (uint64_t t = n->enabled; t; t &= t - 1)
        if (clock[__builtin_ctzll(t)] > i) set |= t & -t;
    if (!set)
        n->backtrack |= n->enabled;
    else if (!(set & n->backtrack))
        n->backtrack |= set & mz_bit(p) ? mz_bit(p) : set & -set;
}

/* Line 4: for all threads p, at each new state. */
static void pending(struct mz_exploration *x, int p)
{
    if (x->options.refresh) x->options.refresh(x->options.system, p);
    mz_number i = mz_dependence_last(x, p);
    if (i) add_backtrack(x, p, i);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    x->counters.races += races;
    x->race_count -= races;
}

static void end(struct mz_exploration *x) { (void)x; }

const struct mz_reduction mz_reduction_dpor = {
    "dpor", true, enter, event, pending, end, mz_next_in_backtrack};
