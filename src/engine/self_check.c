/* Checks the data of the engine once, when the search is complete and before the result is reported. The
 * engine lives in the memory of the tested program, so a stray write of the program may have changed it. The
 * checks compare the path, the journal and the wakeup trees with each other, and cost nothing during the
 * search. */
#include "engine/exploration.h"

static bool is_event_whole(const struct mz_exploration *x, const struct mz_event *e)
{
    return e->thread < MZ_MAX_THREADS && e->op < MZ_OP_COUNT && e->object < x->trace.object_count + 1 &&
           e->clock < x->trace.clock_count + 1;
}

/* Along the path, the marks of the journal and of the races never decrease, and each event is of the thread
 * that its node has chosen. */
static bool are_nodes_whole(const struct mz_exploration *x)
{
    uint32_t journal = 0, races = 0;
    for (uint32_t k = 0; k < x->path.depth; k++) {
        const struct mz_node *n = &x->nodes[k];
        if (n->mark.journal < journal || n->mark.journal > x->trace.journal_count) return false;
        if (n->mark.races < races || n->mark.races > x->trace.race_count) return false;
        if (!is_event_whole(x, &x->trace.events[k]) || x->trace.events[k].thread != n->step.thread)
            return false;
        journal = n->mark.journal;
        races = n->mark.races;
    }
    return true;
}

static bool are_branches_left(const struct mz_exploration *x)
{
    for (uint32_t k = 0; k < x->path.depth; k++)
        if (x->nodes[k].wakeup) return true;
    return x->trace.wakeup.live != 0;
}

/* Return NULL, or what is damaged. Call this only when the search is complete. */
const char *mz_explore_damage(const struct mz_exploration *x)
{
    if (x->path.depth > x->trace.capacity) return "the path";
    if (!x->stateful && !x->options.share && !are_nodes_whole(x)) return "the nodes of the path";
    if (!x->options.share && are_branches_left(x)) return "the wakeup trees: there are branches left";
    if (x->counters.operations < x->counters.transitions) return "the counters";
    return NULL;
}
