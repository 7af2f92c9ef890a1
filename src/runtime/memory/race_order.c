/* The synchronization order of C11, which decides whether two accesses are a data race. Do not confuse it
 * with the dependence order of the engine, which orders all conflicting events.
 *
 * Each thread counts its releases (its epoch, from 1). What a thread knows is a vector: for each other
 * thread, the number of its releases that happen before. An access of thread t in its epoch c happens before
 * what thread p does now iff c <= seen(p, t).
 *
 *  - release by p: publishes p's vector with p's epoch in it, then increments the epoch
 *  - acquire by p: joins the vector that the object carries into p's vector
 *  - an object that several threads release together (a read-write lock by its readers, a semaphore, a
 *    barrier) carries one vector for each of them
 *  - an atomic object carries the vectors of the release sequences that its value belongs to, one for each
 *    thread that heads such a sequence. A store ends the sequences of other threads; a read-modify-write
 *    continues all
 *  - fences: an acquire fence joins what relaxed loads before it have read; a release fence publishes a
 *    vector for the relaxed stores after it
 *
 * Most programs need little of this: a vector is needed only when an access meets an access of another thread
 * to the same place. So operations are only logged, and the log is processed when a vector is needed. The log
 * follows the path: log_mark[k] is its length at node k, where a new branch continues. The results are
 * immutable vectors; all references to them follow the path, too (mz_explore_set). During replay nothing is
 * logged; only epochs are counted. */
#include "base/region.h"
#include "runtime/core/operation.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order_log.h"
#include "runtime/memory/races.h"
#include "runtime/memory/room.h"
#include "runtime/rewind/rewind.h"

#define OBJECTS (1u << 22)

/* What an object carries. CARRIES_PARTS: vectors of several threads, which an acquire always joins together.
 * CARRIES_SEQUENCES: vectors of an atomic object, of which a store ends some. Memory may be used as both, one
 * after the other: then it counts as the latter. */
enum { NO_CARRIER, CARRIES, CARRIES_PARTS, CARRIES_SEQUENCES };

#define S mz_memory_room.race_order

static uint32_t *vector(uint32_t v) { return S.vectors + (size_t)v * MZ_SLOTS; }

void mz_sync_init(void)
{
    uint64_t steps = rt.channel->options.max_steps;
    rt.fences_are_events = rt.channel->options.fences_are_events;
    if (steps > (1u << 24)) steps = 1u << 24;
    S.capacity = S.log_capacity = (uint32_t)(16 * steps + (1u << 20));
    S.vectors = mz_region_reserve((size_t)S.capacity * MZ_SLOTS * sizeof(uint32_t));
    S.log = mz_region_reserve((size_t)S.log_capacity * sizeof *S.log);
    S.log_mark = mz_region_reserve((size_t)(steps + 2) * sizeof(uint32_t));
    S.object = mz_region_reserve(OBJECTS * sizeof(uint32_t));
    S.parts = mz_region_reserve((size_t)OBJECTS * MZ_SLOTS * sizeof(uint32_t));
    S.event_epoch = mz_region_reserve((size_t)(steps + 2) * sizeof(uint32_t));
    S.carriers = mz_region_reserve(OBJECTS * sizeof *S.carriers);
    S.carrier = mz_region_reserve(OBJECTS * sizeof *S.carrier);
    MZ_ASSERT(S.vectors && S.log && S.log_mark && S.object && S.parts && S.event_epoch);
    MZ_ASSERT(S.carriers && S.carrier);
    S.count = 1;
    S.lanes = 8;
}

void mz_sync_reset(void)
{
    S.rewound = !rt.path->live;
    if (!S.rewound) S.log_count = 0; /* the first execution, or the search starts over */
}

/* A new event is about to be committed. */
void mz_sync_event(void)
{
    uint32_t k = rt.path->depth;
    if (S.rewound)
        S.log_count = S.log_mark[k];
    else
        S.log_mark[k] = S.log_count;
    S.rewound = false;
    S.event_epoch[k] = rt.run.threads[rt.self].epoch;
}

/* ---- writing the log ---- */

static void append(uint8_t kind, int thread, int other, int order, uint32_t object, uint32_t epoch)
{
    MZ_ASSERT(S.log_count < S.log_capacity);
    S.log[S.log_count++] =
        (struct mz_sync_entry){kind, (uint8_t)thread, (uint8_t)other, (uint8_t)order, object, epoch};
}

static bool is_acquire(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}
/* The epoch that a release of the thread publishes. */
static uint32_t release_epoch(int thread) { return rt.run.threads[thread].epoch++; }

/* A new atomic operation that has just happened. */
void mz_sync_atomic(uint32_t object, int op, int order, enum mz_access access)
{
    int p = rt.self;
    uint32_t epoch = access == MZ_WRITES && mz_is_release(order) ? release_epoch(p) : 0;
    uint8_t kind = access == MZ_READS ? MZ_SYNC_READ : op == MZ_OP_STORE ? MZ_SYNC_STORE : MZ_SYNC_UPDATE;
    append(kind, p, 0, order, object, epoch);
    S.weak |= order != __ATOMIC_SEQ_CST;
}

bool mz_sync_is_weak(void) { return S.weak; }

const struct mz_sync_entry *mz_sync_of_event(uint32_t event, uint32_t *count)
{
    /* Entries before the first event belong to the first event. */
    uint32_t from = event ? S.log_mark[event] : 0;
    *count = (event + 1 < rt.path->depth ? S.log_mark[event + 1] : S.log_count) - from;
    return &S.log[from];
}

/* The running thread has just locked the mutex of its last event. */
void mz_sync_acquire(void)
{
    if (rt.path->live) append(MZ_SYNC_ACQUIRE, rt.self, 0, 0, rt.path->events[rt.path->depth - 1].object, 0);
}

void mz_sync_acquire_object(uint32_t object)
{
    if (rt.path->live) append(MZ_SYNC_ACQUIRE, rt.self, 0, 0, object, 0);
}

void mz_sync_release(uint32_t object)
{
    uint32_t epoch = release_epoch(rt.self);
    if (rt.path->live) append(MZ_SYNC_RELEASE, rt.self, 0, 0, object, epoch);
}

/* Merges a fence into the last entry of the log. Returns false if that is not possible. Without merging, a
 * thread could log any number of fences in one step. At most two entries do what a series of fences does:
 *  - an acquire fence after an acquire fence does nothing;
 *  - of several release fences, the last one counts;
 *  - an acquire fence and a release fence are one entry, unless the acquire fence comes last: a release fence
 *    does not publish what is read after it.
 *
 * If the last entry has been processed, nothing else refers to its vector yet, so the vector may still
 * change. */
static bool merge_fence(int p, int order, uint32_t epoch)
{
    uint32_t start = rt.path->depth ? S.log_mark[rt.path->depth - 1] : 0;
    struct mz_sync_entry *e = S.log_count > start ? &S.log[S.log_count - 1] : NULL;
    if (!e || e->kind != MZ_SYNC_FENCE || e->thread != p) return false;
    bool acquire = is_acquire(order) && !is_acquire(e->order);
    bool release = mz_is_release(order), done = S.done == S.log_count;
    if (acquire && !release) return false;
    if (release) {
        if (acquire || !mz_is_release(e->order)) {
            /* Process the entry again: it does more now. */
            if (done) mz_explore_set(rt.x, &S.done, S.done - 1);
            if (e->order != __ATOMIC_SEQ_CST) e->order = __ATOMIC_ACQ_REL;
        } else if (done) {
            vector(S.fence[p])[p] = epoch;
        }
        e->epoch = epoch;
    }
    if (order == __ATOMIC_SEQ_CST) e->order = __ATOMIC_SEQ_CST;
    return true;
}

/* A release that adds to the releases of other threads, where one operation may synchronize with several
 * threads: readers of a lock, semaphores, barriers. mz_sync_acquire_all synchronizes with all of these
 * releases so far. `object` is the number of the object of the last event. */
void mz_sync_release_part(uint32_t object)
{
    uint32_t epoch = release_epoch(rt.self);
    if (rt.path->live) append(MZ_SYNC_RELEASE_PART, rt.self, 0, 0, object, epoch);
}

void mz_sync_acquire_all(int thread, uint32_t object)
{
    if (rt.path->live) append(MZ_SYNC_ACQUIRE_ALL, thread, 0, 0, object, 0);
}

void mz_sync_fence(int order)
{
    uint32_t epoch = mz_is_release(order) ? release_epoch(rt.self) : 0;
    if (!rt.path->live || order == __ATOMIC_RELAXED) return;
    if (mz_unlikely(rt.stateful) && is_acquire(order) && !S.acquire_fences) {
        S.acquire_fences = true;
        rt.up.places_stale();
    }
    if (!merge_fence(rt.self, order, epoch)) append(MZ_SYNC_FENCE, rt.self, 0, order, 0, epoch);
}

void mz_sync_spawn(int parent, int child)
{
    uint32_t epoch = release_epoch(parent);
    rt.run.threads[child].parent = (uint8_t)(parent + 1);
    rt.run.threads[child].created_in = epoch;
    if (mz_unlikely(rt.stateful)) rt.up.races_spawn(parent, child, epoch);
    if (rt.path->live) append(MZ_SYNC_SPAWN, parent, child, 0, 0, epoch);
}

void mz_sync_join(int thread, int finished)
{
    rt.run.threads[finished].joined_by = (uint8_t)(thread + 1);
    if (mz_unlikely(rt.stateful)) rt.up.races_join(thread, finished);
    if (rt.path->live) append(MZ_SYNC_JOIN, thread, finished, 0, 0, rt.run.threads[finished].epoch);
}

uint32_t mz_sync_event_epoch(uint32_t event) { return S.event_epoch[event]; }

/* The running thread synchronizes with the release of epoch `epoch` of the other thread. */
void mz_sync_knows(int other, uint32_t epoch)
{
    uint32_t *known = &rt.run.threads[rt.self].knows[other];
    if (*known >= epoch) return;
    mz_keep(known, sizeof *known);
    *known = epoch;
}

/* ---- processing the log ---- */

static void widen(int slot)
{
    uint32_t lanes = ((uint32_t)slot + 8) & ~7u;
    if (mz_likely(lanes <= S.lanes)) return;
    for (uint32_t v = 0; v < S.count; v++)
        for (uint32_t i = S.lanes; i < lanes; i++) vector(v)[i] = 0;
    S.lanes = lanes;
}

static uint32_t copy(uint32_t from)
{
    MZ_ASSERT(S.count < S.capacity);
    uint32_t v = S.count;
    mz_explore_set(rt.x, &S.count, v + 1);
    const uint32_t *restrict a = vector(from);
    uint32_t *restrict b = vector(v);
    for (uint32_t i = 0; i < S.lanes; i += 8)
        for (uint32_t j = 0; j < 8; j++) b[i + j] = a[i + j];
    return v;
}

/* Returns the maximum of two vectors. It is computed in the next free vector, which is kept only if it
 * differs from both. */
static uint32_t joined(uint32_t a, uint32_t b)
{
    if (a == b || !b) return a;
    if (!a) return b;
    MZ_ASSERT(S.count < S.capacity);
    const uint32_t *restrict p = vector(a), *restrict q = vector(b);
    uint32_t *restrict to = vector(S.count);
    uint32_t not_a = 0, not_b = 0;
    for (uint32_t i = 0; i < S.lanes; i += 8)
        for (uint32_t j = 0; j < 8; j++) {
            uint32_t m = p[i + j] > q[i + j] ? p[i + j] : q[i + j];
            not_a |= m ^ p[i + j];
            not_b |= m ^ q[i + j];
            to[i + j] = m;
        }
    if (!not_a) return a;
    if (!not_b) return b;
    mz_explore_set(rt.x, &S.count, S.count + 1);
    return S.count - 1;
}

/* Changes a reference. An unchanged one needs no entry in the journal. */
static void set(uint32_t *slot, uint32_t value)
{
    if (*slot != value) mz_explore_set(rt.x, slot, value);
}

/* Returns a new vector: what thread p knows, with the epoch that p publishes. */
static uint32_t published(int p, uint32_t epoch)
{
    uint32_t v = copy(S.thread[p]);
    vector(v)[p] = epoch;
    return v;
}

static void take_in(int p, uint32_t v) { set(&S.thread[p], joined(S.thread[p], v)); }

/* An atomic object carries a part for each thread that heads a release sequence that its value belongs to. */
static uint32_t *parts(uint32_t object) { return S.parts + (size_t)object * MZ_SLOTS; }

static void read_object(const struct mz_sync_entry *e)
{
    uint32_t *known = is_acquire(e->order) ? &S.thread[e->thread] : &S.met[e->thread], all = *known;
    for (uint32_t t = 0; t < S.lanes; t++)
        if (parts(e->object)[t]) all = joined(all, parts(e->object)[t]);
    set(known, all);
}

static void carries(uint32_t object, uint8_t how)
{
    if (mz_likely(!rt.stateful || S.carrier[object] >= how)) return;
    if (!S.carrier[object]) S.carriers[S.carrier_count++] = object;
    /* Some states so far count as equal, but differ. */
    if (S.carrier[object] == CARRIES_PARTS) rt.up.places_stale();
    S.carrier[object] = how;
}

static void add_own_part(const struct mz_sync_entry *e)
{
    uint32_t p = e->thread, own = mz_is_release(e->order) ? published((int)p, e->epoch) : S.fence[p];
    if (own) carries(e->object, CARRIES_SEQUENCES);
    if (own) set(&parts(e->object)[p], joined(own, parts(e->object)[p]));
}

/* A store continues the sequences of its own thread and ends those of the other threads. */
static void store_object(const struct mz_sync_entry *e)
{
    for (uint32_t t = 0; t < S.lanes; t++)
        if (t != e->thread) set(&parts(e->object)[t], 0);
    add_own_part(e);
}

/* A read-modify-write continues all sequences. */
static void update_object(const struct mz_sync_entry *e)
{
    read_object(e);
    add_own_part(e);
}

static void work_off(const struct mz_sync_entry *e)
{
    int p = e->thread;
    switch (e->kind) {
    case MZ_SYNC_READ:
        read_object(e);
        break;
    case MZ_SYNC_STORE:
        store_object(e);
        break;
    case MZ_SYNC_UPDATE:
        update_object(e);
        break;
    case MZ_SYNC_ACQUIRE:
        take_in(p, S.object[e->object]);
        break;
    case MZ_SYNC_RELEASE:
        carries(e->object, CARRIES);
        set(&S.object[e->object], published(p, e->epoch));
        break;
    case MZ_SYNC_ACQUIRE_ALL:
        take_in(p, S.object[e->object]);
        for (uint32_t t = 0; t < S.lanes; t++)
            if (parts(e->object)[t]) take_in(p, parts(e->object)[t]);
        break;
    case MZ_SYNC_RELEASE_PART:
        carries(e->object, CARRIES_PARTS);
        set(&parts(e->object)[p], published(p, e->epoch));
        break;
    case MZ_SYNC_FENCE:
        if (is_acquire(e->order)) take_in(p, S.met[p]);
        if (mz_is_release(e->order)) set(&S.fence[p], published(p, e->epoch));
        break;
    case MZ_SYNC_SPAWN:
        widen(e->other);
        set(&S.thread[e->other], published(p, e->epoch));
        set(&S.met[e->other], 0);
        set(&S.fence[e->other], 0);
        break;
    case MZ_SYNC_JOIN:
        take_in(p, published(e->other, e->epoch));
        break;
    default:
        MZ_BUG("unknown entry of the log");
    }
}

static void work_off_all(void)
{
    uint32_t from = S.done, to = S.log_count;
    if (from == to) return;
    mz_explore_set(rt.x, &S.done, to);
    for (uint32_t i = from; i < to; i++) work_off(&S.log[i]);
}

/* Returns the number of releases of `other` that happen before what `thread` does now. Only while live. */
uint32_t mz_sync_seen(int thread, int other)
{
    work_off_all();
    return vector(S.thread[thread])[other];
}

/* ---- knowers of an epoch, for race_history.c ---- */

static bool covers(uint32_t v, int thread, uint32_t epoch) { return v && vector(v)[thread] >= epoch; }

/* Numbers of knowers: a part of an object, or one of the vectors of a thread. */
enum { WHOLE = MZ_SLOTS, ALL_PARTS, OF_OBJECT = 128 };

/* Calls f for the parts of object o that know the epoch. Parts that are always joined together count as
 * one. */
static void knowing_parts(uint32_t o, int thread, uint32_t epoch, void (*f)(void *, uint64_t), void *data)
{
    bool together = S.carrier[o] == CARRIES_PARTS;
    for (uint32_t t = 0; t < S.lanes; t++) {
        if (!covers(parts(o)[t], thread, epoch)) continue;
        f(data, (uint64_t)o * OF_OBJECT + (together ? ALL_PARTS : t));
        if (together) return;
    }
}

uint64_t mz_sync_knowers(int thread, uint32_t epoch, void (*f)(void *data, uint64_t knower), void *data)
{
    uint64_t threads = mz_slot_bit(thread);
    work_off_all();
    for (int u = 0; u < (int)rt.slots_known; u++) {
        if (covers(S.thread[u], thread, epoch)) threads |= mz_slot_bit(u);
        if (covers(S.fence[u], thread, epoch)) f(data, (uint64_t)u);
        if (S.acquire_fences && covers(S.met[u], thread, epoch)) f(data, MZ_SLOTS + (uint64_t)u);
    }
    for (uint32_t i = 0; i < S.carrier_count; i++) {
        uint32_t o = S.carriers[i];
        if (covers(S.object[o], thread, epoch)) f(data, (uint64_t)o * OF_OBJECT + WHOLE);
        knowing_parts(o, thread, epoch, f, data);
    }
    return threads;
}
