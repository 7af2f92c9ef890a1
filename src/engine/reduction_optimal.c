/* Optimal-DPOR: 2017, Algorithm 2, with blocking as in Algorithms 4 and 6.
 *
 * The lines of Algorithm 2: 9-13 enter; 2-7 end -> reverse; 15-21 next. Races are looked at only when the
 * execution is complete, because v must hold all that does not happen after e (line 5).
 *
 * A race is seen in every execution that shares the path up to its second event, each time with another v,
 * and has to be looked at each time: with another v, another branch of the tree may have to take it in. Only
 * when the answer comes from the core of v, that is from e' and what comes before it, it is the same for all
 * of them, and the race is settled: when an element of sleep(E') is an initial of the core, or when a whole
 * branch of the tree, down to its leaf, consists of steps of the core. (That the first steps of a branch do
 * is not enough, and neither is it to look only at new races: both lose executions, see tests/random/corpus.)
 *
 * No execution is ever blocked by a sleep set (Theorem 7.13): that is asserted, not counted. */
#include "reduction.h"

static void take_branch(struct mz_exploration *x, uint32_t k)
{
    struct mz_elem first;
    if (mz_unlikely(x->tree_log)) mz_tree_log_follow(x, x->wakeup[x->nodes[k].wakeup].order);
    x->nodes[k + 1].wakeup = mz_wakeup_pop(x, &x->nodes[k].wakeup, &first);
    x->nodes[k].step = (struct mz_step){first.thread, first.choice};
    x->nodes[k].foreseen = first.access + 1;
    if (mz_in_batch(x, k)) mz_share_taken(x, k, x->nodes[k + 1].wakeup);
}

/* Lines 9-13 */
static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    if (mz_in_batch(x, k)) mz_share_pass(x, k);
    if (x->nodes[k].wakeup) {
        take_branch(x, k);
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
    const struct mz_event *e = mz_event_at(x, n);
    uint8_t foreseen = x->nodes[n - 1].foreseen;
    if (x->options.strict && foreseen && !x->restart && foreseen != e->access + 1)
        MZ_BUG("an event does not have the access that the wakeup tree foresaw");
    for (uint64_t c = e->choices & ~mz_bit(e->choice); c; c &= c - 1) {
        struct mz_race *r = mz_race_new(x);
        r->first = n;
        r->split = n + 1;
        r->last = mz_elem_of(e);
        r->before = e->before;
        r->last.choice = (uint8_t)__builtin_ctzll(c);
    }
}

/* Lines 4-7: E' = node first - 1, v = notdep(e, E).e'. Is the race settled? Room is looked for before each
 * sequence: together they can be many times as long as the path. */
static bool reverse(struct mz_exploration *x, const struct mz_race *race)
{
    uint32_t k = race->first - 1;
    if (mz_unlikely(mz_explore_full(x))) {
        x->ending = MZ_ENDING_MEMORY;
        return false;
    }
    /* Whoever records the search wants to know the leaf. */
    enum mz_cover cover = mz_likely(!x->tree_log) ? mz_covered(x, k, race) : MZ_UNCOVERED;
    if (cover != MZ_UNCOVERED) return cover == MZ_SETTLED;
    mz_sequence_build(x, race);
    if (mz_unlikely(k < x->share.root)) return mz_share_reverse(x, k);
    cover = mz_sleep_covers(x, k, &x->sequence);
    if (cover != MZ_UNCOVERED) return cover == MZ_SETTLED;
    cover = mz_wakeup_insert(x, &x->nodes[k].wakeup, &x->sequence);
    if (mz_unlikely(x->tree_log)) mz_tree_log_leaf(x, k, x->sequence.leaf);
    return cover == MZ_SETTLED;
}

static void end(struct mz_exploration *x)
{
    MZ_ASSERT(x->ending == MZ_ENDING_MAXIMAL);
    mz_cover_begin(x);
    for (uint32_t i = 0; i < x->race_count && x->ending == MZ_ENDING_MAXIMAL; i++)
        if (!x->races[i].settled) x->races[i].settled = reverse(x, &x->races[i]);
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1)
        for (uint32_t n = mz_dependence_blocked(x, __builtin_ctzll(t)); n > 0; n--)
            reverse(x, &x->races[--x->race_count]);
}

/* Lines 15-16, 20-21 */
static bool next(struct mz_exploration *x, uint32_t k)
{
    if (mz_in_batch(x, k)) mz_share_pass(x, k);
    if (!x->nodes[k].wakeup) return false;
    take_branch(x, k);
    return true;
}

const struct mz_reduction mz_reduction_optimal = {"optimal", true, enter, event, NULL,
                                                  end,       next, NULL,  false};
