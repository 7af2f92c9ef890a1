/* Going back: to a node of the path, to the start of the path, or to the beginning of the search. Everything
 * derived from the events taken back goes with them (mz_trace_rewind). What stays on the path is not computed
 * again. */
#include <string.h>
#include "engine/frontier.h"
#include "engine/reduction.h"
#include "engine/strategy.h"
#include "engine/stateful/stateful.h"

void mz_rewind_to(struct mz_exploration *x, uint32_t k)
{
    mz_trace_rewind(&x->trace, k, x->nodes[k].mark);
    x->joining = 0;
    x->path.steps[k] = x->nodes[k].step;
    x->path.replay = x->path.back = k;
    x->path.live = false;
    x->nodes[k].before = mz_tally_of(&x->counters);
    if (mz_unlikely(x->frontier->rewound != NULL)) x->frontier->rewound(x, k);
}

void mz_rewind_all(struct mz_exploration *x)
{
    for (uint32_t k = x->kept; k <= x->path.depth; k++) mz_wakeup_clear(&x->trace, &x->nodes[k].wakeup);
    mz_trace_clear(&x->trace);
    x->joining = 0;
    x->path.replay = x->path.back = 0;
    x->path.live = true;
    x->trace.outdated = false;
}

void mz_start_over(struct mz_exploration *x)
{
    struct mz_counters *c = &x->counters;
    x->kept = 0;
    mz_rewind_all(x);
    c->executions = c->blocked = c->cut = c->transitions = 0;
    c->races = c->max_depth = 0;
    c->states = c->revisited = c->matches = c->peeks = 0;
    c->restarts++;
    c->work_done = 0;
    memset(&x->hot, 0, sizeof x->hot);
    if (x->stateful) mz_stateful_clear(x);
    if (x->sampling) mz_sampling_clear(x);
    if (x->bounded) mz_bounded_clear(x);
    if (x->frontier->cleared) x->frontier->cleared(x);
}
