/* The exhaustive strategy: depth first, until nothing is left that the reduction wants.
 *
 * choose() asks the reduction for the step at a new node (enter). event() gives the next node its sleep set and lets
 * the reduction see the event. end() lets the reduction look back (end), then climbs up the path until a node has
 * another branch (next), and goes back to it. */
#include "engine/frontier.h"
#include "engine/persistent.h"
#include "engine/reduction.h"
#include "engine/strategy.h"
#include "engine/stateful/stateful.h"

/* ---- stateful algorithms ---- */

/* Does the execution go on from node k, because its state is new? If not, *why says how it ends. */
static bool is_new_state(struct mz_exploration *x, uint32_t k, enum mz_ending *why)
{
    switch (mz_stateful_arrive(x, k)) {
    case MZ_ARRIVED:
        return true;
    case MZ_WAS_THERE:
        *why = MZ_ENDING_VISITED;
        return false;
    case MZ_PEEKED:
        *why = MZ_ENDING_PEEKED;
        return false;
    case MZ_NO_ROOM:
        break;
    }
    *why = MZ_ENDING_MEMORY;
    return false;
}

/* For tests (state_check.c): the search would end this execution at node k, a known state. End it for the search, and
 * walk on. */
static struct mz_step walk_on(struct mz_exploration *x, uint32_t k)
{
    x->ending = MZ_ENDING_VISITED;
    mz_count_execution(x);
    x->reduction->end(x);
    return x->nodes[k].step;
}

static struct mz_step walk(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_recheck_step(x, k);
    return step.thread == MZ_NOBODY ? mz_nobody(x, MZ_ENDING_VISITED) : step;
}

/* ---- choosing a step ---- */

static struct mz_step wanted_step(struct mz_exploration *x, uint32_t k)
{
    if (x->reduction->pending)
        for (uint64_t t = x->view->alive; t; t &= t - 1) x->reduction->pending(x, __builtin_ctzll(t));
    if (mz_unlikely(x->persistent != NULL)) mz_persistent_node(x);
    if (!x->nodes[k].enabled) return mz_nobody(x, MZ_ENDING_MAXIMAL);
    if (mz_unlikely(x->persistent != NULL)) x->nodes[k].persistent = mz_persistent_set(x, x->last_thread);
    if (k < x->options.schedule_length) return mz_scheduled_step(x, k);
    if (mz_unlikely(k < x->top)) return x->frontier->step(x, k);
    struct mz_step step = x->reduction->enter(x, k);
    if (step.thread == MZ_NOBODY) return mz_nobody(x, x->diverged ? MZ_ENDING_DIVERGED : MZ_ENDING_ASLEEP);
    return step;
}

static struct mz_step choose(struct mz_exploration *x, uint32_t k)
{
    enum mz_ending why;
    if (mz_likely(!x->stateful)) return wanted_step(x, k);
    if (x->stateful->check) mz_recheck_node(x, k);
    if (mz_recheck_walks(x)) return walk(x, k);
    if (is_new_state(x, k, &why)) return wanted_step(x, k);
    if (mz_unlikely(x->persistent != NULL)) mz_persistent_node(x);
    return why == MZ_ENDING_VISITED && mz_recheck_begin(x, k) ? walk_on(x, k) : mz_nobody(x, why);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    if (mz_likely(n)) {
        if (x->options.sleep_sets)
            mz_sleep_inherit(x, n - 1);
        else
            mz_sleep_none(x, n);
    }
    if (mz_unlikely(mz_recheck_walks(x)) && n)
        x->trace.race_count -= races;
    else
        x->reduction->event(x, n, races);
}

/* ---- where to go on ---- */

/* Climb the path to the deepest node with a branch left, and rewind to it. Return false if no node has one. */
static bool climb(struct mz_exploration *x)
{
    for (uint32_t k = x->path.depth + x->barren; k-- > x->top;) {
        if (x->options.sleep_sets && !(x->barren && k == x->path.depth))
            mz_sleep_add(x, k, mz_elem_of(&x->trace.events[k]));
        if (mz_unlikely(x->nodes[k].sleep_count > x->nodes[k].inherited + 1) && !x->stateful)
            mz_estimate_branch(x, k);
        if (x->reduction->next(x, k)) {
            mz_hot_spot_count(x, k);
            mz_rewind_to(x, k);
            return true;
        }
    }
    return false;
}

/* Look at the races of the execution. Return false if the search cannot go on: there is no memory for the
 * branches that the races ask for, or the execution was cut short. */
static bool analyse(struct mz_exploration *x)
{
    x->reduction->end(x);
    if (x->options.memory_limit && !x->stateful && mz_explore_full(x)) x->ending = MZ_ENDING_MEMORY;
    if (x->ending == MZ_ENDING_MEMORY && mz_can_fall_back(x)) mz_fall_back(x);
    return !mz_is_cut_short(x);
}

static void restart(struct mz_exploration *x)
{
    mz_start_over(x);
    if (x->frontier->restarted) x->frontier->restarted(x);
}

/* Go on at a node that has a branch left. Return false if no node has one: everything is explored. */
static bool go_on(struct mz_exploration *x)
{
    if (mz_unlikely(x->frontier->executed != NULL)) x->frontier->executed(x);
    uint64_t runs = x->counters.executions + x->counters.revisited;
    if (mz_unlikely(!(runs & (runs - 1)))) mz_hot_spots_look(x);
    if (climb(x)) return true;
    if (x->frontier->finished) x->frontier->finished(x);
    if (mz_unlikely(x->trace.outdated)) { /* by facts of other workers */
        restart(x);
        return true;
    }
    x->counters.work_done = MZ_ALL_WORK;
    return false;
}

/* A walk of state_check.c has ended. Do not count or analyse it: walk_on() has done that for the execution
 * that the walk continues. */
static bool end_walk(struct mz_exploration *x)
{
    uint32_t branch;
    if (!mz_recheck_next(x, &branch)) return go_on(x);
    mz_rewind_to(x, branch);
    return true;
}

static bool end(struct mz_exploration *x)
{
    bool walked = mz_recheck_walks(x);
    if (mz_likely(!walked)) mz_count_execution(x);
    /* Do not stop at the step limit if the search starts over: with what it has learned, the execution may be
     * shorter. */
    if (mz_is_cut_short(x) && !(x->trace.outdated && x->ending == MZ_ENDING_STEP_LIMIT)) return false;
    if (x->trace.outdated) {
        restart(x);
        return true;
    }
    if (mz_unlikely(walked)) return end_walk(x);
    if (!analyse(x)) return false;
    if (mz_unlikely(x->trace.outdated)) { /* the conditions of awaits have read new objects */
        restart(x);
        return true;
    }
    return go_on(x);
}

const struct mz_strategy mz_strategy_exhaustive = {.choose = choose, .event = event, .end = end};
