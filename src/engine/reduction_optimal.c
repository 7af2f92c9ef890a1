/* Optimal-DPOR: 2017, Algorithm 2, with blocking as in Algorithms 4 and 6.
 *
 * The lines of Algorithm 2: 9-13 enter; 2-7 end -> reverse; 15-21 next. Races are looked at only when the
 * execution is complete, because v must hold all that does not happen after e (line 5); only races whose
 * second event is new are looked at, the others were when it was.
 *
 * No execution is ever blocked by a sleep set (Theorem 7.13): that is asserted, not counted. */
#include "reduction.h"

static void take_branch(struct mz_exploration *x, uint32_t k)
{
    struct mz_elem first;
    x->nodes[k + 1].wakeup = mz_wakeup_pop(x, &x->nodes[k].wakeup, &first);
    x->nodes[k].step = (struct mz_step){first.thread, first.choice};
}

/* Lines 9-13 */
static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    if (x->nodes[k].wakeup) {
        take_branch(x, k);
        MZ_ASSERT(x->nodes[k].enabled & mz_bit(x->nodes[k].step.thread));
        return x->nodes[k].step;
    }
    MZ_ASSERT(x->nodes[k].sleep_count == 0); /* Lemma 7.1 (2) */
    x->nodes[k + 1].wakeup = 0;
    return mz_default_step(x, k);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races) { (void)x, (void)n, (void)races; }

/* Lines 4-7: E' = node first - 1, v = notdep(e, E).e' */
static void reverse(struct mz_exploration *x, const struct mz_race *race)
{
    uint32_t k = race->first - 1;
    uint32_t count = mz_notdep(x, race->first, x->path.depth + 1, x->sequence);
    x->sequence[count++] = race->last;
    if (!mz_sleep_has_weak_initial(x, k, x->sequence, count))
        mz_wakeup_insert(x, &x->nodes[k].wakeup, x->sequence, count);
}

/* Algorithm 6 for choices: taking one of them disables the others. */
static void reverse_choices(struct mz_exploration *x)
{
    for (mz_number n = x->path.replay + 1; n <= x->path.depth; n++) {
        const struct mz_event *e = mz_event_at(x, n);
        for (uint64_t c = e->choices & ~mz_bit(e->choice); c; c &= c - 1) {
            struct mz_race race = {n, 0, mz_elem_of(e), e->before};
            race.last.choice = (uint8_t)__builtin_ctzll(c);
            reverse(x, &race);
        }
    }
}

static void end(struct mz_exploration *x)
{
    struct mz_race race;
    MZ_ASSERT(x->ending == MZ_ENDING_MAXIMAL);
    for (uint32_t i = 0; i < x->race_count; i++) reverse(x, &x->races[i]);
    for (uint64_t t = x->view->alive & ~x->view->enabled; t; t &= t - 1)
        if (mz_dependence_blocked(x, __builtin_ctzll(t), &race)) reverse(x, &race);
    reverse_choices(x);
}

/* Lines 15-16, 20-21 */
static bool next(struct mz_exploration *x, uint32_t k)
{
    if (!x->nodes[k].wakeup) return false;
    take_branch(x, k);
    return true;
}

const struct mz_reduction mz_reduction_optimal = {"optimal", true, enter, event, NULL, end, next};
