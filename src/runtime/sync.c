/* The synchronization order of C11: what decides whether two accesses are a data race. Not to be mixed up
 * with the dependence order of the engine, which orders all conflicting events.
 *
 * Each thread counts its releases (epoch, from 1). What a thread knows is a vector: for each other thread the
 * number of its releases that happen before. An access of thread t in its epoch c happens before what thread
 * p does now iff c <= seen(p, t).
 *
 *   release by p    publishes p's vector with p's epoch in it, then the epoch goes up
 *   acquire by p    p's vector takes in what the object carries
 *   an object that several threads release together (a read-write lock by its readers, a semaphore, a
 * barrier) carries one vector for each of them
 *   an atomic object carries the vectors of the release sequences that its value belongs to, one for each
 * thread that heads some; a store ends those of other threads, a read-modify-write continues all fences: an
 * acquire fence takes in what relaxed loads before it met; a release fence publishes for the relaxed stores
 * after it
 *
 * Most programs need little of this: a vector is looked at only when an access meets one of another thread in
 * the same place. So operations are only logged, and the log is worked off when somebody asks. The log
 * follows the path: log_mark[k] is its length at node k, from where a new branch goes on. What has been
 * worked off is in immutable vectors; all references to them follow the path too (mz_explore_set). While
 * replaying nothing is logged, only epochs are counted. */
#include "sync_log.h"

#include "races.h"

#include "../base/region.h"

#define OBJECTS (1u << 22)

/* PARTS: those of several threads, which are always taken together. SEQUENCES: those of an atomic object, of
 * which a store ends some. Memory may be both, one after the other: then it counts as the latter. */
enum { NO_CARRIER, CARRIES, CARRIES_PARTS, CARRIES_SEQUENCES };

static struct {
    struct mz_sync_entry *log;
    uint32_t *log_mark;
    uint32_t log_count, log_capacity;
    bool rewound; /* the next new event is on a node that was there before */
    bool weak;    /* an atomic access had a memory order other than seq_cst */

    uint32_t done;     /* entries worked off */
    uint32_t *vectors; /* MZ_SLOTS words each; 0 is the empty one */
    uint32_t count, capacity, lanes;
    uint32_t thread[MZ_SLOTS]; /* what a thread knows */
    uint32_t met[MZ_SLOTS];    /* by relaxed loads, for an acquire fence */
    uint32_t fence[MZ_SLOTS];  /* published by a release fence */
    uint32_t *object;          /* what a mutex carries */
    uint32_t *parts;           /* what an atomic object carries: MZ_SLOTS words each */
    uint32_t *event_epoch;     /* epoch of the thread of each event */

    /* Where states are told apart. Kept: */
    uint32_t *carriers; /* objects that ever carried something */
    uint32_t carrier_count;
    uint8_t *carrier;    /* of each object: enum */
    bool acquire_fences; /* there are some: what relaxed loads meet matters */
} sync_state;

#define S sync_state

static uint32_t *vector(uint32_t v) { return S.vectors + (size_t)v * MZ_SLOTS; }

void mz_sync_init(void)
{
    uint64_t steps = rt.channel->options.max_steps;
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
    uint32_t from = event ? S.log_mark[event] : 0; /* what came before any event belongs to the first */
    *count = (event + 1 < rt.path->depth ? S.log_mark[event + 1] : S.log_count) - from;
    return &S.log[from];
}

/* The running thread has just got the mutex, by its last event. */
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

/* Fences are all that a thread can log without end in one step. What fences in a row do is done by at most
 * two entries: an acquire fence does nothing after another; of release fences the last one counts; and both
 * are one entry, unless the acquire fence comes last, as a release fence does not publish what is met after
 * it. If the entry before has been worked off, its vector is in nobody else's hands and can still be changed.
 */
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
            if (done) mz_explore_set(rt.x, &S.done, S.done - 1); /* once more, it has become more */
            if (e->order != __ATOMIC_SEQ_CST) e->order = __ATOMIC_ACQ_REL;
        } else if (done) {
            vector(S.fence[p])[p] = epoch;
        }
        e->epoch = epoch;
    }
    if (order == __ATOMIC_SEQ_CST) e->order = __ATOMIC_SEQ_CST;
    return true;
}

/* Releases that add to those of others, where several threads are let go by one operation: readers of a lock,
 * semaphores, barriers. Who acquires all of them synchronizes with every one so far. Both belong to the last
 * event on the object, by number. */
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
        mz_places_stale();
    }
    if (!merge_fence(rt.self, order, epoch)) append(MZ_SYNC_FENCE, rt.self, 0, order, 0, epoch);
}

void mz_sync_spawn(int parent, int child)
{
    uint32_t epoch = release_epoch(parent);
    rt.run.threads[child].parent = (uint8_t)(parent + 1);
    rt.run.threads[child].created_in = epoch;
    if (mz_unlikely(rt.stateful)) mz_races_spawn(parent, child, epoch);
    if (rt.path->live) append(MZ_SYNC_SPAWN, parent, child, 0, 0, epoch);
}

void mz_sync_join(int thread, int finished)
{
    rt.run.threads[finished].joined_by = (uint8_t)(thread + 1);
    if (mz_unlikely(rt.stateful)) mz_races_join(thread, finished);
    if (rt.path->live) append(MZ_SYNC_JOIN, thread, finished, 0, 0, rt.run.threads[finished].epoch);
}

uint32_t mz_sync_event_epoch(uint32_t event) { return S.event_epoch[event]; }

/* The running thread synchronizes with this release of another. */
void mz_sync_knows(int other, uint32_t epoch)
{
    uint32_t *known = &rt.run.threads[rt.self].knows[other];
    if (*known >= epoch) return;
    mz_keep(known, sizeof *known);
    *known = epoch;
}

/* ---- working it off ---- */

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

/* The maximum of two vectors, in one go: into the next free one, which is kept only if it differs from both.
 */
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

/* A reference only changes in the journal if it changes at all. */
static void set(uint32_t *slot, uint32_t value)
{
    if (*slot != value) mz_explore_set(rt.x, slot, value);
}

/* What thread p knows, with its own epoch: a vector to hand on. */
static uint32_t published(int p, uint32_t epoch)
{
    uint32_t v = copy(S.thread[p]);
    vector(v)[p] = epoch;
    return v;
}

static void take_in(int p, uint32_t v) { set(&S.thread[p], joined(S.thread[p], v)); }

/* An atomic object carries a part for each thread that heads a release sequence its value belongs to. */
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
    if (S.carrier[object] == CARRIES_PARTS) mz_places_stale(); /* states so far are too alike */
    S.carrier[object] = how;
}

static void add_own_part(const struct mz_sync_entry *e)
{
    uint32_t p = e->thread, own = mz_is_release(e->order) ? published((int)p, e->epoch) : S.fence[p];
    if (own) carries(e->object, CARRIES_SEQUENCES);
    if (own) set(&parts(e->object)[p], joined(own, parts(e->object)[p]));
}

/* A store goes on with the sequences of its own thread and ends those of the others. */
static void store_object(const struct mz_sync_entry *e)
{
    for (uint32_t t = 0; t < S.lanes; t++)
        if (t != e->thread) set(&parts(e->object)[t], 0);
    add_own_part(e);
}

/* A read-modify-write goes on with all of them. */
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

/* Releases of `other` that happen before what `thread` does now. Only while live. */
uint32_t mz_sync_seen(int thread, int other)
{
    work_off_all();
    return vector(S.thread[thread])[other];
}

/* ---- who knows, for race_history.c ---- */

static bool covers(uint32_t v, int thread, uint32_t epoch) { return v && vector(v)[thread] >= epoch; }

/* Numbers of knowers: an object with a part of it, or one of the vectors of a thread. */
enum { WHOLE = MZ_SLOTS, ALL_PARTS, OF_OBJECT = 128 };

/* Parts that are always taken together count as one. */
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
