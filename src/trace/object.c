/* Objects: what operations work on. They are found by key (an address, or a number in a model).
 *
 * Objects are disjoint ranges of bytes. An access that overlaps an object known under another key is on that
 * object: two accesses to overlapping bytes are always on one object, which is what soundness needs. Two
 * accesses to different bytes of a mixed-size object also count as dependent; this costs at most reduction.
 * An access that spans two objects unites them: see unite() for why that is sound only after starting over.
 *
 * All atomic sections have one object, of no size, under a key that is no address.
 *
 * The object of an await is the set of the objects that its condition may read. It is in conflict with each of them
 * (conflict.c).
 *
 * Channels (2017, section 10). The messages of a channel have tags, and a receive takes the oldest message of one tag. So
 * the receive number n of a tag, by the only thread that receives, gets the message number n of that tag, whatever the
 * order: this message has an object of its own, the cell. To send writes the cell, to receive reads it, also if the
 * receive finds no message. So
 *  - all sends to a channel are in conflict (conflict.c);
 *  - a send happens before the receive of its message, and is in conflict with no other receive;
 *  - a receive that found no message happens before the send of the message that it would have taken.
 * Where cells cannot be told apart by what the program does later (stateful algorithms: whole_channels), the channel itself
 * is the object of all these operations, which only adds conflicts. */
#include "trace/trace.h"

#define SECTIONS_KEY UINT64_MAX /* no program has memory there */

static inline bool has_key(const void *objects, uint32_t o, const void *key)
{
    return ((const struct mz_object *)objects)[o].key == *(const uint64_t *)key;
}

static inline uint32_t hash_of(const void *objects, uint32_t o)
{
    return mz_table_hash(((const struct mz_object *)objects)[o].key);
}

static uint32_t *slot_of(struct mz_trace *tr, uint64_t key)
{
    return mz_table_find(&tr->object_table, mz_table_hash(key), has_key, tr->objects, &key);
}

/* An object of another key that overlaps [key, key + size), or 0. Memory operations are at most 16 bytes. */
static uint32_t overlap(struct mz_trace *tr, uint64_t key, unsigned size, uint32_t not )
{
    for (uint64_t k = key - 15; k != key + size; k++) {
        uint32_t o = *slot_of(tr, k);
        if (!o || tr->objects[o].size == 0 || k + tr->objects[o].size <= key) continue;
        if (mz_object_resolve(tr, o) != not ) return mz_object_resolve(tr, o);
    }
    return 0;
}

static void unite(struct mz_trace *tr, uint32_t o, bool fresh)
{
    struct mz_object *object = &tr->objects[o];
    uint32_t other;
    while ((other = overlap(tr, object->key, object->size, mz_object_resolve(tr, o)))) {
        /* Two objects that both have a past become one: operations that were independent so far are dependent
         * now. The dependence relation must be the same for the whole search, so the search starts over. */
        if (!fresh || object->alias || !tr->objects[other].mixed) tr->outdated = true;
        tr->objects[other].awaited |= tr->objects[mz_object_resolve(tr, o)].awaited;
        tr->objects[mz_object_resolve(tr, o)].alias = other;
        tr->united++;
        tr->objects[other].mixed = true;
    }
}

/* The object has just been looked up under a key that is no address. */
static void note_special(struct mz_trace *tr, uint32_t o, uint64_t key)
{
    if (mz_is_await_key(key)) {
        tr->across = true;
        tr->objects[o].members = (uint32_t)key;
        if ((uint32_t)key & MZ_AWAITS_ALL && !tr->all_awaited) tr->outdated = tr->all_awaited = true;
    } else if (mz_is_cell_key(key)) {
        tr->across = true;
        tr->objects[o].channel = mz_object_find(tr, mz_channel_of_cell(key), 0);
    }
}

void mz_object_awaited(struct mz_trace *tr, uint64_t key, unsigned size, unsigned number)
{
    tr->objects[mz_object_find(tr, key, size)].awaited |= UINT32_C(1) << number;
}

void mz_object_forget_awaited(struct mz_trace *tr)
{
    for (uint32_t o = 1; o < tr->object_count; o++) tr->objects[o].awaited = 0;
}

static uint32_t find(struct mz_trace *tr, uint64_t key, unsigned size)
{
    uint32_t *slot = slot_of(tr, key);
    uint32_t o = *slot;
    if (mz_unlikely(o && size && tr->objects[o].size && size != tr->objects[o].size &&
                    !tr->objects[mz_object_resolve(tr, o)].mixed)) {
        tr->objects[mz_object_resolve(tr, o)].mixed = true;
        tr->outdated = true;
    }
    if (mz_likely(o && size <= tr->objects[o].size))
        return mz_likely(!tr->objects[o].alias) ? o : mz_object_resolve(tr, o);
    bool fresh = !o;
    if (fresh) {
        if (mz_table_is_half_full(&tr->object_table)) {
            MZ_ASSERT(tr->object_table.mask < MZ_OBJECT_TABLE / 2);
            mz_table_grow(&tr->object_table, hash_of, tr->objects);
            slot = slot_of(tr, key);
        }
        o = tr->object_count++;
        mz_table_fill(&tr->object_table, slot, o);
        tr->objects[o].key = key;
        tr->changes++;
    }
    /* The object becomes memory, so its operations conflict with atomic sections from now on: start over, as
     * in unite(). */
    if (size && !tr->objects[o].size && tr->objects[o].bare && tr->sections) tr->outdated = true;
    tr->changes += tr->objects[o].size != size;
    tr->objects[o].size = (uint8_t)size;
    if (size) unite(tr, o, fresh);
    return mz_object_resolve(tr, o);
}

uint32_t mz_object_find(struct mz_trace *tr, uint64_t key, unsigned size)
{
    uint32_t o = find(tr, key, size);
    if (mz_unlikely(key >> 48)) note_special(tr, o, key);
    return o;
}

uint32_t mz_object_of_sections(struct mz_trace *tr) { return mz_object_find(tr, SECTIONS_KEY, 0); }

uint32_t mz_object_of(struct mz_trace *tr, const struct mz_pending *p)
{
    if (mz_ops[p->op].object == MZ_OBJECT_NOTHING) return 0;
    if (p->op == MZ_OP_SECTION) return mz_object_of_sections(tr);
    bool is_cell = mz_ops[p->op].object == MZ_OBJECT_CHANNEL && !tr->whole_channels;
    uint32_t o = mz_object_find(tr, is_cell ? mz_cell_key(p->key, p->expected) : p->key, p->size);
    if (!p->size && !tr->objects[o].bare) {
        tr->objects[o].bare = true;
        tr->changes++;
    }
    return o;
}

uint32_t mz_object_known(struct mz_trace *tr, uint64_t key)
{
    uint32_t o = *slot_of(tr, key);
    return o ? mz_object_resolve(tr, o) : 0;
}

void mz_object_unite(struct mz_trace *tr, uint64_t a, uint64_t b, unsigned size)
{
    uint32_t p = mz_object_find(tr, a, size), q = mz_object_find(tr, b, size);
    if (p == q) return;
    tr->objects[p].awaited |= tr->objects[q].awaited;
    tr->objects[q].alias = p;
    tr->united++;
    tr->objects[p].mixed = true;
    tr->outdated = true;
}
