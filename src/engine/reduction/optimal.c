/* Optimal-DPOR: 2017, Algorithm 2, with blocking as in Algorithms 4 and 6.
 *
 * The lines of Algorithm 2: 9-13 enter; 2-7 end -> reverse; 15-21 mz_take_branch. Races are looked at only
 * when the execution is complete, because v must hold all events that do not happen after e (line 5).
 *
 * Every execution that shares the path up to the second event of a race sees this race, each with another v.
 * The race has to be looked at each time: for another v, another branch of the tree may have to take it in.
 * The answer is the same for all these executions only if it comes from the core of v: e' and the events
 * before e'. Then the race is settled. This is so if an element of sleep(E') is an initial of the core, or if
 * a whole branch of the tree, down to its leaf, consists of steps of the core. (It is not enough that the
 * first steps of a branch are in the core, nor to look only at new races: both lose executions, see
 * tests/random/corpus.)
 *
 * Algorithm 6, lines 8-15, for operations that wait: as in source.c, these are races with a set of first events, and
 * v = u.p is notdep of that set, and p. The leaf for v has the events of u that p needs: those that conflict with p, and
 * what happens before them. So p is enabled after them.
 *
 * No execution is ever blocked by a sleep set (Theorem 7.13): that is asserted, not counted. */
#include "engine/reduction.h"

/* Lines 9-13 */
static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    if (mz_take_branch(x, k)) {
        struct mz_step step = x->nodes[k].step;
        bool ready = x->nodes[k].enabled & mz_bit(step.thread) &&
                     x->view->pending[step.thread].choices & mz_bit(step.choice);
        return ready ? step : mz_unforeseen(x);
    }
    if (x->nodes[k].sleep_count) return mz_unforeseen(x); /* Lemma 7.1 (2) */
    x->nodes[k + 1].wakeup = 0;
    return mz_default_step(x, k);
}

/* Algorithm 6 for choices: taking one of them disables the others. */
static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    x->counters.races += races;
    if (!n) return;
    const struct mz_event *e = mz_event_at(&x->trace, n);
    uint8_t foreseen = x->nodes[n - 1].foreseen;
    if (x->options.strict && foreseen && !x->trace.outdated && foreseen != e->access + 1)
        MZ_BUG("an event does not have the access that the wakeup tree foresaw");
    for (uint64_t c = e->choices & ~mz_bit(e->choice); c; c &= c - 1) {
        struct mz_race *r = mz_race_new(&x->trace);
        r->first = n;
        r->split = n + 1;
        r->last = mz_elem_of(e);
        r->before = e->before;
        r->last.choice = (uint8_t)__builtin_ctzll(c);
    }
}

/* Lines 4-7: E' = node first - 1, v = notdep(e, E).e'. Return whether the race is settled. Check the memory
 * before each sequence: together, sequences can be many times as long as the path. */
static bool reverse(struct mz_exploration *x, const struct mz_race *race)
{
    uint32_t k = race->first - 1;
    if (mz_unlikely(mz_explore_full(x))) {
        x->ending = MZ_ENDING_MEMORY;
        return false;
    }
    enum mz_cover cover = mz_covered(x, k, race);
    if (cover == MZ_UNCOVERED) {
        mz_sequence_build(&x->trace, race);
        cover = mz_sleep_covers(x, k, &x->trace.sequence); /* line 6 */
        if (cover == MZ_UNCOVERED) cover = mz_want_sequence(x, k);
    }
    return cover == MZ_SETTLED;
}

static void end(struct mz_exploration *x)
{
    MZ_ASSERT(x->ending == MZ_ENDING_MAXIMAL);
    mz_cover_begin(x);
    for (uint32_t i = 0; i < x->trace.race_count && x->ending == MZ_ENDING_MAXIMAL; i++)
        if (!x->trace.races[i].settled) x->trace.races[i].settled = reverse(x, &x->trace.races[i]);
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1)
        for (uint32_t n = mz_blocked_races(x, __builtin_ctzll(t)); n > 0; n--)
            reverse(x, &x->trace.races[--x->trace.race_count]);
}

/* Lines 15-16, 20-21 */
static bool next(struct mz_exploration *x, uint32_t k) { return mz_take_branch(x, k); }

const struct mz_reduction mz_reduction_optimal = {
    .uses_wakeup_trees = true,
    .uses_races = true,
    .fall_back = &mz_reduction_source,
    .enter = enter,
    .event = event,
    .end = end,
    .next = next,
};
