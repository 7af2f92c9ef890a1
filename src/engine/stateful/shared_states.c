/* A stateful search that several workers share: the side of a worker. The memory that they share is event/finished.h.
 *
 * Each worker runs the whole search, as if it were alone, from the first state on. Only the order in which it tries the
 * threads is its own. When a component of the graph of states is complete, the worker publishes its states: they are
 * *finished*, each with its future. To all other workers, a finished state is one that they have left before. The first
 * worker that leaves the first state has completed the search, for all.
 *
 * Why nothing is missed. Let C(s) be: for every execution from state s there is an explored path that does the same, up
 * to the order of independent events; and what is stored as the future of s includes all that happens and all that stays
 * blocked from there on. Claim: C holds for every finished state. Take the states in the order in which they became
 * finished. Worker W publishes a component when it leaves the last state of it. Every step that W explored from there led
 * to another state of the component, or to a state with C: one that W has left before, or one that was finished when W
 * came to it. So W knows of these states what a search by one worker knows of the states that it has left, and the
 * argument of stateful.h for the component uses nothing else. It makes no difference that a finished state t may lead
 * back into W's component: another worker finished t without W's component, so the induction is not circular.
 *
 *   Cycles       A cycle that W closes, it sees (T1). If a state of the cycle is finished, C holds for it without W, and
 *                the step to it leaves the component. A cycle that nothing leads out of becomes finished as a whole, by
 *                one worker, which reports it before it publishes it.
 *   SDPOR        The future of a state is what the graph of operations reaches from the pending operations. Workers
 *                share the edges of their graphs. The edges below a state are told before the state is published.
 *                More edges are sound, and only cost reduction. Events on W's own path, and their happens-before, are
 *                W's own.
 *   Findings     They are in the memory that the command shares with the worker before the state that follows them can
 *                be left. The same is true of everything else that a worker reports.
 *   Data races   The history that decides about them belongs to the identity of a state, so it belongs to the key.
 *   Deltas       The numbers of deltas are a worker's own, so deltas cannot be shared (cmd/check_explore.c).
 *   Unique       A state that is made unlike all others is not published, and not looked up.
 *   Deaths       What is finished stays finished; all else of the worker is lost, and nobody relied on it. So a dead
 *                worker needs no replacement for the search to be complete, a checkpoint is the shared memory, and
 *                workers that start from it are like workers that start late.
 *
 * Facts. A search relies on facts that accumulate while it runs: which thread alone uses an object, which objects overlap,
 * how places are accessed. If one is refuted, the search starts over. No worker sees all states, so two workers could each
 * see one half of the refutation. Therefore
 *
 *   S1  a worker tells its facts to all before it publishes a state; also what it relied on (MZ_FACT_TRUSTED);
 *   S2  a worker takes in the facts of all others from time to time, and always before it says that the search is
 *       complete. What they refute makes it start over, as if it had seen it itself;
 *   S3  a worker that has to start over publishes nothing until it has (is_sound).
 *
 * When the search is complete, the worker that says so has the facts of all states that it relied on: it has seen the
 * state, or its publisher has told them before. They refute nothing.
 *
 * Rounds. When a worker starts over, a new round begins. The number of the round is a part of the key of its states, so
 * no worker finds states of another round. The worker sends the balancer the number, the count of facts that it has taken
 * in (`base`), and what the system has learned; the balancer ends the other workers, and new ones begin with exactly
 * that. So in one round all workers begin with the same facts, and states have the same identities in all of them, except
 * in a worker that has to start over (S3). If two workers start over at once, the balancer hears one of them first, and
 * ends the other: what it has learned is lost, and will be learned again.
 *
 * The numbers of awaited objects are a part of the identity of states. A worker that gives a new number starts over
 * (runtime/sync/await.c), so in one round all workers have the same numbers. */
#include <string.h>
#include "engine/stateful/stateful.h"
#include "engine/worker_part.h"
#include "event/finished.h"
#include "base/region.h"

#define OBJECTS (MZ_OBJECT_TABLE / 2)
#define SETS    (1u << 28)
#define LARGEST (1u << 20) /* entries of a set that is shared */

struct mz_shared_states {
    struct mz_finished *table; /* NULL until the worker has a task */
    uint64_t salt, round;
    uint64_t base, read;  /* facts that were taken in before the round began; that have been taken in */
    uint64_t unique;      /* states that were left, but not published, since the last one that was */
    uint32_t worker;      /* its number; decides about the order of threads */
    bool no_room;         /* for facts: nothing can be published any more */
    uint32_t changes;     /* trace.changes, when all objects had been told */
    uint8_t *told;        /* of each object: its size and whether it is bare, plus two; 0: not told */
    uint32_t objects;     /* those in `told` */
    struct mz_fact *news; /* users of objects that have not been told */
    uint32_t news_count, edges_told;
    uint32_t *number;      /* of each set: its number in the table; 0: none yet */
    mz_future *own;        /* the other way round */
    uint32_t sets, shared; /* the largest entries used, plus one */
    struct mz_shared_elem *scratch;
};

static void each_array(struct mz_shared_states *s, void (*f)(void **array, size_t bytes))
{
    f((void **)&s->told, OBJECTS * sizeof *s->told);
    f((void **)&s->news, OBJECTS * sizeof *s->news);
    f((void **)&s->number, (size_t)SETS * sizeof *s->number);
    f((void **)&s->own, (size_t)SETS * sizeof *s->own);
    f((void **)&s->scratch, (size_t)LARGEST * sizeof *s->scratch);
}

/* ---- facts ---- */

static const struct mz_share_options *options(const struct mz_exploration *x) { return x->options.share; }

static struct mz_shared_elem elem_out(const struct mz_exploration *x, const struct mz_elem *e)
{
    struct mz_shared_elem out = {.key = e->object, .thread = e->thread, .access = e->access, .op = e->op};
    if (e->op == MZ_OP_WOKEN || !e->object) return out;
    const struct mz_object *o = &x->trace.objects[e->object];
    out.key = o->key;
    out.has_object = 1;
    out.size = o->size;
    return out;
}

static struct mz_elem elem_in(struct mz_exploration *x, const struct mz_shared_elem *e)
{
    struct mz_elem in = {.object = (uint32_t)e->key, .thread = e->thread, .access = e->access, .op = e->op};
    if (e->has_object) in.object = mz_object_find(&x->trace, e->key, e->size);
    return in;
}

static bool tell(struct mz_shared_states *s, const struct mz_fact *fact)
{
    if (!s->no_room && !mz_finished_tell(s->table, fact)) s->no_room = true;
    return !s->no_room;
}

static bool tell_objects(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    if (mz_likely(s->changes == x->trace.changes)) return true;
    for (uint32_t o = 1; o < x->trace.object_count; o++) {
        const struct mz_object *object = &x->trace.objects[o];
        uint8_t now = (uint8_t)(2 + (object->size << 1 | object->bare));
        if (s->told[o] == now) continue;
        struct mz_fact fact = {
            .kind = MZ_FACT_OBJECT, .small = {object->size, object->bare}, .words = {object->key}};
        if (!tell(s, &fact)) return false;
        s->told[o] = now;
    }
    s->objects = x->trace.object_count;
    s->changes = x->trace.changes;
    return true;
}

static bool tell_news(struct mz_shared_states *s)
{
    for (; s->news_count; s->news_count--)
        if (!tell(s, &s->news[s->news_count - 1])) return false;
    return true;
}

static bool tell_edges(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    struct mz_elem from, to;
    if (!x->stateful->graph) return true;
    for (; mz_graph_edge_at(x->stateful->graph, s->edges_told, &from, &to); s->edges_told++) {
        struct mz_fact fact = {.kind = MZ_FACT_EDGE, .elems = {elem_out(x, &from), elem_out(x, &to)}};
        if (!tell(s, &fact)) return false;
    }
    return true;
}

/* S1. False if there is no room. */
static bool tell_all(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    if (!tell_objects(x) || !tell_news(s) || !tell_edges(x)) return false;
    if (options(x)->tell_facts && !options(x)->tell_facts(x->options.system)) s->no_room = true;
    return !s->no_room;
}

void mz_shared_note_user(struct mz_exploration *x, uint32_t object, int thread, bool trusted)
{
    struct mz_shared_states *s = x->stateful->shared;
    if (s->no_room) return;
    MZ_ASSERT(s->news_count < OBJECTS);
    s->news[s->news_count++] = (struct mz_fact){.kind = trusted ? MZ_FACT_TRUSTED : MZ_FACT_USER,
                                                .small = {(uint32_t)thread, x->trace.objects[object].size},
                                                .words = {x->trace.objects[object].key}};
}

static void learn_object(struct mz_exploration *x, const struct mz_fact *f)
{
    uint32_t o = mz_object_find(&x->trace, f->words[0], f->small[0] & 31);
    if (f->small[1]) x->trace.objects[o].bare = true;
}

static void learn_user(struct mz_exploration *x, const struct mz_fact *f)
{
    uint32_t o = mz_object_find(&x->trace, f->words[0], f->small[1] & 31);
    mz_stateful_user(x, (int)(f->small[0] % MZ_MAX_THREADS), o, f->kind == MZ_FACT_TRUSTED);
}

static void learn_edge(struct mz_exploration *x, const struct mz_fact *f)
{
    struct mz_graph *g = x->stateful->graph;
    if (g)
        mz_graph_edge(g, mz_graph_node(g, elem_in(x, &f->elems[0])),
                      mz_graph_node(g, elem_in(x, &f->elems[1])));
}

static void learn(struct mz_exploration *x, const struct mz_fact *f)
{
    if (f->kind == MZ_FACT_OBJECT)
        learn_object(x, f);
    else if (f->kind == MZ_FACT_USER || f->kind == MZ_FACT_TRUSTED)
        learn_user(x, f);
    else if (f->kind == MZ_FACT_EDGE)
        learn_edge(x, f);
    else if (options(x)->learn_fact)
        options(x)->learn_fact(x->options.system, f);
}

/* What has just been taken in need not be told. */
static void learn_up_to(struct mz_exploration *x, uint64_t end)
{
    struct mz_shared_states *s = x->stateful->shared;
    uint32_t news = s->news_count;
    for (; s->read < end; s->read++) {
        const struct mz_fact *f = mz_finished_fact(s->table, s->read);
        if (f) learn(x, f);
    }
    s->news_count = news;
    if (x->stateful->graph) s->edges_told = mz_graph_edges(x->stateful->graph);
}

/* S2 */
static void learn_all(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    if (mz_likely(s->read == mz_finished_told(s->table))) return;
    tell_all(x);
    learn_up_to(x, mz_finished_told(s->table));
}

/* ---- states ---- */

/* S3 */
static bool is_sound(const struct mz_exploration *x)
{
    return !x->trace.outdated && !(options(x)->is_stale && options(x)->is_stale(x->options.system));
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (z ^ z >> 27) * 0x94d049bb133111ebu;
}

static void make_key(const struct mz_shared_states *s, const uint64_t *hash, uint64_t key[2])
{
    uint64_t own = mix(s->salt + (s->round + 1) * 0x9e3779b97f4a7c15u);
    key[0] = hash[0] ^ own;
    key[1] = hash[1] ^ own * 0xd6e8feb86659fd93u;
}

static mz_future future_in(struct mz_exploration *x, uint32_t number)
{
    struct mz_shared_states *s = x->stateful->shared;
    uint32_t count;
    mz_future future = 0;
    if (!number || number >= SETS) return 0;
    if (s->own[number]) return s->own[number];
    const struct mz_shared_elem *elems = mz_finished_set(s->table, number, &count);
    for (uint32_t i = 0; elems && i < count; i++)
        future = mz_future_with(x->stateful->futures, future, elem_in(x, &elems[i]));
    if (number >= s->shared) s->shared = number + 1;
    return s->own[number] = future;
}

/* The number of the set in the table, plus one; 0 if there is no room. */
static uint32_t future_out(struct mz_exploration *x, mz_future future)
{
    struct mz_shared_states *s = x->stateful->shared;
    uint32_t count;
    if (!future || !x->stateful->futures) return 1;
    if (s->number[future]) return s->number[future] + 1;
    const struct mz_elem *entries = mz_future_entries(x->stateful->futures, future, &count);
    if (count > LARGEST) return 0;
    for (uint32_t i = 0; i < count; i++) s->scratch[i] = elem_out(x, &entries[i]);
    if (future >= s->sets) s->sets = future + 1;
    s->number[future] = mz_finished_put_set(s->table, s->scratch, count);
    return s->number[future] ? s->number[future] + 1 : 0;
}

static bool is_unique(const struct mz_exploration *x)
{
    return x->options.state_is_unique && x->options.state_is_unique(x->options.system);
}

bool mz_shared_is_finished(struct mz_exploration *x, const struct mz_state *state, mz_future *future)
{
    struct mz_shared_states *s = x->stateful->shared;
    uint64_t key[2];
    uint32_t number;
    if (is_unique(x)) return false;
    make_key(s, state->hash, key);
    if (!mz_finished_find(s->table, key, &number)) return false;
    *future = x->stateful->futures ? future_in(x, number) : 0;
    return true;
}

void mz_shared_follow(struct mz_exploration *x)
{
    if (x->stateful->graph) learn_all(x);
}

uint8_t mz_shared_flag(const struct mz_exploration *x) { return is_unique(x) ? MZ_STATE_UNIQUE : 0; }

/* Each state counts once: if two workers have explored a part, the one whose states were added first counts the unique
 * states in it, too. */
static void count(struct mz_shared_states *s, uint64_t added, bool complete)
{
    if (!added && !complete) return;
    mz_finished_count(s->table, s->round, added + s->unique);
    s->unique = 0;
}

void mz_shared_publish(struct mz_exploration *x, const uint32_t *states, uint32_t size, mz_future future)
{
    struct mz_shared_states *s = x->stateful->shared;
    uint32_t number = is_sound(x) && tell_all(x) ? future_out(x, future) : 0;
    uint64_t added = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint64_t key[2];
        bool unique = x->stateful->store.flags[states[i]] & MZ_STATE_UNIQUE;
        s->unique += unique || !number;
        if (unique || !number) continue;
        make_key(s, x->stateful->store.hash[states[i]], key);
        enum mz_added how = mz_finished_add(s->table, key, number - 1);
        added += how == MZ_ADDED;
        s->unique += how == MZ_ADDED_NOT;
        if (how == MZ_ADDED_BEFORE) s->unique = 0;
    }
    count(s, added, false);
}

uint32_t mz_shared_worker(const struct mz_exploration *x) { return x->stateful->shared->worker; }

/* ---- the life of a worker ---- */

/* The search is about to begin: it relies on no fact so far. */
static void settle(struct mz_exploration *x)
{
    x->trace.outdated = false;
    if (options(x)->settle) options(x)->settle(x->options.system);
}

static void cleared(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    memset(s->number, 0, s->sets * sizeof *s->number);
    memset(s->own, 0, s->shared * sizeof *s->own);
    s->sets = s->shared = s->edges_told = 0;
    s->unique = 0;
}

static void begin(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    s->round = s->base = s->read = 0;
    s->news_count = 0;
    s->changes = ~x->trace.changes;
    s->no_room = false;
    memset(s->told, 0, s->objects * sizeof *s->told);
    s->objects = 0;
}

static void init(struct mz_exploration *x)
{
    struct mz_shared_states *s = mz_region_reserve(sizeof *s);
    MZ_ASSERT(s != NULL);
    mz_frontier_shared.init(x);
    each_array(s, mz_array_reserve);
    x->stateful->shared = s;
    begin(x);
}

static void release(struct mz_exploration *x)
{
    each_array(x->stateful->shared, mz_array_release);
    mz_region_free(x->stateful->shared, sizeof *x->stateful->shared);
    x->stateful->shared = NULL;
    mz_frontier_shared.release(x);
}

static void reused(struct mz_exploration *x)
{
    mz_frontier_shared.reused(x);
    cleared(x);
    begin(x);
}

void mz_shared_put_round(struct mz_exploration *x, struct mz_message *m)
{
    mz_put_long(m, x->stateful->shared->round);
    mz_put_long(m, x->stateful->shared->base);
}

void mz_shared_get_round(struct mz_exploration *x, struct mz_message *m)
{
    x->stateful->shared->round = mz_get_long(m);
    x->stateful->shared->base = mz_get_long(m);
}

/* The whole search is the task. */
bool mz_shared_task(struct mz_exploration *x, struct mz_message *m)
{
    struct mz_shared_states *s = x->stateful->shared;
    if (mz_get(m) != MZ_SHARE_TASK || !mz_get(m)) return false;
    s->table = options(x)->finished(x->options.system, &s->salt);
    s->worker = mz_finished_worker(s->table);
    x->stateful->random = x->options.order_seed + s->worker;
    mz_share_get_knowledge(x, m);
    if (m->bad || s->base > mz_finished_told(s->table)) return false;
    learn_up_to(x, s->base);
    settle(x);
    return true;
}

void mz_shared_done(struct mz_exploration *x)
{
    count(x->stateful->shared, 0, true);
    mz_finished_complete(x->stateful->shared->table, x->stateful->shared->round);
    mz_share_begin(x, MZ_SHARE_DONE);
    mz_share_send(x);
}

static void restarted(struct mz_exploration *x)
{
    struct mz_shared_states *s = x->stateful->shared;
    learn_all(x);
    tell_all(x);
    learn_up_to(x, mz_finished_told(s->table));
    settle(x);
    s->base = s->read;
    s->round = mz_finished_new_round(s->table);
    x->share->knowledge_due = true;
    mz_share_put_knowledge(x, mz_share_begin(x, MZ_SHARE_RESTART));
    mz_share_send(x);
}

bool mz_explore_is_over(const struct mz_exploration *x)
{
    uint64_t round;
    const struct mz_stateful *s = x->stateful;
    return s && s->shared && s->shared->table && mz_finished_is_complete(s->shared->table, &round) &&
           round == s->shared->round;
}

const struct mz_frontier mz_frontier_states = {
    .init = init,
    .release = release,
    .executed = learn_all,
    .finished = learn_all,
    .cleared = cleared,
    .restarted = restarted,
    .reused = reused,
};
