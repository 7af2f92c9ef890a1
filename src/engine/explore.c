/* The search: which step comes next, what is kept of the path, and where to go on when an execution ends.
 *
 * A tour by function name: mz_explore_begin starts an execution; mz_explore_next answers, for each depth,
 * from the replayed part, from the new branch, or by asking the reduction (enter); mz_explore_commit turns
 * the step into an event: races and clock (dependence.c), sleep set of the next node, and the reduction's
 * own view of it (event); mz_explore_end lets the reduction look back (end), then climbs up the path until
 * some node has another branch (next), and rewinds to it.
 */
#include "exploration.h"
#include "reduction.h"
#include "stateful.h"
#include "../base/region.h"

#define MAX_CAPACITY  (16u << 20)
#define FIRST_OBJECTS 1024u

static const struct mz_reduction *reduction_of(enum mz_algorithm algorithm)
{
    switch (algorithm) {
    case MZ_ALG_NONE:
        return &mz_reduction_none;
    case MZ_ALG_DPOR:
        return &mz_reduction_dpor;
    case MZ_ALG_SOURCE:
        return &mz_reduction_source;
    case MZ_ALG_OPTIMAL:
        return &mz_reduction_optimal;
    case MZ_ALG_STATEFUL:
        return &mz_reduction_stateful;
    case MZ_ALG_S_POR:
        return &mz_reduction_s_por;
    case MZ_ALG_DE_S_POR:
        return &mz_reduction_de_s_por;
    case MZ_ALG_DL_S_POR:
        return &mz_reduction_dl_s_por;
    case MZ_ALG_SDPOR:
        return &mz_reduction_sdpor;
    }
    MZ_BUG("unknown algorithm");
}

/* Lists of threads do not begin at the same place of a page: their beginnings would push each other out of
 * the cache. */
static size_t list_stride(const struct mz_exploration *x)
{
    return ((size_t)x->capacity + 1023) / 1024 * 1024 + 48;
}

/* All arrays of an exploration, with their sizes, in one place for reserving and freeing. */
static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    size_t n = x->capacity;
    f((void **)&x->path.events, n * sizeof *x->path.events);
    f((void **)&x->nodes, (n + 1) * sizeof *x->nodes);
    f((void **)&x->path.steps, n * sizeof *x->path.steps);
    f((void **)&x->journal, x->journal_capacity * sizeof *x->journal);
    f((void **)&x->clocks, (size_t)x->clock_capacity * MZ_MAX_THREADS * sizeof *x->clocks);
    f((void **)&x->recent, x->clock_capacity * sizeof *x->recent);
    f((void **)&x->briefs, (n + 1) * sizeof *x->briefs);
    f((void **)&x->sleep, x->sleep_capacity * sizeof *x->sleep);
    f((void **)&x->objects, MZ_OBJECT_TABLE / 2 * sizeof *x->objects);
    f((void **)&x->object_table, MZ_OBJECT_TABLE * sizeof *x->object_table);
    f((void **)&x->races, (68 * n + MZ_MAX_THREADS) * sizeof *x->races);
    f((void **)&x->firsts, MZ_MAX_THREADS * (n + MZ_MAX_THREADS) * sizeof *x->firsts);
    f((void **)&x->shared, n * sizeof *x->shared);
    f((void **)&x->wakeup, (size_t)MZ_WAKEUP_NODES * sizeof *x->wakeup);
    f((void **)&x->sequence.elems, (n + 1) * sizeof *x->sequence.elems);
    f((void **)&x->sequence.needed, (n + 1) * sizeof *x->sequence.needed);
    f((void **)&x->sequence.next_of_thread, (n + 1) * sizeof(uint32_t));
    f((void **)&x->sequence.next_of_object, (n + 1) * sizeof(uint32_t));
    f((void **)&x->sequence.next_conflict, (n + 1) * sizeof(uint32_t));
    f((void **)&x->sequence.first_of_object, MZ_OBJECT_TABLE / 2 * sizeof(uint32_t));
    f((void **)&x->sequence.numbers, (n + 1) * sizeof *x->sequence.numbers);
    if (mz_shared(x)) f((void **)&x->sequence.clocks, (n + 1) * MZ_MAX_THREADS * sizeof *x->sequence.clocks);
    f((void **)&x->sequence.stamp_of_object, MZ_OBJECT_TABLE / 2 * sizeof(uint32_t));
    f((void **)&x->thread_event_lists, MZ_MAX_THREADS * list_stride(x) * sizeof(mz_number));
}

void mz_array_reserve(void **array, size_t bytes)
{
    *array = mz_region_reserve(bytes);
    MZ_ASSERT(*array != NULL);
}

void mz_array_release(void **array, size_t bytes)
{
    mz_region_free(*array, bytes);
    *array = NULL;
}

struct mz_exploration *mz_explore_new(const struct mz_view *view, const struct mz_explore_options *options)
{
    struct mz_exploration *x = mz_region_reserve(sizeof *x);
    MZ_ASSERT(x != NULL);
    x->view = view;
    x->options = *options;
    x->reduction = reduction_of(options->algorithm);
    /* A recorded schedule may come to a state twice, and is all that is wanted. */
    if (x->reduction->threads && options->schedule_length) x->reduction = &mz_reduction_none;
    if (x->reduction->threads) x->options.sleep_sets = false;
    uint64_t steps = options->max_steps;
    x->capacity = (uint32_t)(steps && steps < MAX_CAPACITY - 2 ? steps + 2 : MAX_CAPACITY);
    /* An event needs one clock and four entries, and what a step wakes, joins and releases as many again.
     * Reserving costs nothing. */
    x->clock_capacity = 16 * x->capacity + (1u << 16);
    x->sleep_capacity = (size_t)(x->capacity + 1) * 2 * MZ_MAX_THREADS;
    x->journal_capacity = 64 * x->capacity + (1u << 20);
    each_array(x, mz_array_reserve);
    for (size_t t = 0; t < MZ_MAX_THREADS; t++)
        x->thread_events[t] = x->thread_event_lists + t * list_stride(x);
    x->clock_count = 1;
    x->object_count = 1;
    x->object_mask = FIRST_OBJECTS - 1;
    x->wakeup_count = 1;
    x->path.live = true;
    x->lanes = 8;
    if (x->reduction->threads) x->stateful = mz_stateful_new(x);
    mz_share_init(x);
    mz_tree_log_init(x);
    return x;
}

void mz_explore_free(struct mz_exploration *x)
{
    if (x->stateful) mz_stateful_free(x);
    mz_share_free(x);
    mz_tree_log_free(x);
    each_array(x, mz_array_release);
    mz_region_free(x, sizeof *x);
}

void mz_explore_restart(struct mz_exploration *x) { x->restart = true; }

bool mz_explore_restarts(const struct mz_exploration *x) { return x->restart; }

void mz_explore_begin(struct mz_exploration *x)
{
    x->again = x->stateful && !x->path.live && !x->options.check_states;
    x->path.depth = 0;
    x->last_thread = -1;
    x->barren = false;
    x->cut = false;
}

void mz_explore_resume(struct mz_exploration *x)
{
    x->again = false;
    x->path.depth = x->path.replay;
    x->barren = false;
    x->cut = false;
}

static struct mz_step nobody(struct mz_exploration *x, enum mz_ending ending)
{
    x->ending = ending;
    return (struct mz_step){MZ_NOBODY, 0};
}

bool mz_choose(struct mz_exploration *x, uint32_t k, struct mz_step *step)
{
    uint64_t choices = x->view->pending[step->thread].choices;
    if (x->nodes[k].asleep & mz_bit(step->thread)) choices &= ~mz_sleep_choices(x, k, step->thread);
    if (!choices) return false;
    step->choice = (uint8_t)__builtin_ctzll(choices);
    x->nodes[k].choices = choices & (choices - 1);
    return true;
}

/* Where a new execution goes when nothing says otherwise: on with the same thread while that is possible
 * (fewer switches), else with the lowest thread that is awake. */
struct mz_step mz_default_step(struct mz_exploration *x, uint32_t k)
{
    uint64_t enabled = x->nodes[k].enabled;
    struct mz_step step = {MZ_NOBODY, 0};
    if (x->last_thread >= 0 && (enabled & mz_bit(x->last_thread))) {
        step.thread = (uint8_t)x->last_thread;
        if (mz_choose(x, k, &step)) return step;
    }
    for (; enabled; enabled &= enabled - 1) {
        step.thread = (uint8_t)__builtin_ctzll(enabled);
        if (mz_choose(x, k, &step)) return step;
    }
    return (struct mz_step){MZ_NOBODY, 0};
}

struct mz_step mz_unforeseen(struct mz_exploration *x)
{
    MZ_ASSERT(!x->options.deterministic);
    x->diverged = true;
    return (struct mz_step){MZ_NOBODY, 0};
}

static void fresh_node(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    n->enabled = x->view->enabled;
    n->backtrack = n->done = n->choices = 0;
    n->foreseen = 0;
    n->first = mz_leaves(&x->counters);
    n->last = 0;
    n->journal = x->journal_count;
    n->races = x->race_count;
    n->clocks = x->clock_count;
    if (k == 0) n->sleep_start = n->sleep_count = n->inherited = 0, n->asleep = 0;
    if (k == 0 && !x->share.kept) n->wakeup = 0;
    if (mz_likely(!mz_shared(x))) return;
    n->before = mz_tally_of(&x->counters);
    if (mz_unlikely(x->share.descending)) mz_share_new_node(x, k);
}

/* The new branch: nodes[replay].step, chosen when the execution before ended. */
static struct mz_step first_live_step(struct mz_exploration *x)
{
    struct mz_node *n = &x->nodes[x->path.depth];
    bool same = !x->again || mz_stateful_same(x, x->path.depth);
    x->again = false;
    if (mz_unlikely(x->last_again) && same) return nobody(x, MZ_ENDING_VISITED);
    x->path.live = true;
    if (mz_unlikely(!same || !(x->view->enabled & mz_bit(n->step.thread)))) { /* before was not the same */
        mz_unforeseen(x);
        return nobody(x, MZ_ENDING_DIVERGED);
    }
    if (n->step.choice == MZ_ANY && !mz_choose(x, x->path.depth, &n->step)) {
        x->barren = true;
        return nobody(x, MZ_ENDING_ASLEEP);
    }
    return n->step;
}

/* A schedule given from outside. One that does not fit the program ends the execution. */
static struct mz_step scheduled_step(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = x->options.schedule[k];
    bool fits = step.thread < MZ_MAX_THREADS && (x->nodes[k].enabled & mz_bit(step.thread)) &&
                step.choice < 64 && (x->view->pending[step.thread].choices & mz_bit(step.choice));
    if (!fits) return nobody(x, MZ_ENDING_DIVERGED);
    x->nodes[k].step = step;
    x->nodes[k + 1].wakeup = 0;
    return step;
}

/* Stateful algorithms: true if the execution goes on from node k, whose state is new; else why not. */
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

/* What was reserved may not be enough for another thousand steps. */
#define MARGIN (1u << 16)
static bool arrays_full(const struct mz_exploration *x)
{
    return x->object_count + MARGIN > MZ_OBJECT_TABLE / 2 || x->clock_count + MARGIN > x->clock_capacity ||
           x->journal_count + MARGIN > x->journal_capacity;
}

/* On from a state that was there before, to see whether the same follows. */
static struct mz_step walk(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_recheck_step(x, k);
    return step.thread == MZ_NOBODY ? nobody(x, MZ_ENDING_VISITED) : step;
}

static void count(struct mz_exploration *x);

/* The execution ends here, at node k, for all but the walk that goes on from it. */
static struct mz_step walk_on(struct mz_exploration *x, uint32_t k)
{
    x->ending = MZ_ENDING_VISITED;
    count(x);
    x->reduction->end(x);
    return x->nodes[k].step;
}

static struct mz_step live_step(struct mz_exploration *x)
{
    enum mz_ending why;
    uint32_t k = x->path.depth;
    if (!x->path.live) return first_live_step(x);
    fresh_node(x, k);
    if (x->nodes[k].enabled && k + 2 >= x->capacity) return nobody(x, MZ_ENDING_STEP_LIMIT);
    /* Trees do not grow now: if giving them up helps, that can wait until the execution has ended. */
    if (k % 1024 == 1023 && (arrays_full(x) || (!x->stateful && mz_explore_full(x) && !mz_can_fall_back(x))))
        return nobody(x, MZ_ENDING_MEMORY);
    if (x->stateful && x->stateful->check) mz_recheck_node(x, k);
    if (mz_unlikely(mz_recheck_walks(x))) return walk(x, k);
    if (x->stateful && !is_new_state(x, k, &why))
        return why == MZ_ENDING_VISITED && mz_recheck_begin(x, k) ? walk_on(x, k) : nobody(x, why);
    if (x->reduction->pending)
        for (uint64_t t = x->view->alive; t; t &= t - 1) x->reduction->pending(x, __builtin_ctzll(t));
    if (!x->nodes[k].enabled) return nobody(x, MZ_ENDING_MAXIMAL);
    if (k < x->options.schedule_length) return scheduled_step(x, k);
    if (mz_unlikely(k < x->share.top)) return mz_share_step(x, k);
    struct mz_step step = x->reduction->enter(x, k);
    if (step.thread == MZ_NOBODY) return nobody(x, x->diverged ? MZ_ENDING_DIVERGED : MZ_ENDING_ASLEEP);
    x->nodes[k].step = step;
    return step;
}

struct mz_step mz_explore_next(struct mz_exploration *x)
{
    if (mz_likely(x->path.depth < x->path.replay)) return x->path.steps[x->path.depth];
    struct mz_step step = live_step(x);
    if (step.thread == MZ_NOBODY) return step;
    x->path.steps[x->path.depth] = step;
    x->last_thread = step.thread;
    return step;
}

static void sleep_of_next(struct mz_exploration *x, uint32_t k)
{
    if (x->options.sleep_sets) {
        mz_sleep_inherit(x, k);
    } else {
        x->nodes[k + 1].sleep_start = x->nodes[k + 1].sleep_count = x->nodes[k + 1].inherited = 0;
        x->nodes[k + 1].asleep = 0;
    }
}

/* What was independent so far is not any more (a CAS that failed, and a read): the search starts over. */
static void first_section(struct mz_exploration *x, uint32_t object)
{
    x->sections = object;
    mz_explore_restart(x);
}

void mz_explore_commit(struct mz_exploration *x, enum mz_access access, uint64_t old)
{
    uint32_t k = x->path.depth++;
    if (mz_likely(k < x->path.replay)) return;
    struct mz_step step = x->path.steps[k];
    const struct mz_pending *p = &x->view->pending[step.thread];
    struct mz_event *e = &x->path.events[k];
    e->key = p->key;
    e->pc = p->pc;
    e->old = old;
    e->expected = p->expected;
    e->choices = p->choices;
    e->object = mz_object_of(x, p);
    e->prev_object = 0;
    if (p->op == MZ_OP_SECTION && !x->sections) first_section(x, e->object);
    if (p->op == MZ_OP_CAS && mz_cas_writes(x, e->object)) access = MZ_WRITES;
    e->before = x->thread_clock[step.thread];
    x->joining = 0;
    e->thread = step.thread;
    e->op = p->op;
    e->access = (uint8_t)access;
    e->size = p->size;
    e->choice = step.choice;
    mz_clock_widen(x, step.thread);
    uint32_t races = x->race_count;
    mz_dependence_event(x, k + 1);
    mz_journal_set(x, &x->thread_clock[step.thread], e->clock);
    x->thread_events[step.thread][x->thread_event_count[step.thread]] = k + 1;
    mz_journal_set(x, &x->thread_event_count[step.thread], x->thread_event_count[step.thread] + 1);
    sleep_of_next(x, k);
    if (mz_unlikely(mz_recheck_walks(x)))
        x->race_count = races;
    else
        x->reduction->event(x, k + 1, x->race_count - races);
}

/* Local operations of replayed steps were dealt with when the steps were new. */
static bool live(const struct mz_exploration *x) { return x->path.live; }

void mz_explore_spawn(struct mz_exploration *x, int thread, int child)
{
    if (!live(x)) return;
    x->joining = 0;
    mz_clock_widen(x, child);
    mz_journal_set(x, &x->thread_clock[child], x->thread_clock[thread]);
}

/* Within a step others may go on, too, and wait for something else in the end. */
static void note_woken(struct mz_exploration *x, int thread)
{
    uint32_t k = x->path.depth;
    if (mz_likely(!x->stateful) || !k || x->path.events[k - 1].thread == thread) return;
    x->stateful->marks[k - 1].woken |= mz_bit(thread);
}

void mz_explore_join(struct mz_exploration *x, int thread, int finished)
{
    if (!live(x)) return;
    note_woken(x, thread);
    mz_clock *clock = &x->thread_clock[thread];
    if (*clock == x->joining && x->joining == x->clock_count - 1) {
        mz_clock_join(x, *clock, x->thread_clock[finished]);
        return;
    }
    mz_clock before = *clock, count = x->clock_count;
    mz_journal_set(x, clock, mz_clock_joined(x, before, x->thread_clock[finished]));
    x->joining = x->clock_count > count ? *clock : 0;
}

void mz_explore_wake(struct mz_exploration *x, mz_number event, int woken)
{
    if (!live(x)) return;
    note_woken(x, woken);
    x->joining = 0;
    if (x->woken_by[woken] == event) {
        mz_journal_set(x, &x->woken_by[woken], 0);
        if (mz_dependence_timeout(x, event, woken)) x->reduction->event(x, 0, 1);
    }
    mz_journal_set(x, &x->thread_clock[woken],
                   mz_clock_joined(x, x->thread_clock[woken], mz_event_at(x, event)->clock));
}

/* The race is looked for when the waiter is woken, not now: it may still have to release the mutex, and only
 * then could it have timed out. */
void mz_explore_could_time_out(struct mz_exploration *x, int waiter)
{
    if (!live(x)) return;
    mz_journal_set(x, &x->woken_by[waiter], x->path.depth);
    if (x->stateful) x->stateful->marks[x->path.depth - 1].timeouts |= mz_bit(waiter);
}

uint32_t mz_explore_release(struct mz_exploration *x, int thread, uint64_t key)
{
    if (!live(x)) return 0;
    uint32_t object = mz_object_find(x, key, 0);
    x->joining = 0;
    mz_journal_set(x, &x->objects[object].release, x->thread_clock[thread]);
    return object;
}

void mz_explore_set(struct mz_exploration *x, uint32_t *slot, uint32_t value)
{
    mz_journal_set(x, slot, value);
}

void mz_explore_note(struct mz_exploration *x, uint64_t value)
{
    x->path.events[x->path.depth - 1].expected = value;
}

uint32_t mz_explore_object(struct mz_exploration *x, uint64_t key) { return mz_object_find(x, key, 0); }

mz_number mz_explore_last_event(const struct mz_exploration *x, uint32_t object)
{
    return x->objects[object].last;
}

uint64_t mz_path_memory(const struct mz_exploration *x)
{
    return x->path_bytes + x->object_count * sizeof *x->objects;
}

uint64_t mz_explore_trees(const struct mz_exploration *x)
{
    return (uint64_t)x->wakeup_count * sizeof *x->wakeup;
}

uint64_t mz_explore_memory(struct mz_exploration *x)
{
    const struct mz_node *last = &x->nodes[x->path.depth];
    uint64_t per_step = sizeof(struct mz_event) + sizeof(struct mz_brief) + sizeof(struct mz_node) +
                        sizeof(struct mz_step) + sizeof(mz_number) + sizeof *x->sequence.elems +
                        3 * sizeof(uint32_t);
    uint64_t now = x->path.depth * per_step +
                   (uint64_t)x->clock_count * (MZ_MAX_THREADS * sizeof *x->clocks + sizeof *x->recent) +
                   (uint64_t)(last->sleep_start + last->sleep_count) * sizeof *x->sleep +
                   (uint64_t)x->journal_count * sizeof *x->journal +
                   (uint64_t)x->race_count * sizeof *x->races;
    if (now > x->path_bytes) x->path_bytes = now;
    return mz_path_memory(x) + mz_explore_trees(x) + (x->stateful ? mz_stateful_memory(x) : 0);
}

bool mz_explore_full(struct mz_exploration *x)
{
    uint64_t limit = x->options.memory_limit;
    if (mz_unlikely(x->options.full != NULL) && x->options.full(x->options.system)) return true;
    return (limit && mz_explore_memory(x) > limit) || x->wakeup_count + x->capacity > MZ_WAKEUP_NODES;
}

static void rewind_to(struct mz_exploration *x, uint32_t k)
{
    mz_journal_undo(x, x->nodes[k].journal);
    x->clock_count = x->nodes[k].clocks;
    x->joining = 0;
    x->race_count = x->nodes[k].races;
    x->path.steps[k] = x->nodes[k].step;
    x->path.replay = k;
    x->path.live = false;
    x->nodes[k].before = mz_tally_of(&x->counters);
    if (mz_unlikely(x->tree_log)) mz_tree_log_rewind(x, k);
}

void mz_rewind_all(struct mz_exploration *x)
{
    for (uint32_t k = x->share.kept; k <= x->path.depth; k++) mz_wakeup_clear(x, &x->nodes[k].wakeup);
    mz_journal_undo(x, 0);
    x->race_count = 0;
    x->clock_count = 1;
    x->joining = 0;
    x->path.replay = 0;
    x->restart = false;
    x->path.live = true;
}

static void start_over(struct mz_exploration *x)
{
    x->share.kept = 0;
    mz_rewind_all(x);
    x->counters.executions = x->counters.blocked = x->counters.cut = x->counters.transitions = 0;
    x->counters.races = x->counters.max_depth = 0;
    x->counters.states = x->counters.revisited = x->counters.matches = x->counters.peeks = 0;
    x->counters.restarts++;
    x->counters.share = 0;
    if (x->stateful) mz_stateful_clear(x);
    if (x->tree_log) mz_tree_log_restart(x);
}

void mz_explore_reuse(struct mz_exploration *x)
{
    start_over(x);
    x->reduction = reduction_of(x->options.algorithm);
    x->counters.fell_back = x->counters.forgot = 0;
    x->sections = 0;
    if (mz_shared(x)) mz_share_reuse(x);
    for (uint32_t o = 0; x->stateful && o < x->object_count; o++)
        x->objects[o].user = 0, x->objects[o].trusted = false;
}

static void count(struct mz_exploration *x)
{
    struct mz_counters *c = &x->counters;
    if (x->ending == MZ_ENDING_MAXIMAL && x->cut)
        c->cut++;
    else if (x->ending == MZ_ENDING_MAXIMAL)
        c->executions++;
    else if (x->ending == MZ_ENDING_ASLEEP)
        c->blocked++;
    else if (x->ending == MZ_ENDING_VISITED)
        c->revisited++;
    else if (x->ending == MZ_ENDING_PEEKED)
        c->peeks++;
    c->transitions += x->path.depth > x->path.replay ? x->path.depth - x->path.replay : 0;
    c->operations += x->path.depth;
    if (x->path.depth > c->max_depth) c->max_depth = x->path.depth;
}

/* Something that should have been analysed was not: there is nothing sound to go on with. */
static bool cut_short(const struct mz_exploration *x)
{
    switch (x->ending) {
    case MZ_ENDING_MAXIMAL:
    case MZ_ENDING_ASLEEP:
    case MZ_ENDING_VISITED:
    case MZ_ENDING_PEEKED:
        return false;
    default:
        return true;
    }
}

/* Up the path to a node with a branch left. */
static bool climb(struct mz_exploration *x)
{
    for (uint32_t k = x->path.depth + x->barren; k-- > x->share.top;) {
        if (x->options.sleep_sets && !(x->barren && k == x->path.depth))
            mz_sleep_add(x, k, mz_elem_of(&x->path.events[k]));
        if (mz_unlikely(x->nodes[k].sleep_count > x->nodes[k].inherited + 1)) mz_estimate_branch(x, k);
        if (x->reduction->next(x, k)) {
            rewind_to(x, k);
            return true;
        }
    }
    return false;
}

bool mz_explore_end(struct mz_exploration *x)
{
    uint32_t branch;
    bool walked = mz_recheck_walks(x);
    if (mz_likely(!walked)) count(x);
    /* A search that starts over may know better how to keep an execution short. */
    if (cut_short(x) && !(x->restart && x->ending == MZ_ENDING_STEP_LIMIT)) return false;
    if (x->restart) {
        start_over(x);
        if (mz_shared(x)) mz_share_restart(x);
        return true;
    }
    if (mz_likely(!walked)) x->reduction->end(x);
    if (mz_unlikely(walked) && mz_recheck_next(x, &branch)) {
        rewind_to(x, branch);
        return true;
    }
    if (x->options.memory_limit && !x->stateful && mz_explore_full(x)) x->ending = MZ_ENDING_MEMORY;
    if (x->ending == MZ_ENDING_MEMORY && mz_can_fall_back(x)) mz_fall_back(x);
    if (cut_short(x)) return false;
    if (mz_unlikely(mz_shared(x))) mz_share_offer(x);
    if (mz_unlikely(x->tree_log)) mz_tree_log_execution(x);
    if (climb(x)) return true;
    if (x->tree_log) mz_tree_log_end(x);
    x->counters.share = MZ_SHARE_ONE;
    return false;
}

bool mz_explore_again(struct mz_exploration *x)
{
    if (cut_short(x)) return false;
    start_over(x);
    return true;
}

void mz_explore_again_last(struct mz_exploration *x)
{
    x->path.replay = x->path.depth;
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
    count(x);
}

enum mz_ending mz_explore_ending(const struct mz_exploration *x) { return x->ending; }

uint32_t mz_explore_steps(const struct mz_exploration *x, const struct mz_step **steps)
{
    *steps = x->path.steps;
    return x->path.depth;
}

bool mz_explore_happens_before(const struct mz_exploration *x, uint32_t i, uint32_t j)
{
    return i < j && mz_clock_covers(x, x->path.events[j].clock, i + 1);
}

struct mz_counters *mz_explore_counters(struct mz_exploration *x) { return &x->counters; }
