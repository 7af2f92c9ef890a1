/* Source-DPOR: 2017, Algorithm 1, with blocking as in Algorithms 3 and 5.
 *
 * The lines of Algorithm 1: 2-3 enter; 5-9 event -> reverse; 10-12 sleep_set.c and exhaustive.c. The operations
 * of blocked threads are examined at the end of the execution instead of at every state: a blocked operation
 * either happens later, and its races are found then, or it is still blocked at the end.
 *
 * Algorithm 5, lines 2-10: a race of a blocked operation p has first events that u lacks (trace/race.h), and u is all of
 * notdep without what happens after them. For operations on one object dependence.c and rwlock.c find these races, for awaits
 * trace/await.c, which says why the subsequences that it leaves out are not needed. All of them are in event() and end()
 * like any other race. A race that is found later than in the paper has the same E' and u: the events between are writers,
 * which u lacks, or no writers, which change nothing for p. */
#include "engine/reduction.h"

/* Line 9: some q in I(v). The second event's thread if that event can come first; else, of the threads that must go before it,
 * the one that options.order tries first. */
static int some_initial(struct mz_exploration *x, const struct mz_race *race)
{
    if (mz_last_is_initial(&x->trace, race)) return race->last.thread;
    uint64_t before = mz_persistent_initials(x, race);
    MZ_ASSERT(before);
    return mz_pick_thread(x, race->first - 1, before, -1);
}

static uint64_t all_initials(const struct mz_exploration *x, const struct mz_race *race)
{
    uint64_t set = 0;
    for (uint32_t t = 0; t < x->trace.lanes; t++)
        if (mz_is_initial(&x->trace, race, (int)t)) set |= mz_bit((int)t);
    return set;
}

/* Lines 6-9, with E' = node first - 1 and v = notdep(e, E).p */
static void reverse(struct mz_exploration *x, const struct mz_race *race)
{
    uint32_t k = race->first - 1;
    for (uint64_t b = x->nodes[k].backtrack; b; b &= b - 1)
        if (mz_is_initial(&x->trace, race, __builtin_ctzll(b))) {
            mz_want(x, k, b & -b, b & -b);
            return;
        }
    uint64_t add = mz_bit(some_initial(x, race));
    mz_want(x, k, all_initials(x, race) | add, add);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    for (uint32_t i = x->trace.race_count - races; i < x->trace.race_count; i++)
        reverse(x, &x->trace.races[i]);
    x->counters.races += races;
    x->trace.race_count -= races;
}

static void end(struct mz_exploration *x)
{
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1)
        for (uint32_t n = mz_blocked_races(x, __builtin_ctzll(t)); n > 0; n--)
            reverse(x, &x->trace.races[--x->trace.race_count]);
}

const struct mz_reduction mz_reduction_source = {
    .uses_backtrack_sets = true,
    .uses_races = true,
    .enter = mz_enter_alone,
    .event = event,
    .end = end,
    .next = mz_next_in_backtrack,
};
