/* Counting executions by the way they ended. */
#include "engine/exploration.h"

void mz_count_execution(struct mz_exploration *x)
{
    struct mz_counters *c = &x->counters;
    if (x->ending == MZ_ENDING_MAXIMAL && x->cut)
        c->cut++;
    else if (x->ending == MZ_ENDING_MAXIMAL)
        c->executions++;
    else if (x->ending == MZ_ENDING_ASLEEP)
        c->blocked++;
    else if (x->ending == MZ_ENDING_VISITED)
        c->revisited++;
    else if (x->ending == MZ_ENDING_PEEKED)
        c->peeks++;
    c->transitions += x->path.depth > x->path.replay ? x->path.depth - x->path.replay : 0;
    c->operations += x->path.depth;
    if (x->path.depth > c->max_depth) c->max_depth = x->path.depth;
}

bool mz_is_cut_short(const struct mz_exploration *x)
{
    switch (x->ending) {
    case MZ_ENDING_MAXIMAL:
    case MZ_ENDING_ASLEEP:
    case MZ_ENDING_VISITED:
    case MZ_ENDING_PEEKED:
        return false;
    default:
        return true;
    }
}
