/* Source-DPOR: 2017, Algorithm 1, with blocking as in Algorithms 3 and 5.
 *
 * The lines of Algorithm 1: 2-3 enter; 5-9 event -> reverse; 10-12 sleep_set.c and explore.c. What a blocked
 * thread waits for is examined at the end of the execution instead of at every state: a blocked operation
 * either happens later, then its race is found when it does, or it is still blocked at the end. */
#include "reduction.h"

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_default_step(x, k);
    if (step.thread != MZ_NOBODY) x->nodes[k].backtrack = mz_bit(step.thread);
    x->nodes[k + 1].wakeup = 0;
    return step;
}

/* Line 9: some q in I(v). The second event itself if it can come first, else the first event of notdep. */
static uint8_t some_initial(const struct mz_exploration *x, const struct mz_race *race)
{
    if (mz_last_is_initial(x, race)) return race->last.thread;
    for (mz_number i = race->first + 1;; i++) {
        MZ_ASSERT(i <= x->path.depth);
        if (!mz_after_first(x, race, mz_event_at(x, i)->clock)) return mz_event_at(x, i)->thread;
    }
}

static uint64_t all_initials(const struct mz_exploration *x, const struct mz_race *race)
{
    uint64_t set = 0;
    for (int t = 0; t < MZ_MAX_THREADS; t++)
        if (mz_is_initial(x, race, t)) set |= mz_bit(t);
    return set;
}

/* Lines 6-9, with E' = node first - 1 and v = notdep(e, E).p */
static void reverse(struct mz_exploration *x, const struct mz_race *race)
{
    struct mz_node *n = &x->nodes[race->first - 1];
    for (uint64_t b = n->backtrack; b; b &= b - 1)
        if (mz_is_initial(x, race, __builtin_ctzll(b))) {
            if (mz_unlikely(x->tree_log)) mz_tree_log_thread(x, race->first - 1, __builtin_ctzll(b));
            return;
        }
    uint8_t thread = some_initial(x, race);
    if (mz_unlikely(x->tree_log)) mz_tree_log_thread(x, race->first - 1, thread);
    if (mz_unlikely(race->first <= x->share.root))
        mz_share_backtrack(x, race->first - 1, all_initials(x, race) | mz_bit(thread), mz_bit(thread));
    else
        n->backtrack |= mz_bit(thread);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    for (uint32_t i = x->race_count - races; i < x->race_count; i++) reverse(x, &x->races[i]);
    x->counters.races += races;
    x->race_count -= races;
}

static void end(struct mz_exploration *x)
{
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1)
        for (uint32_t n = mz_dependence_blocked(x, __builtin_ctzll(t)); n > 0; n--)
            reverse(x, &x->races[--x->race_count]);
}

const struct mz_reduction mz_reduction_source = {
    "source", true, enter, event, NULL, end, mz_next_in_backtrack, NULL, false};
