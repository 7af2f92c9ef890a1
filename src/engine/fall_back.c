/* When there is no more memory for wakeup trees, the search goes on with `source` instead of `optimal`.
 *
 * mz_fall_back() gives each node of the path a backtrack set: the threads of its explored branches, of its
 * current branch, and of the first steps of its wakeup tree, which is dropped. Sleep sets stay, so no
 * explored branch is explored again. `source` has not seen the races of the path yet: it looks at them by its
 * own rule. From then on the search is that of `source` alone.
 *
 * Why nothing is lost. Suppose that the search leaves node E of the path, and that a maximal execution E.w
 * has not been explored. Let S be the set of threads that are asleep at E or were explored from E: none of
 * them is in WI(w). Choose the m in S that is independent of the longest prefix w' of w. Let q be the event
 * after w' in w: q conflicts with m.
 *
 *   m explored from E      E.m.w'.q.z has been explored, for some z. (Below E.m it is left out only if a step that is
 *                          asleep there can come first in w'.q. That step is in S, and is in WI(w) or independent of
 *                          more than w'.) So the search has looked at the race of m and q, before or after the
 *                          change. Either way, a member of S can now come first in w'.q: an element of the sleep set,
 *                          the first step of the branch of E's wakeup tree that took in v, or an initial. That member
 *                          is in WI(w), or independent of more than w'.
 *   m inherited, asleep    `optimal` explored m from a node E'' above, with E = E''.u. It explored m.u.w'.q.z there,
 *                          and the race of m and q led to a branch of the wakeup tree of E'' that u follows. As m is
 *                          asleep at E, u has not reached the leaf of that branch: E had a branch for w'.q.
 *
 * Both contradict the choice of w and m. Below nodes that are new, Theorem 5.2 (2017) for source holds.
 * tests/random checks this with changes at random times (optimal-source). */
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
    n->done = 0; /* explored branches are in the sleep set */
    n->choices = e->choices & ~mz_bit(e->choice);
    n->mark.races = 0;
}

bool mz_can_fall_back(const struct mz_exploration *x)
{
    return x->reduction->fall_back && x->frontier->may_fall_back &&
           (!x->options.memory_limit || mz_path_memory(x) <= x->options.memory_limit);
}

/* Called when the execution has ended, before all of its races have been looked at. */
void mz_fall_back(struct mz_exploration *x)
{
    uint32_t races = x->trace.race_count;
    for (uint32_t k = 0; k < x->path.depth; k++) convert(x, k);
    x->nodes[x->path.depth].wakeup = 0;
    mz_wakeup_drop_all(&x->trace);
    x->counters.fell_back = x->counters.executions + x->counters.cut;
    x->reduction = x->reduction->fall_back;
    x->ending = MZ_ENDING_MAXIMAL;
    x->counters.races -= races; /* event() counts them again */
    x->reduction->event(x, 0, races);
    x->reduction->end(x);
}
