/* How much memory the search uses, and whether that is too much. */
#include "engine/exploration.h"

uint64_t mz_path_memory(const struct mz_exploration *x)
{
    return x->path_bytes + x->trace.object_count * sizeof *x->trace.objects;
}

uint64_t mz_explore_trees(const struct mz_exploration *x)
{
    return (uint64_t)x->trace.wakeup.count * sizeof *x->trace.wakeup.nodes;
}

uint64_t mz_search_memory(struct mz_exploration *x)
{
    const struct mz_trace *tr = &x->trace;
    const struct mz_node *last = &x->nodes[x->path.depth];
    uint64_t per_step = sizeof(struct mz_event) + sizeof(struct mz_brief) + sizeof(struct mz_node) +
                        sizeof(struct mz_step) + sizeof(mz_number) + sizeof *tr->sequence.elems +
                        3 * sizeof(uint32_t);
    uint64_t now = x->path.depth * per_step +
                   (uint64_t)tr->clock_count * (MZ_MAX_THREADS * sizeof *tr->clocks + sizeof *tr->recent) +
                   (uint64_t)(last->sleep_start + last->sleep_count) * sizeof *x->sleep +
                   (uint64_t)tr->journal_count * sizeof *tr->journal +
                   (uint64_t)tr->race_count * sizeof *tr->races;
    if (now > x->path_bytes) x->path_bytes = now;
    return mz_path_memory(x) + mz_explore_trees(x);
}

bool mz_explore_full(struct mz_exploration *x)
{
    uint64_t limit = x->options.memory_limit;
    if (mz_unlikely(x->options.full != NULL) && x->options.full(x->options.system)) return true;
    return (limit && mz_search_memory(x) > limit) ||
           x->trace.wakeup.count + x->trace.capacity > MZ_WAKEUP_NODES;
}
