/* When there is no more memory for wakeup trees, `optimal` goes on as `source`, from where it is.
 *
 * From here on a node on the path has a backtrack set: the threads of its explored branches, of the current
 * one and of the first steps of its wakeup tree, which is given up. Sleep sets stay as they are, so what is
 * explored is not explored again, and the races of the path, of which source knows nothing yet, are looked at
 * by its rule. What comes later is source's alone.
 *
 * Why nothing is lost. Suppose that node E of the path is left though something maximal, E.w, was not
 * explored: then no thread that is asleep at E or was explored from E (the set S) is in WI(w). Of S take the
 * m for which the longest part w' of w is independent of it; let q be what follows in w, in conflict with m.
 *
 *   m explored from E      E.m.w'.q.z, for some z, has been explored: below E.m, or something asleep there
 *                          can come first in w'.q, which is in S, and is in WI(w) or independent of more
 *                          than w'. So the race of m and q was looked at, before or after the change.
 *                          Either way something in S can now come first in w'.q: an element of the sleep
 *                          set, the first step of the branch of E's wakeup tree that took in v, or an
 *                          initial. It is in WI(w) or independent of more than w'.
 *   m inherited, asleep    m was explored from E'' above, E = E''.u, by optimal. There m.u.w'.q.z was
 *                          explored and the race of m and q led to a branch of the wakeup tree of E'' that
 *                          u follows: as m is asleep at E, it has not come to its leaf, so E had a branch
 *                          for w'.q.
 *
 * Both contradict the choice of w and m. Below nodes that are new, Theorem 5.2 (2017) for source holds.
 * tests/random checks it with changes at random times (optimal-source). */
#include "engine/frontier.h"
#include "engine/reduction.h"

static void convert(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    const struct mz_event *e = &x->trace.events[k];
    n->backtrack = mz_bit(e->thread);
    for (uint32_t i = n->inherited; i < n->sleep_count; i++)
        n->backtrack |= mz_bit(x->sleep[n->sleep_start + i].thread);
    for (uint32_t w = n->wakeup; w; w = x->trace.wakeup.nodes[w].next)
        n->backtrack |= mz_bit(x->trace.wakeup.nodes[w].elem.thread);
    n->wakeup = 0;
    n->done = 0; /* all that was explored is asleep */
    n->choices = e->choices & ~mz_bit(e->choice);
    n->mark.races = 0;
}

bool mz_can_fall_back(const struct mz_exploration *x)
{
    return x->reduction->fall_back && x->frontier->may_fall_back &&
           (!x->options.memory_limit || mz_path_memory(x) <= x->options.memory_limit);
}

/* The execution has ended, not all of its races have been looked at. */
void mz_fall_back(struct mz_exploration *x)
{
    uint32_t races = x->trace.race_count;
    for (uint32_t k = 0; k < x->path.depth; k++) convert(x, k);
    x->nodes[x->path.depth].wakeup = 0;
    mz_wakeup_drop_all(&x->trace);
    x->counters.fell_back = x->counters.executions + x->counters.cut;
    x->reduction = x->reduction->fall_back;
    x->ending = MZ_ENDING_MAXIMAL;
    x->counters.races -= races; /* not twice */
    x->reduction->event(x, 0, races);
    x->reduction->end(x);
}
