/* No reduction: explores all enabled threads from every node. With sleep sets (Godefroid 1996) no two
 * complete executions are equivalent, but a great many are begun and cut short. */
#include "engine/reduction.h"

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    x->nodes[k].backtrack = x->nodes[k].enabled;
    return mz_default_step(x, k);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races) { (void)x, (void)n, (void)races; }

static void end(struct mz_exploration *x) { (void)x; }

const struct mz_reduction mz_reduction_none = {
    .uses_backtrack_sets = true,
    .explores_sources = true,
    .ignores_races = true,
    .enter = enter,
    .event = event,
    .end = end,
    .next = mz_next_in_backtrack,
};
