/* The search, as the system under test sees it (program.h). The system owns the main loop. It calls, in this
 * order:
 *
 *   mz_explore_begin    a new execution starts; or mz_explore_resume: the system has gone back by itself
 *   mz_explore_next     which step comes next: from the replayed part of the path, then the new branch, then the steps
 *                       that the strategy chooses (strategy.h)
 *   mz_explore_commit   the step has become an event: add it to the trace, with its clock and its races
 *   mz_explore_end      the strategy decides where the next execution branches off
 *
 * Between commit and the next step, the system reports local operations: mz_explore_spawn, _join, _wake,
 * _release. */
#include "engine/frontier.h"
#include "engine/persistent.h"
#include "engine/reduction.h"
#include "engine/strategy.h"
#include "engine/stateful/stateful.h"
#include "engine/tours.h"
#include "base/region.h"

/* ---- beginning and end of a search ---- */

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    size_t n = x->trace.capacity;
    f((void **)&x->nodes, (n + 1) * sizeof *x->nodes);
    f((void **)&x->path.steps, n * sizeof *x->path.steps);
    f((void **)&x->sleep, x->sleep_capacity * sizeof *x->sleep);
    f((void **)&x->waits, sizeof *x->waits);
    if (x->options.memory) f((void **)&x->path.served, n * sizeof *x->path.served);
    if (x->options.memory) f((void **)&x->values, n * sizeof *x->values);
}

static const struct mz_frontier *frontier_of(const struct mz_explore_options *o)
{
    if (o->share) return mz_algorithm_is_stateful(o->algorithm) ? &mz_frontier_states : &mz_frontier_shared;
    if (o->class_log) return &mz_frontier_classes;
    if (o->count_sets) return &mz_frontier_counted;
    return o->tree_log ? &mz_frontier_recorded : &mz_frontier_own;
}

static const struct mz_reduction *reduction_for(const struct mz_explore_options *o)
{
    return o->bound != MZ_BOUND_NONE ? &mz_reduction_bounded : mz_reduction_of(o->algorithm);
}

struct mz_exploration *mz_explore_new(const struct mz_view *view, const struct mz_explore_options *options)
{
    struct mz_exploration *x = mz_region_reserve(sizeof *x);
    MZ_ASSERT(x != NULL);
    x->view = view;
    x->options = *options;
    x->strategy = options->survey                               ? &mz_strategy_tours
                  : options->strategy == MZ_STRATEGY_EXHAUSTIVE ? &mz_strategy_exhaustive
                                                                : &mz_strategy_sampling;
    x->reduction = reduction_for(options);
    x->frontier = frontier_of(options);
    /* Follow a recorded schedule without a stateful reduction: the schedule may reach a state twice, and must
     * not end there. */
    if (x->reduction->stateful && options->schedule_length) x->reduction = mz_reduction_of(MZ_ALG_NONE);
    if (x->reduction->stateful && !x->reduction->sleeps_with_states) x->options.sleep_sets = false;
    MZ_ASSERT(!options->memory ||
              (x->reduction->explores_sources && !options->sleep_sets && !options->share));
    mz_trace_init(&x->trace, options->max_steps, options->share != NULL);
    x->trace.all_writes = x->reduction->all_accesses_conflict;
    x->trace.whole_channels = x->reduction->stateful;
    x->trace.await_races = x->reduction->uses_races;
    x->trace.ignores_races = x->reduction->ignores_races;
    x->trace.holds = options->holds;
    x->trace.holds_system = options->system;
    x->path.events = x->trace.events;
    x->sleep_capacity = (size_t)(x->trace.capacity + 1) * 2 * MZ_MAX_THREADS;
    each_array(x, mz_array_reserve);
    x->path.live = true;
    if (x->reduction->stateful) x->stateful = mz_stateful_new(x);
    if (x->reduction->only_persistent_sets) x->options.persistent = true;
    if (x->options.persistent && !options->schedule_length) x->persistent = mz_persistent_new(x);
    MZ_ASSERT(!x->persistent || !options->share);
    if (options->strategy != MZ_STRATEGY_EXHAUSTIVE) mz_sampling_init(x);
    MZ_ASSERT(!options->survey || (options->algorithm == MZ_ALG_NONE && !options->sleep_sets &&
                                   !options->memory && x->frontier == &mz_frontier_own));
    if (options->survey) mz_tours_init(x);
    if (options->bound != MZ_BOUND_NONE) mz_bounded_init(x);
    if (x->frontier->init) x->frontier->init(x);
    return x;
}

void mz_explore_free(struct mz_exploration *x)
{
    if (x->frontier->release) x->frontier->release(x);
    if (x->stateful) mz_stateful_free(x);
    if (x->persistent) mz_persistent_free(x, x->persistent);
    if (x->sampling) mz_sampling_release(x);
    if (x->tours) mz_tours_release(x);
    if (x->bounded) mz_bounded_release(x);
    each_array(x, mz_array_release);
    mz_trace_release(&x->trace, x->options.share != NULL);
    mz_region_free(x, sizeof *x);
}

void mz_explore_restart(struct mz_exploration *x) { x->trace.outdated = true; }

bool mz_explore_restarts(const struct mz_exploration *x) { return x->trace.outdated; }

bool mz_explore_has_sections(const struct mz_exploration *x) { return x->trace.sections != 0; }

void mz_explore_set_order(struct mz_exploration *x, enum mz_order order, uint64_t seed)
{
    x->options.order = order;
    x->options.order_seed = seed;
}

void mz_explore_set_bound(struct mz_exploration *x, uint32_t limit) { x->options.bound_limit = limit; }

void mz_explore_reuse(struct mz_exploration *x)
{
    mz_start_over(x);
    x->reduction = reduction_for(&x->options);
    x->counters.fell_back = x->counters.forgot = 0;
    mz_trace_reuse(&x->trace);
    if (x->frontier->reused) x->frontier->reused(x);
    if (x->stateful) mz_stateful_reuse(x);
    if (x->persistent) mz_persistent_reuse(x->persistent);
    if (x->tours) mz_tours_reuse(x);
}

/* ---- an execution ---- */

void mz_explore_begin(struct mz_exploration *x)
{
    x->again = x->stateful && !x->path.live && !x->options.check_states;
    x->path.depth = 0;
    x->last_thread = -1;
    x->barren = false;
    x->cut = false;
}

void mz_explore_resume(struct mz_exploration *x, uint32_t node)
{
    MZ_ASSERT(node <= x->path.back && x->path.back <= x->path.replay);
    x->again = false;
    x->path.depth = node;
    x->barren = false;
    x->cut = false;
}

static void fresh_node(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    n->enabled = n->persistent = x->view->enabled;
    n->backtrack = n->done = n->choices = 0;
    n->foreseen = 0;
    n->first = mz_leaves(&x->counters);
    n->last = 0;
    n->mark = mz_trace_mark(&x->trace);
    if (k == 0) mz_sleep_none(x, 0);
    if (k == 0 && !x->kept) n->wakeup = 0;
    if (mz_unlikely(x->frontier->enter != NULL)) x->frontier->enter(x, k);
}

/* The new branch: nodes[replay].step, chosen when the previous execution ended. */
static struct mz_step new_branch(struct mz_exploration *x)
{
    struct mz_node *n = &x->nodes[x->path.depth];
    bool same = !x->again || mz_stateful_same(x, x->path.depth);
    x->again = false;
    if (mz_unlikely(x->last_again) && same) return mz_nobody(x, MZ_ENDING_VISITED);
    x->path.live = true;
    if (mz_unlikely(!same || !(x->view->enabled & mz_bit(n->step.thread)))) { /* the replay led elsewhere */
        mz_unforeseen(x);
        return mz_nobody(x, MZ_ENDING_DIVERGED);
    }
    if (n->step.choice == MZ_ANY && !mz_choose(x, x->path.depth, &n->step)) {
        x->barren = true;
        return mz_nobody(x, MZ_ENDING_ASLEEP);
    }
    return n->step;
}

/* Is there too little memory for another thousand steps? If falling back frees enough (fall_back.c), that can
 * wait until the execution has ended: wakeup trees do not grow before. */
static bool is_memory_short(struct mz_exploration *x)
{
    return mz_trace_full(&x->trace) || (!x->stateful && mz_explore_full(x) && !mz_can_fall_back(x));
}

static struct mz_step live_step(struct mz_exploration *x)
{
    uint32_t k = x->path.depth;
    if (mz_unlikely(x->options.strict)) mz_check_posts(x);
    if (!x->path.live) return new_branch(x);
    fresh_node(x, k);
    if (x->nodes[k].enabled && k + 2 >= x->trace.capacity) return mz_nobody(x, MZ_ENDING_STEP_LIMIT);
    if (k % 1024 == 1023 && is_memory_short(x)) return mz_nobody(x, MZ_ENDING_MEMORY);
    if (mz_unlikely(x->trace.crowded)) return mz_nobody(x, MZ_ENDING_MEMORY);
    return x->strategy->choose(x, k);
}

struct mz_step mz_explore_next(struct mz_exploration *x)
{
    uint32_t k = x->path.depth;
    if (mz_likely(k < x->path.replay)) return x->path.steps[k];
    struct mz_step step = live_step(x);
    if (step.thread == MZ_NOBODY) return step;
    if (mz_unlikely(x->options.memory != NULL)) mz_source_serve(x, &step);
    x->nodes[k].step = x->path.steps[k] = step;
    x->last_thread = step.thread;
    return step;
}

/* The first atomic section. From now on a failed CAS counts as a write and depends on reads that it was
 * independent of: the search starts over. */
static void first_section(struct mz_exploration *x, uint32_t object)
{
    x->trace.sections = object;
    mz_explore_restart(x);
}

void mz_explore_commit(struct mz_exploration *x, enum mz_access access, uint64_t old, uint64_t new)
{
    uint32_t k = x->path.depth++;
    if (mz_likely(k < x->path.replay)) return;
    struct mz_step step = x->path.steps[k];
    const struct mz_pending *p = mz_pending_of(x, step.thread);
    struct mz_event *e = &x->trace.events[k];
    e->key = p->key;
    e->pc = p->pc;
    e->old = old;
    e->expected = p->expected;
    e->choices = p->choices;
    e->object = mz_object_of(&x->trace, p);
    if (p->op == MZ_OP_SECTION && !x->trace.sections) first_section(x, e->object);
    if (mz_unlikely(p->op == MZ_OP_RESUME && x->options.strict))
        mz_check_resumed(x, step.thread, e->expected);
    e->order = access == MZ_READS ? p->failure : p->order;
    if (mz_unlikely(x->options.memory != NULL)) x->values[k] = new;
    if (p->op == MZ_OP_CAS && mz_cas_writes(&x->trace, e->object)) access = MZ_WRITES;
    if (mz_unlikely(x->trace.all_writes)) access = MZ_WRITES;
    e->thread = step.thread;
    e->op = p->op;
    e->access = (uint8_t)access;
    e->size = p->size;
    e->choice = step.choice;
    x->joining = 0;
    uint32_t races = x->trace.race_count;
    mz_trace_add(&x->trace, k + 1);
    x->strategy->event(x, k + 1, x->trace.race_count - races);
}

bool mz_explore_end(struct mz_exploration *x) { return x->strategy->end(x); }

/* ---- local operations of the running step ---- */

/* Local operations of replayed steps were dealt with when the steps were new. */
static bool live(const struct mz_exploration *x) { return x->path.live; }

void mz_explore_spawn(struct mz_exploration *x, int thread, int child)
{
    if (!live(x)) return;
    x->joining = 0;
    if (mz_unlikely(x->persistent != NULL)) mz_persistent_spawn(x, thread, child);
    mz_clock_widen(&x->trace, child);
    mz_journal_set(&x->trace, &x->trace.thread_clock[child], x->trace.thread_clock[thread]);
}

/* Note a thread that a step of another thread lets go: it may run within that step, and end up waiting for something
 * else. */
static void note_woken(struct mz_exploration *x, int thread)
{
    uint32_t k = x->path.depth;
    x->waits->ran |= mz_bit(thread);
    if (mz_likely(!x->stateful) || !k || x->trace.events[k - 1].thread == thread) return;
    x->stateful->marks[k - 1].woken |= mz_bit(thread);
}

void mz_explore_join(struct mz_exploration *x, int thread, int finished)
{
    if (!live(x)) return;
    note_woken(x, thread);
    mz_clock *clock = &x->trace.thread_clock[thread];
    if (*clock == x->joining && x->joining == x->trace.clock_count - 1) {
        mz_clock_join(&x->trace, *clock, x->trace.thread_clock[finished]);
        return;
    }
    mz_clock before = *clock, count = x->trace.clock_count;
    mz_journal_set(&x->trace, clock, mz_clock_joined(&x->trace, before, x->trace.thread_clock[finished]));
    x->joining = x->trace.clock_count > count ? *clock : 0;
}

void mz_explore_wake(struct mz_exploration *x, mz_number event, int woken)
{
    if (!live(x)) return;
    note_woken(x, woken);
    x->joining = 0;
    if (x->woken_by[woken] == event) {
        mz_journal_set(&x->trace, &x->woken_by[woken], 0);
        if (mz_dependence_timeout(&x->trace, event, woken)) x->strategy->event(x, 0, 1);
    }
    mz_journal_set(
        &x->trace, &x->trace.thread_clock[woken],
        mz_clock_joined(&x->trace, x->trace.thread_clock[woken], mz_event_at(&x->trace, event)->clock));
}

/* mz_explore_wake() looks for the race, not this function: the waiter may still have to release the mutex,
 * and can time out only after that. */
void mz_explore_could_time_out(struct mz_exploration *x, int waiter)
{
    if (!live(x)) return;
    mz_journal_set(&x->trace, &x->woken_by[waiter], x->path.depth);
    if (x->stateful) x->stateful->marks[x->path.depth - 1].timeouts |= mz_bit(waiter);
}

uint32_t mz_explore_release(struct mz_exploration *x, int thread, uint64_t key)
{
    if (!live(x)) return 0;
    uint32_t object = mz_object_find(&x->trace, key, 0);
    x->joining = 0;
    mz_journal_set(&x->trace, &x->trace.objects[object].release, x->trace.thread_clock[thread]);
    return object;
}

/* ---- questions, and other ends of an execution ---- */

void mz_explore_set(struct mz_exploration *x, uint32_t *slot, uint32_t value)
{
    mz_journal_set(&x->trace, slot, value);
}

void mz_explore_note(struct mz_exploration *x, uint64_t value)
{
    x->trace.events[x->path.depth - 1].expected = value;
}

void mz_explore_awaited(struct mz_exploration *x, uint64_t key, unsigned size, unsigned number)
{
    mz_object_awaited(&x->trace, key, size, number);
}

uint32_t mz_explore_object(struct mz_exploration *x, uint64_t key)
{
    return mz_object_find(&x->trace, key, 0);
}

uint32_t mz_explore_known_object(struct mz_exploration *x, uint64_t key)
{
    return mz_object_known(&x->trace, key);
}

void mz_explore_unite(struct mz_exploration *x, uint64_t a, uint64_t b, unsigned size)
{
    mz_object_unite(&x->trace, a, b, size);
}

mz_number mz_explore_last_event(const struct mz_exploration *x, uint32_t object)
{
    return x->trace.objects[object].last;
}

uint64_t mz_explore_memory(struct mz_exploration *x)
{
    uint64_t states = x->stateful ? mz_stateful_memory(x) : x->bounded ? mz_bounded_memory(x) : 0;
    return mz_search_memory(x) + states;
}

bool mz_explore_again(struct mz_exploration *x)
{
    if (mz_is_cut_short(x)) return false;
    mz_start_over(x);
    if (x->frontier->restarted) x->frontier->restarted(x);
    return true;
}

void mz_explore_again_last(struct mz_exploration *x)
{
    x->path.replay = x->path.depth;
    x->path.back = 0;
    x->path.live = false;
    x->last_again = true;
}

void mz_explore_again_done(struct mz_exploration *x, enum mz_ending ending)
{
    x->ending = ending;
    x->last_again = false;
}

void mz_explore_cut(struct mz_exploration *x) { x->cut = true; }

void mz_explore_abandon(struct mz_exploration *x)
{
    x->ending = MZ_ENDING_MAXIMAL;
    mz_count_execution(x);
    if (x->sampling) mz_sampling_abandon(x);
}

enum mz_ending mz_explore_ending(const struct mz_exploration *x) { return x->ending; }

uint32_t mz_explore_steps(const struct mz_exploration *x, const struct mz_step **steps)
{
    *steps = x->path.steps;
    return x->path.depth;
}

bool mz_explore_happens_before(const struct mz_exploration *x, uint32_t i, uint32_t j)
{
    return i < j && mz_clock_covers(&x->trace, x->trace.events[j].clock, i + 1);
}

struct mz_counters *mz_explore_counters(struct mz_exploration *x)
{
    x->counters.wakeup_nodes = x->trace.wakeup.live;
    x->counters.wakeup_nodes_peak = x->trace.wakeup.peak;
    return &x->counters;
}
