/* An access to the shadow: the check for data races, the update of the cell, and the access as a part of the
 * state (race_history.c). See shadow.h. */
#include "runtime/core/operation.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order.h"
#include "runtime/memory/shadow.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

/* ---- the earlier accesses to some bytes ---- */

/* An earlier access, from a cell or from the path. */
struct past {
    uint8_t thread, op;
    uint32_t epoch;
    enum mz_race_kind kind;
    unsigned mask; /* of a plain access: the bytes of the granule */
    uint64_t pc;
};
typedef void past_fn(void *data, const struct past *earlier);

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Calls f for the plain accesses in a cell that is not split: the last write, then the reads since. Inline,
 * so that the call of f is direct. */
static ALWAYS_INLINE void past_of_cell(const struct mz_shadow_cell *c, past_fn *f, void *data)
{
    if (c->writer != MZ_NOBODY_YET)
        f(data, &(struct past){c->writer, MZ_OP_WRITE, c->write_epoch, MZ_PLAIN_WRITE, c->mask, c->write_pc});
    if (c->reader == MZ_NOBODY_YET) return;
    if (!c->more) {
        f(data, &(struct past){c->reader, MZ_OP_READ, c->read_epoch, MZ_PLAIN_READ, c->mask, c->read_pc});
        return;
    }
    for (uint32_t t = 0; t < rt.slots_known; t++) {
        uint32_t epoch = mz_shadow.readers[c->more][t], pc = mz_shadow.reader_pcs[c->more][t];
        if (epoch) f(data, &(struct past){(uint8_t)t, MZ_OP_READ, epoch, MZ_PLAIN_READ, c->mask, pc});
    }
}

/* Calls f for all plain accesses to these bytes of a granule that the shadow has of this execution. */
static void past_plain(const struct mz_shadow_cell *c, uint8_t mask, past_fn *f, void *data)
{
    if (c->execution != rt.execution || c->form == MZ_CELL_FREED) return;
    for (uint32_t i = 0; c->form == MZ_CELL_SPLIT && i < 4; i++)
        if (mask & (1u << i)) past_plain(&mz_shadow.split[c->more + i], mask, f, data);
    if (c->form != MZ_CELL_SPLIT && (c->mask & mask)) past_of_cell(c, f, data);
}

/* Returns how many bytes of its object's memory an event accessed, and whether it wrote them. An operation on
 * a synchronization object counts as a write to the first bytes of the object. Of the operations on futexes,
 * only WAIT accesses memory. */
static unsigned bytes_of(const struct mz_event *e, bool *writes)
{
    bool memory = mz_op_in(MZ_OPS_ATOMIC, e->op) && e->size;
    *writes = false;
    if (mz_is_futex(e->op, e->size)) return mz_op_in(MZ_OPS_VALUE, e->op) ? e->size : 0;
    *writes = !memory || e->access == MZ_WRITES;
    return memory ? e->size : MZ_OBJECT_BYTES;
}

/* Calls f for all atomic accesses to bytes of this range so far in this execution, object by object, the
 * latest first. */
static void past_atomic(uint64_t address, unsigned size, past_fn *f, void *data)
{
    for (uint64_t key = address - 15; key != address + size; key++) {
        uint32_t o = mz_explore_known_object(rt.x, key);
        if (!o) continue;
        for (mz_number n = mz_explore_last_event(rt.x, o); n; n = rt.path->events[n - 1].prev_object) {
            const struct mz_event *e = &rt.path->events[n - 1];
            bool writes;
            unsigned bytes = bytes_of(e, &writes);
            if (!bytes || e->key + bytes <= address || e->key >= address + size) continue;
            f(data, &(struct past){e->thread, e->op, mz_sync_event_epoch(n - 1),
                                   writes ? MZ_ATOMIC_WRITE : MZ_ATOMIC_READ, 0, e->pc});
        }
    }
}

/* ---- data races ---- */

static void race(const struct mz_access_now *a, const struct past *other)
{
    if (rt.allow_races) mz_visible_add(a->address, a->size);
    mz_finding_race(other->thread, a->op, other->op, a->address, a->size, a->pc, (uint32_t)other->pc);
}

/* Reports a data race if the earlier access to the same bytes is not ordered before this one, and not both
 * are atomic. */
static ALWAYS_INLINE void check(void *data, const struct past *earlier)
{
    const struct mz_access_now *a = data;
    bool writes = earlier->kind == MZ_PLAIN_WRITE || earlier->kind == MZ_ATOMIC_WRITE;
    if (earlier->thread == rt.self || !(a->write || writes)) return;
    if (!mz_happens_before(earlier->thread, earlier->epoch)) race(a, earlier);
}

void mz_shadow_access_cell(struct mz_shadow_cell *c, const struct mz_access_now *a, bool live)
{
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    bool mine = c->writer == rt.self && c->write_epoch == epoch;
    if (mine && (!a->write || c->reader == MZ_NOBODY_YET)) return;
    if (live) past_of_cell(c, check, (void *)(uintptr_t)a);
    if (a->atomic) return; /* atomic accesses are events, not in cells */
    if (!a->write) {
        mz_cell_add_reader(c, epoch, a->pc);
        return;
    }
    mz_keep(c, sizeof *c);
    c->writer = rt.self;
    c->write_epoch = epoch;
    c->write_pc = (uint32_t)a->pc;
    c->reader = MZ_NOBODY_YET;
    c->more = 0;
}

/* The first access to the granule in this execution: there is nothing to check. */
static void first_access(struct mz_shadow_cell *c, const struct mz_access_now *a, uint8_t mask)
{
    if (a->atomic) return;
    mz_summary_of(c)->used = rt.execution;
    mz_cell_clear(c, mask);
    mz_cell_first(c, a);
}

static void access_granule(struct mz_shadow_cell *c, const struct mz_access_now *a, uint8_t mask, bool live)
{
    if (c->execution != rt.execution) {
        first_access(c, a, mask);
        return;
    }
    if (c->form == MZ_CELL_FREED) return; /* not a data race, but a use after free */
    if (c->form == MZ_CELL_SIMPLE && c->mask != mask) {
        if (mz_cell_widen(c, a, mask)) return;
        mz_cell_split(c);
    }
    if (c->form == MZ_CELL_SIMPLE) {
        mz_shadow_access_cell(c, a, live);
        return;
    }
    for (uint32_t i = 0; i < 4; i++)
        if (mask & (1u << i)) mz_shadow_access_cell(&mz_shadow.split[c->more + i], a, live);
}

/* ---- accesses as a part of the state: race_history.c ---- */

static uint32_t place_of(const struct mz_shadow_cell *c) { return (uint32_t)(c - mz_shadow.cells); }

uint32_t mz_shadow_place(uint64_t granule, bool *atomic)
{
    const struct mz_shadow_cell *c = mz_shadow_cell_of(granule * MZ_GRANULE);
    *atomic = c->atomic;
    return place_of(c);
}

struct each {
    mz_access_fn *f;
    void *data;
};

static void call(void *data, const struct past *earlier)
{
    const struct each *e = data;
    e->f(e->data, earlier->thread, earlier->epoch, earlier->kind, earlier->mask);
}

void mz_shadow_each(uint64_t granule, mz_access_fn *f, void *data)
{
    struct each each = {f, data};
    past_plain(mz_shadow_cell_of(granule * MZ_GRANULE), 0xf, call, &each);
}

struct counting {
    uint64_t granule;
    unsigned level;
    bool now;
};

static void count_access(void *data, const struct past *earlier)
{
    const struct counting *n = data;
    mz_races_entry(n->level, earlier->thread, earlier->epoch, earlier->kind, n->granule, earlier->mask,
                   n->now);
}

/* From now on, the history has the accesses of the cell at this level. */
static void count_as(struct mz_shadow_cell *c, uint64_t granule, unsigned level)
{
    struct counting before = {granule, c->counted, false}, after = {granule, level, true};
    if (c->execution != rt.execution) return;
    if (before.level) past_plain(c, 0xf, count_access, &before);
    if (c->counted != level) mz_keep(c, sizeof *c);
    c->counted = (uint8_t)level;
    if (level) past_plain(c, 0xf, count_access, &after);
}

struct conflict {
    const struct mz_access_now *access;
    bool found;
};

static void look_for_conflict(void *data, const struct past *earlier)
{
    struct conflict *n = data;
    if (earlier->kind == MZ_PLAIN_READ && !n->access->write) return;
    if (!mz_races_forked(rt.self, earlier->thread, earlier->epoch)) n->found = true;
}

static void remembered_access(struct mz_shadow_cell *c, const struct mz_access_now *a, uint8_t mask,
                              bool live)
{
    uint64_t granule = a->address / MZ_GRANULE;
    uint32_t place = place_of(c);
    struct conflict conflict = {a, false};
    unsigned level = a->atomic ? mz_place_level(place) : mz_place_access(place, granule, a->write, false);
    if (level == MZ_PLACE_FORKED) past_plain(c, mask, look_for_conflict, &conflict);
    if (conflict.found) level = mz_place_unforked(place, granule);
    count_as(c, granule, MZ_PLACE_FREE);
    access_granule(c, a, mask, live);
    count_as(c, granule, level);
}

void mz_shadow_forget_past(struct mz_shadow_cell *c, uint64_t address)
{
    count_as(c, address / MZ_GRANULE, MZ_PLACE_FREE);
    mz_races_forget(place_of(c), address / MZ_GRANULE);
}

/* ---- an access within one granule ---- */

void mz_shadow_access(const struct mz_access_now *a, struct mz_shadow_cell *c, uint8_t mask)
{
    bool live = rt.path->live;
    if (mz_unlikely(rt.stateful))
        remembered_access(c, a, mask, live);
    else
        access_granule(c, a, mask, live);
    if (c->atomic && live && !a->atomic) past_atomic(a->address, a->size, check, (void *)(uintptr_t)a);
    if (mz_unlikely(!c->sound) && !a->atomic && !mz_is_own_stack((const void *)(uintptr_t)a->address))
        c->sound = mz_memory_check(a->address, a->size, a->op, a->pc) && mask == 0xf;
}

/* A new atomic access has just been committed: is it ordered with the earlier plain accesses? */
void mz_shadow_atomic(uint64_t address, unsigned size, enum mz_access access)
{
    for (uint64_t at = address; at < address + size; at = at / MZ_GRANULE * MZ_GRANULE + MZ_GRANULE) {
        unsigned part = (unsigned)(MZ_GRANULE - at % MZ_GRANULE);
        if (part > address + size - at) part = (unsigned)(address + size - at);
        struct mz_shadow_cell *c = mz_shadow_cell_of(at);
        c->atomic = 1;
        mz_summary_of(c)->atomic = 1;
        if (mz_unlikely(rt.stateful))
            mz_place_access(place_of(c), at / MZ_GRANULE, access == MZ_WRITES, true);
        if (c->execution != rt.execution) continue;
        const struct mz_pending *p = &rt.view.pending[rt.self];
        struct mz_access_now a = {at, part, access == MZ_WRITES, true, p->op, p->pc};
        mz_shadow_access(&a, c, (uint8_t)(((1u << part) - 1) << at % MZ_GRANULE));
    }
}
