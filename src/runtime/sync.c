/* The synchronization order of C11: what decides whether two accesses are a data race. Not to be mixed up
 * with the dependence order of the engine, which orders all conflicting events.
 *
 * Each thread counts its releases (epoch, from 1). What a thread knows is a vector: for each other thread the
 * number of its releases that happen before. An access of thread t in its epoch c happens before what thread
 * p does now iff c <= seen(p, t).
 *
 *   release by p    publishes p's vector with p's epoch in it, then the epoch goes up
 *   acquire by p    p's vector takes in what the object carries
 *   an atomic object carries the vector of the release sequence that its value belongs to; a relaxed store of
 *   another thread ends it, a read-modify-write continues it
 *   fences: an acquire fence takes in what relaxed loads before it met; a release fence publishes for the
 *   relaxed stores after it
 *
 * Vectors are immutable and live in a pool; all references to them follow the path (mz_explore_set), so
 * nothing is computed while replaying. Only epochs are counted then. */
#include "runtime.h"

#include "../base/region.h"

#define OBJECTS (1u << 22)

static struct {
    uint32_t *vectors; /* MZ_SLOTS words each; 0 is the empty one */
    uint32_t count, capacity, lanes;
    uint32_t thread[MZ_SLOTS]; /* what a thread knows */
    uint32_t met[MZ_SLOTS];    /* by relaxed loads, for an acquire fence */
    uint32_t fence[MZ_SLOTS];  /* published by a release fence */
    uint32_t *object, *head;   /* what an object carries; thread + 1 that began its release sequence */
    uint32_t *event_epoch;     /* epoch of the thread of each event */
} sync_state;

#define S sync_state

static uint32_t *vector(uint32_t v) { return S.vectors + (size_t)v * MZ_SLOTS; }

void mz_sync_init(void)
{
    uint64_t steps = rt.channel->options.max_steps;
    S.capacity = (uint32_t)(steps < (1u << 24) ? 8 * steps + 65536 : 1u << 27);
    S.vectors = mz_region_reserve((size_t)S.capacity * MZ_SLOTS * sizeof(uint32_t));
    S.object = mz_region_reserve(OBJECTS * sizeof(uint32_t));
    S.head = mz_region_reserve(OBJECTS * sizeof(uint32_t));
    S.event_epoch = mz_region_reserve((size_t)(steps + 2) * sizeof(uint32_t));
    MZ_ASSERT(S.vectors && S.object && S.head && S.event_epoch);
    S.count = 1;
    S.lanes = 8;
}

void mz_sync_reset(void) {}

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

static bool at_most(uint32_t a, uint32_t b)
{
    const uint32_t *p = vector(a), *q = vector(b);
    uint32_t more = 0;
    for (uint32_t i = 0; i < S.lanes; i += 8)
        for (uint32_t j = 0; j < 8; j++) more |= p[i + j] > q[i + j];
    return !more;
}

static uint32_t joined(uint32_t a, uint32_t b)
{
    if (a == b || !b || at_most(b, a)) return a;
    if (!a || at_most(a, b)) return b;
    uint32_t v = copy(a);
    uint32_t *restrict to = vector(v);
    const uint32_t *restrict from = vector(b);
    for (uint32_t i = 0; i < S.lanes; i += 8)
        for (uint32_t j = 0; j < 8; j++) to[i + j] = to[i + j] > from[i + j] ? to[i + j] : from[i + j];
    return v;
}

/* A reference only changes in the journal if it changes at all. */
static void set(uint32_t *slot, uint32_t value)
{
    if (*slot != value) mz_explore_set(rt.x, slot, value);
}

static uint32_t published(int p)
{
    uint32_t v = copy(S.thread[p]);
    vector(v)[p] = rt.run.threads[p].epoch++;
    return v;
}

static void acquire_vector(int p, uint32_t v) { set(&S.thread[p], joined(S.thread[p], v)); }

uint32_t mz_sync_seen(int thread, int other) { return vector(S.thread[thread])[other]; }

static bool is_acquire(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}
static bool is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static void atomic_read(int p, uint32_t o, int order)
{
    if (is_acquire(order))
        acquire_vector(p, S.object[o]);
    else
        set(&S.met[p], joined(S.met[p], S.object[o]));
}

static void atomic_store(int p, uint32_t o, int order)
{
    if (is_release(order)) {
        set(&S.object[o], published(p));
        set(&S.head[o], (uint32_t)p + 1);
    } else if (S.fence[p]) {
        set(&S.object[o], S.fence[p]);
        set(&S.head[o], (uint32_t)p + 1);
    } else if (S.head[o] != (uint32_t)p + 1) {
        set(&S.object[o], 0);
        set(&S.head[o], 0);
    }
}

static void atomic_update(int p, uint32_t o, int order)
{
    atomic_read(p, o, order);
    uint32_t own = is_release(order) ? published(p) : S.fence[p];
    set(&S.object[o], joined(own, S.object[o]));
    if (!S.head[o] && own) set(&S.head[o], (uint32_t)p + 1);
}

/* The atomic event that has just been committed. */
void mz_sync_atomic(int op, int order, enum mz_access access)
{
    int p = rt.self;
    if (!mz_explore_live(rt.x)) {
        if (access == MZ_WRITES && is_release(order)) rt.run.threads[p].epoch++;
        return;
    }
    const struct mz_event *e = &rt.path->events[rt.path->depth - 1];
    S.event_epoch[rt.path->depth - 1] = rt.run.threads[p].epoch;
    if (access == MZ_READS)
        atomic_read(p, e->object, order);
    else if (op == MZ_OP_STORE)
        atomic_store(p, e->object, order);
    else
        atomic_update(p, e->object, order);
}

void mz_sync_acquire(uint64_t key)
{
    if (mz_explore_live(rt.x)) acquire_vector(rt.self, S.object[mz_explore_object(rt.x, key)]);
}

void mz_sync_release(uint64_t key)
{
    if (mz_explore_live(rt.x))
        set(&S.object[mz_explore_object(rt.x, key)], published(rt.self));
    else
        rt.run.threads[rt.self].epoch++;
}

void mz_sync_fence(int order)
{
    int p = rt.self;
    if (!mz_explore_live(rt.x)) {
        if (is_release(order)) rt.run.threads[p].epoch++;
        return;
    }
    if (is_acquire(order)) acquire_vector(p, S.met[p]);
    if (is_release(order)) set(&S.fence[p], published(p));
}

void mz_sync_spawn(int parent, int child)
{
    if (mz_explore_live(rt.x)) {
        widen(child);
        set(&S.thread[child], published(parent));
        set(&S.met[child], 0);
        set(&S.fence[child], 0);
    } else {
        rt.run.threads[parent].epoch++;
    }
}

void mz_sync_join(int thread, int finished)
{
    if (!mz_explore_live(rt.x)) return;
    uint32_t v = copy(S.thread[finished]);
    vector(v)[finished] = rt.run.threads[finished].epoch;
    acquire_vector(thread, v);
}

uint32_t mz_sync_event_epoch(uint32_t event) { return S.event_epoch[event]; }
