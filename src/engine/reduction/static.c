/* Static partial-order reduction, the baseline of 2005, section 5: from every state, a persistent set that is computed from
 * what each thread may still do (persistent.c), and nothing that has been learned from the execution. With sleep sets if
 * asked for: Godefroid 1996 combines the two. */
#include "engine/reduction.h"

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    x->nodes[k].backtrack = x->nodes[k].persistent;
    return mz_default_step_of(x, k, x->nodes[k].persistent);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    x->trace.race_count -= races;
}

static void end(struct mz_exploration *x) { (void)x; }

const struct mz_reduction mz_reduction_static_ = {
    .uses_backtrack_sets = true,
    .only_persistent_sets = true,
    .enter = enter,
    .event = event,
    .end = end,
    .next = mz_next_in_backtrack,
};
