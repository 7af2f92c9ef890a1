/* The walk over the graph of states that all stateful algorithms share, see stateful.h.
 *
 * A tour: mz_stateful_arrive is called at each new node, before anything else; mz_stateful_enter takes the
 * first step from it. When an execution ends, mz_stateful_end notes what its last step led to
 * (stateful->child). For each node on the way up, mz_stateful_next adds that to the node (absorb), and goes
 * on with another choice or thread, or leaves the node. A node that is left is itself the child of the node
 * before. */
#include <string.h>
#include "engine/persistent.h"
#include "engine/stateful/stateful.h"
#include "engine/reduction.h"
#include "base/region.h"

#define MAX_STATES (1u << 28)

struct mz_stateful *mz_stateful_new(struct mz_exploration *x)
{
    struct mz_stateful *s = mz_region_reserve(sizeof *s);
    MZ_ASSERT(s != NULL && x->options.state != NULL);
    mz_store_new(&s->store, x->reduction->uses_later_accesses, x->options.state_bytes != NULL,
                 x->options.sleep_sets);
    s->marks = mz_region_reserve((size_t)(x->trace.capacity + 1) * sizeof *s->marks);
    s->component = mz_region_reserve((size_t)MAX_STATES * sizeof *s->component);
    s->users = mz_region_reserve(MZ_OBJECT_TABLE / 2 * sizeof *s->users);
    MZ_ASSERT(s->marks && s->component && s->users);
    if (x->reduction->uses_later_accesses) s->futures = mz_futures_new();
    s->luck = mz_region_reserve(MZ_MAX_THREADS * sizeof *s->luck);
    MZ_ASSERT(s->luck);
    if (x->reduction->uses_operation_graph) s->graph = mz_graph_new();
    if (x->options.check_states) s->check = mz_recheck_new(x);
    s->random = x->options.order_seed;
    return s; /* frontier.init adds what is shared */
}

void mz_stateful_free(struct mz_exploration *x)
{
    struct mz_stateful *s = x->stateful;
    mz_store_free(&s->store);
    if (s->futures) mz_futures_free(s->futures);
    if (s->graph) mz_graph_free(s->graph);
    if (s->check) mz_recheck_free(x, s->check);
    if (s->position) mz_region_free(s->position, (size_t)MAX_STATES * sizeof *s->position);
    mz_region_free(s->users, MZ_OBJECT_TABLE / 2 * sizeof *s->users);
    mz_region_free(s->marks, (size_t)(x->trace.capacity + 1) * sizeof *s->marks);
    mz_region_free(s->luck, MZ_MAX_THREADS * sizeof *s->luck);
    mz_region_free(s->component, (size_t)MAX_STATES * sizeof *s->component);
    mz_region_free(s, sizeof *s);
    x->stateful = NULL;
}

void mz_stateful_clear(struct mz_exploration *x)
{
    struct mz_stateful *s = x->stateful;
    mz_store_clear(&s->store);
    if (s->futures) mz_futures_clear(s->futures);
    if (s->graph) mz_graph_clear(s->graph);
    if (s->check) mz_recheck_clear(s->check);
    if (x->options.order == MZ_ORDER_LEARNED) memset(s->luck, 0, MZ_MAX_THREADS * sizeof *s->luck);
    s->component_count = 0;
    if (s->position) mz_region_free(s->position, (size_t)MAX_STATES * sizeof *s->position);
    s->position = NULL;
    s->random = x->options.order_seed;
}

void mz_stateful_reuse(struct mz_exploration *x)
{
    memset(x->stateful->users, 0, x->trace.object_count * sizeof *x->stateful->users);
}

uint64_t mz_stateful_memory(const struct mz_exploration *x)
{
    const struct mz_stateful *s = x->stateful;
    return mz_store_memory(&s->store) + s->component_count * sizeof *s->component +
           (s->position ? s->store.count * sizeof *s->position : 0) +
           (s->futures ? mz_futures_memory(s->futures) : 0) + (s->graph ? mz_graph_memory(s->graph) : 0) +
           x->path.depth * sizeof *s->marks;
}

bool mz_stateful_full(const struct mz_exploration *x)
{
    const struct mz_stateful *s = x->stateful;
    return (s->futures && mz_futures_full(s->futures)) || (s->graph && mz_graph_full(s->graph));
}

/* The place of an open state in the order of discovery. */
static uint32_t discovered(const struct mz_stateful *s, uint32_t n)
{
    return s->position ? s->position[n] : n;
}

/* ---- the order of threads ---- */

/* The workers of a shared search begin with different threads, so that they meet late. */
int mz_stateful_pick(struct mz_exploration *x, uint64_t threads)
{
    uint32_t worker = x->stateful->shared ? mz_shared_worker(x) : 0;
    if (x->options.order == MZ_ORDER_RANDOM || worker > 1) {
        uint64_t z = x->stateful->random += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        for (uint64_t skip = (z ^ z >> 31) % (uint64_t)__builtin_popcountll(threads); skip; skip--)
            threads &= threads - 1;
    }
    return worker == 1 ? 63 - __builtin_clzll(threads) : __builtin_ctzll(threads);
}

/* --order=learned: the thread that is explored first decides how many others must be explored. If exploring a
 * thread alone was enough when it was about to use an object, it will often be enough again. Luck is a moving
 * average of 1000 for yes and -1000 for no. */
static int16_t *luck(struct mz_exploration *x, uint32_t k, int thread)
{
    return &x->stateful->luck[thread][x->stateful->marks[k].blocked_on[thread] % MZ_LUCK];
}

int mz_stateful_first(struct mz_exploration *x, uint32_t k)
{
    struct mz_mark *m = &x->stateful->marks[k];
    uint64_t enabled = x->nodes[k].enabled;
    int best = mz_stateful_pick(x, enabled);
    for (uint64_t t = enabled; t && x->options.order == MZ_ORDER_LEARNED; t &= t - 1)
        if (*luck(x, k, __builtin_ctzll(t)) > *luck(x, k, best)) best = __builtin_ctzll(t);
    m->first = (uint8_t)best;
    return best;
}

/* Node k is complete: update the luck of its first thread. */
static void learn(struct mz_exploration *x, uint32_t k)
{
    const struct mz_mark *m = &x->stateful->marks[k];
    const struct mz_node *n = &x->nodes[k];
    if (!x->stateful->futures || m->single || !(n->enabled & (n->enabled - 1)) || !n->done) return;
    int16_t *l = luck(x, k, m->first), now = n->done & (n->done - 1) ? -1000 : 1000;
    *l = (int16_t)(*l + (now - *l) / 16);
}

/* ---- arriving ---- */

void mz_stateful_user(struct mz_exploration *x, int thread, uint32_t object, bool trusted)
{
    struct mz_user *u = &x->stateful->users[object];
    bool shared = x->stateful->shared != NULL;
    if (!object) return;
    if (u->thread != thread + 1 && u->thread != MZ_SHARED) {
        if (u->thread && u->trusted) x->trace.outdated = true;
        u->thread = u->thread ? MZ_SHARED : (uint8_t)(thread + 1);
        if (shared) mz_shared_note_user(x, object, thread, false);
    }
    if (!trusted) return;
    if (u->thread == MZ_SHARED) x->trace.outdated = true;
    if (shared && !u->trusted) mz_shared_note_user(x, object, thread, true);
    u->trusted = true;
}

/* The thread is about to use the object. */
static void note_user(struct mz_exploration *x, int thread, uint32_t object)
{
    const struct mz_user *u = &x->stateful->users[object];
    if (mz_likely(u->thread == thread + 1 || u->thread == MZ_SHARED)) return;
    mz_stateful_user(x, thread, object, false);
}

struct mz_elem mz_blocked_entry(const struct mz_exploration *x, int thread, uint32_t object)
{
    const struct mz_pending *p = mz_pending_of(x, thread);
    bool work_to_do = mz_op_in(MZ_OPS_BLOCK & MZ_OPS_FAIL, p->op); /* dependence.c */
    bool writes = work_to_do || (p->op == MZ_OP_CAS && mz_cas_writes(&x->trace, object));
    uint8_t access = writes ? MZ_WRITES : p->access;
    return mz_future_entry(x, (struct mz_elem){object, (uint8_t)thread, access, 0, p->op});
}

/* Note the state of all threads at node k. */
static void look_around(struct mz_exploration *x, uint32_t k)
{
    struct mz_mark *m = &x->stateful->marks[k];
    m->alive = x->view->alive;
    m->sleeping = 0;
    for (uint64_t t = m->alive; t; t &= t - 1) {
        int p = __builtin_ctzll(t);
        const struct mz_pending *pending = mz_pending_of(x, p);
        if (pending->op == MZ_OP_NONE)
            m->sleeping |= mz_bit(p);
        else
            note_user(x, p, m->blocked_on[p] = mz_object_of(&x->trace, pending));
        if (pending->op == MZ_OP_NONE || x->view->enabled & mz_bit(p)) continue;
        mz_number last = mz_has_holder(pending->op) ? x->trace.objects[m->blocked_on[p]].last_acquire : 0;
        uint8_t first = mz_has_holder(pending->op) ? 0 : MZ_NOBODY; /* thread 0 locked it before main began */
        m->holder[p] = last ? mz_event_at(&x->trace, last)->thread : first;
    }
}

/* Threads that the step before node k started or woke, also those that wait again. */
static uint64_t stirred_by(const struct mz_exploration *x, uint32_t k)
{
    const struct mz_mark *before = &x->stateful->marks[k - 1], *m = &x->stateful->marks[k];
    uint64_t set = (m->alive & ~before->alive) | (before->sleeping & ~m->sleeping) | before->woken;
    return set & ~mz_bit(x->trace.events[k - 1].thread);
}

static void fresh_mark(struct mz_exploration *x, uint32_t k)
{
    struct mz_stateful *s = x->stateful;
    struct mz_mark *m = &s->marks[k];
    m->low = discovered(s, m->state);
    m->future = 0;
    m->cyclic = m->progress = m->single = false;
    m->peek = 0;
    m->cycle = (struct mz_cycle){0};
    if (!s->futures) return;
    for (uint64_t t = m->alive & ~m->sleeping & ~x->view->enabled; t; t &= t - 1) {
        int p = __builtin_ctzll(t);
        m->future = mz_future_with(s->futures, m->future, mz_blocked_entry(x, p, m->blocked_on[p]));
    }
}

/* Has node k no other thread to try? Then every step leads to a new state. One of them must be explored
 * first: take the step that has just been tried. */
static bool is_last_peek(struct mz_exploration *x, uint32_t k)
{
    struct mz_mark *m = &x->stateful->marks[k];
    uint64_t self = mz_bit(x->nodes[k].step.thread);
    if (x->nodes[k].done || m->peek != self) return false;
    x->nodes[k].backtrack = self;
    m->peek = 0;
    return true;
}

#define LOOK 64 /* check the memory once in this many states */

/* Memory is short at node k: from now on, forget states. */
static void begin_to_forget(struct mz_exploration *x, uint32_t k)
{
    struct mz_stateful *s = x->stateful;
    s->position = mz_region_reserve((size_t)MAX_STATES * sizeof *s->position);
    MZ_ASSERT(s->position);
    for (uint32_t i = 0; i < s->component_count; i++) s->position[s->component[i]] = i + 1;
    for (uint32_t i = 0; i < k; i++) s->marks[i].low = s->position[s->marks[i].low];
    x->counters.forgot = x->counters.states;
}

/* Is there room for a few more states? Keep an eighth of the memory for the path, for open states and for
 * futures; when the rest is used up, begin to forget states. (Not if states are kept whole: one does not fit
 * into the place of another.) */
static bool has_room(struct mz_exploration *x, uint32_t k)
{
    struct mz_stateful *s = x->stateful;
    uint64_t limit = x->options.memory_limit, used = mz_search_memory(x) + mz_stateful_memory(x);
    uint64_t soon = used + mz_store_growth(&s->store) + s->store.count * sizeof *s->position;
    bool full = mz_store_full(&s->store) || (limit && soon > limit - limit / 8) ||
                (x->options.full && x->options.full(x->options.system));
    if (full && !s->position && !s->store.end && !s->store.asleep) begin_to_forget(x, k);
    return !mz_stateful_full(x) && (!limit || used <= limit);
}

/* With sleep sets, node k is at state n, or n is 0 and the state is new: what may this visit explore? Nothing if the visits
 * before have explored all that is awake. */
static uint64_t awake(struct mz_exploration *x, uint32_t k, uint32_t n)
{
    struct mz_store *s = &x->stateful->store;
    uint64_t asleep = mz_sleep_whole(x, k), missing = n ? s->asleep[n] & ~asleep : 0;
    if (n && s->flags[n] & MZ_STATE_OPEN && x->persistent) mz_persistent_give_up(x);
    if (n && !missing) return 0;
    if (n) asleep &= s->asleep[n];
    mz_sleep_keep(x, k, asleep);
    return n ? missing : ~asleep;
}

/* Returns the number of the state: a new one, also if the state had the number `old`. */
static uint32_t store(struct mz_exploration *x, uint32_t *slot, uint32_t old, const struct mz_state *state)
{
    struct mz_stateful *s = x->stateful;
    if (old) return mz_store_renew(x, &s->store, slot, old, state);
    uint32_t n = s->position ? mz_store_replace(&s->store, state) : 0;
    return n ? n : mz_store_add(x, &s->store, slot, state);
}

bool mz_stateful_same(struct mz_exploration *x, uint32_t k)
{
    const struct mz_mark *m = &x->stateful->marks[k];
    struct mz_state memory = m->memory;
    if (x->nodes[k].enabled != x->view->enabled || m->alive != x->view->alive) return false;
    for (uint64_t t = m->alive; t; t &= t - 1) {
        int p = __builtin_ctzll(t);
        const struct mz_pending *pending = mz_pending_of(x, p);
        if ((pending->op == MZ_OP_NONE) != (m->sleeping >> p & 1)) return false;
        if (pending->op != MZ_OP_NONE && mz_object_of(&x->trace, pending) != m->blocked_on[p]) return false;
    }
    if (!x->options.state_memory) return true;
    if (x->options.state_is_unique && x->options.state_is_unique(x->options.system)) return true;
    x->options.state_memory(x->options.system, &memory);
    return memory.hash[0] == m->memory.hash[0] && memory.hash[1] == m->memory.hash[1];
}

enum mz_arrival mz_stateful_arrive(struct mz_exploration *x, uint32_t k)
{
    struct mz_stateful *s = x->stateful;
    struct mz_state state;
    uint32_t *slot;
    look_around(x, k);
    if (x->options.state_memory) x->options.state_memory(x->options.system, &s->marks[k].memory);
    if (k > 0) s->marks[k - 1].stirred = stirred_by(x, k);
    uint32_t n = mz_store_find(x, &s->store, &slot, &state);
    s->marks[k].state = n;
    bool finished = !n && s->shared && mz_shared_is_finished(x, &state, &s->marks[k].future);
    x->counters.matches += n > 0 || finished;
    if (finished) return MZ_WAS_THERE;
    s->marks[k].allowed = mz_likely(!s->store.asleep) ? n ? 0 : ~(uint64_t)0 : awake(x, k, n);
    if (!s->marks[k].allowed) return MZ_WAS_THERE;
    s->marks[k].again = n > 0;
    if (k > 0 && s->marks[k - 1].peek && !is_last_peek(x, k - 1)) return MZ_PEEKED;
    x->counters.states += n == 0;
    if ((x->counters.states % LOOK == 0 || x->options.full) && !has_room(x, k)) return MZ_NO_ROOM;
    if (!(n = store(x, slot, n, &state))) return MZ_NO_ROOM;
    if (s->store.asleep) s->store.asleep[n] = x->nodes[k].asleep;
    s->store.flags[n] = MZ_STATE_ON_PATH | MZ_STATE_OPEN;
    if (s->shared) s->store.flags[n] |= mz_shared_flag(x);
    s->component[s->component_count++] = n;
    if (s->position) s->position[n] = s->component_count;
    s->marks[k].state = n;
    fresh_mark(x, k);
    return MZ_ARRIVED;
}

/* ---- steps ---- */

static bool invisible(struct mz_exploration *x, int thread)
{
    const struct mz_pending *p = mz_pending_of(x, thread);
    if (mz_ops[p->op].object == MZ_OBJECT_NOTHING) return true;
    uint32_t o = mz_object_of(&x->trace, p);
    if (p->op == MZ_OP_SECTION || (x->trace.sections && mz_is_memory(&x->trace, p->op, o))) return false;
    if (p->op == MZ_OP_AWAIT || x->trace.objects[o].awaited) return false;
    if (x->trace.all_awaited && mz_is_memory(&x->trace, p->op, o)) return false;
    return x->stateful->users[o].thread == thread + 1;
}

uint64_t mz_stateful_invisible(struct mz_exploration *x, uint32_t k)
{
    for (uint64_t t = x->nodes[k].enabled; t; t &= t - 1) {
        int p = __builtin_ctzll(t);
        if (!invisible(x, p)) continue;
        mz_stateful_user(x, p, x->stateful->marks[k].blocked_on[p], true);
        x->stateful->marks[k].single = true;
        return t & -t;
    }
    return 0;
}

/* The threads to explore from node k. A later visit to a state may have another persistent set: it does not count. */
static uint64_t wanted(struct mz_exploration *x, uint32_t k)
{
    const struct mz_mark *m = &x->stateful->marks[k];
    return (m->again ? x->nodes[k].enabled : x->reduction->threads(x, k)) & m->allowed;
}

struct mz_step mz_stateful_enter(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    struct mz_mark *m = &x->stateful->marks[k];
    n->backtrack = wanted(x, k);
    if (!n->backtrack) return (struct mz_step){.thread = MZ_NOBODY};
    bool peeks = x->options.order == MZ_ORDER_VISITED_FIRST && x->reduction->uses_later_accesses &&
                 !m->single && (n->enabled & (n->enabled - 1));
    if (peeks) m->peek = n->enabled;
    struct mz_step step = {.thread = (uint8_t)mz_stateful_pick(x, peeks ? m->peek : n->backtrack)};
    if (!mz_choose(x, k, &step)) MZ_BUG("an operation without choices");
    m->timeouts = m->woken = m->raw = 0;
    m->current[step.thread] = 0;
    return step;
}

void mz_stateful_event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    x->trace.race_count -= races;
}

/* ---- the way back ---- */

/* Node k is complete: it becomes the child. */
static void leave(struct mz_exploration *x, uint32_t k)
{
    struct mz_stateful *s = x->stateful;
    const struct mz_mark *m = &s->marks[k];
    if (x->options.order == MZ_ORDER_LEARNED) learn(x, k);
    s->child = (struct mz_child){
        .open = m->low != discovered(s, m->state), .low = m->low, .future = m->future, .cycle = m->cycle};
    s->store.flags[m->state] &= (uint8_t)~MZ_STATE_ON_PATH;
    if (s->child.open) return;
    if (m->cyclic && !m->cycle.exits && x->options.endless && !s->store.asleep)
        x->options.endless(x->options.system, k, m->cycle.threads, m->cycle.writers);
    uint32_t end = s->component_count; /* the component is complete: its states have the same future */
    while (s->component[--s->component_count] != m->state) {
    }
    if (s->shared)
        mz_shared_publish(x, s->component + s->component_count, end - s->component_count, m->future);
    for (uint32_t i = s->component_count; i < end; i++) {
        s->store.flags[s->component[i]] = 0;
        if (s->futures) s->store.future[s->component[i]] = m->future;
    }
}

void mz_stateful_end(struct mz_exploration *x)
{
    struct mz_stateful *s = x->stateful;
    uint32_t k = x->path.depth, n = s->marks[k].state;
    if (x->ending == MZ_ENDING_MAXIMAL || x->ending == MZ_ENDING_ASLEEP) {
        leave(x, k);
    } else if (x->ending == MZ_ENDING_PEEKED) {
        s->child = (struct mz_child){.peeked = true};
    } else if (!n) { /* another worker has finished it */
        mz_shared_follow(x);
        s->child = (struct mz_child){.future = s->marks[k].future};
    } else {
        uint8_t flags = s->store.flags[n];
        s->child = (struct mz_child){
            .open = flags & MZ_STATE_OPEN, .on_path = flags & MZ_STATE_ON_PATH, .low = discovered(s, n)};
        if (s->futures && !s->child.open) s->child.future = s->store.future[n];
    }
}

/* Add the step from node k, and what follows it, to the future of node k. */
static void extend_future(struct mz_exploration *x, uint32_t k)
{
    struct mz_futures *f = x->stateful->futures;
    struct mz_mark *m = &x->stateful->marks[k];
    struct mz_elem e = mz_elem_of(&x->trace.events[k]);
    mz_future future = mz_future_union(f, m->future, x->stateful->child.future);
    if (e.object) future = mz_future_with(f, future, mz_future_entry(x, e));
    for (uint64_t t = m->stirred; t; t &= t - 1)
        future = mz_future_with(
            f, future, (struct mz_elem){(uint32_t)__builtin_ctzll(t), e.thread, MZ_WRITES, 0, MZ_OP_WOKEN});
    for (uint64_t t = m->timeouts; t; t &= t - 1) {
        struct mz_elem timeout = {e.object, (uint8_t)__builtin_ctzll(t), MZ_READS, 0, MZ_OP_TIMEOUT};
        future = mz_future_with(f, future, mz_future_entry(x, timeout));
    }
    m->future = future;
}

/* 2023, Algorithm 3, lines 26-28: the threads in conflict with the step from node k later on. The set A is kept
 * with each state instead of being gathered again by going through the graph. */
static void extend_current(struct mz_exploration *x, uint32_t k)
{
    struct mz_mark *m = &x->stateful->marks[k];
    struct mz_elem e = mz_elem_of(&x->trace.events[k]);
    uint64_t stirrers[MZ_MAX_THREADS] = {0}, *current = &m->current[e.thread];
    uint32_t count;
    const struct mz_elem *entries =
        mz_future_entries(x->stateful->futures, x->stateful->child.future, &count);
    uint64_t threads = x->reduction->notes_conflicts_early ? m->raw : mz_conflicting(x, &e, entries, count);
    threads |= m->timeouts;
    if (threads & ~x->nodes[k].enabled) mz_add_stirrers(stirrers, entries, count);
    *current |= mz_needed(x, k, threads, stirrers, entries, count);
}

/* Note whether the step from node k stays in the component of node k, and so is part of a cycle, or leads out
 * of it. */
static void extend_cycle(struct mz_exploration *x, uint32_t k)
{
    const struct mz_child *c = &x->stateful->child;
    const struct mz_event *e = &x->trace.events[k];
    struct mz_cycle *cycle = &x->stateful->marks[k].cycle;
    if (!c->open) {
        cycle->exits = true;
        return;
    }
    cycle->threads |= c->cycle.threads | mz_bit(e->thread);
    cycle->writers |= c->cycle.writers;
    if (e->object && e->access != MZ_READS) cycle->writers |= mz_bit(e->thread);
    cycle->exits |= c->cycle.exits;
}

static void absorb(struct mz_exploration *x, uint32_t k)
{
    const struct mz_child *c = &x->stateful->child;
    struct mz_mark *m = &x->stateful->marks[k];
    uint64_t others = x->nodes[k].enabled & ~x->nodes[k].done & ~mz_bit(x->nodes[k].step.thread);
    if (c->open) {
        m->cyclic = true;
        if (c->low < m->low) m->low = c->low;
    }
    if (!c->on_path) m->progress = true;
    extend_cycle(x, k);
    if (!x->stateful->futures) return;
    if (others && !m->cyclic && !m->single) extend_current(x, k);
    extend_future(x, k);
}

/* The step from node k has been explored with all choices, or postponed: choose the next thread. */
static bool go_on(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    struct mz_mark *m = &x->stateful->marks[k];
    if (n->done) n->backtrack = wanted(x, k);
    uint64_t todo = n->backtrack & ~n->done;
    if (!todo) return false;
    if (m->peek) todo = m->peek;
    n->step = (struct mz_step){.thread = (uint8_t)mz_stateful_pick(x, todo), .choice = MZ_ANY};
    m->timeouts = m->woken = m->raw = 0;
    m->current[n->step.thread] = 0;
    return true;
}

bool mz_stateful_next(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    struct mz_mark *m = &x->stateful->marks[k];
    bool peeked = x->stateful->child.peeked;
    if (peeked)
        x->stateful->child.peeked = false;
    else
        absorb(x, k);
    if (n->choices && !peeked) {
        n->step.choice = (uint8_t)__builtin_ctzll(n->choices);
        n->choices &= n->choices - 1;
        m->timeouts = m->woken = m->raw = 0;
        return true;
    }
    m->peek &= ~mz_bit(n->step.thread);
    if (!peeked) n->done |= mz_bit(n->step.thread);
    if (go_on(x, k)) return true;
    leave(x, k);
    return false;
}
