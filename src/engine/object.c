/* Objects: what operations are on, found by key (an address, or a number in a model).
 *
 * Objects are disjoint ranges of bytes. An access that overlaps an object known under another key is on that
 * object: two accesses to overlapping bytes are always on one object, which is what soundness needs. That
 * two accesses to different bytes of a mixed-size object also count as dependent costs at most reduction.
 * An access that spans two objects that were apart so far makes one of them: see unite() for why that is
 * sound only after starting over.
 *
 * Atomic sections have one object among them, of no size, under a key that is no address. */
#include "exploration.h"

#define SECTIONS_KEY UINT64_MAX /* nor does any object of 15 bytes or less reach it */

static uint32_t hash(uint64_t key) { return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32); }

static uint32_t *slot_of(struct mz_exploration *x, uint64_t key)
{
    uint32_t i = hash(key) & x->object_mask;
    while (x->object_table[i] && x->objects[x->object_table[i]].key != key) i = (i + 1) & x->object_mask;
    return &x->object_table[i];
}

static uint32_t resolve(const struct mz_exploration *x, uint32_t o)
{
    while (x->objects[o].alias) o = x->objects[o].alias;
    return o;
}

/* An object of another key that overlaps [key, key + size), or 0. Memory operations are at most 16 bytes. */
static uint32_t overlap(struct mz_exploration *x, uint64_t key, unsigned size, uint32_t not )
{
    for (uint64_t k = key - 15; k != key + size; k++) {
        uint32_t o = *slot_of(x, k);
        if (!o || x->objects[o].size == 0 || k + x->objects[o].size <= key) continue;
        if (resolve(x, o) != not ) return resolve(x, o);
    }
    return 0;
}

static void unite(struct mz_exploration *x, uint32_t o, bool fresh)
{
    struct mz_object *object = &x->objects[o];
    uint32_t other;
    while ((other = overlap(x, object->key, object->size, resolve(x, o)))) {
        /* Two objects that both have a past become one: what was independent so far is not any more. The
         * dependence relation must be one and the same for the whole search, so the search starts over. */
        if (!fresh || object->alias || !x->objects[other].mixed) mz_explore_restart(x);
        x->objects[resolve(x, o)].alias = other;
        x->objects[other].mixed = true;
    }
}

static void grow_table(struct mz_exploration *x)
{
    uint32_t size = 2 * (x->object_mask + 1);
    MZ_ASSERT(size <= MZ_OBJECT_TABLE);
    for (uint32_t i = 0; i < size; i++) x->object_table[i] = 0;
    x->object_mask = size - 1;
    for (uint32_t o = 1; o < x->object_count; o++) *slot_of(x, x->objects[o].key) = o;
}

uint32_t mz_object_find(struct mz_exploration *x, uint64_t key, unsigned size)
{
    uint32_t *slot = slot_of(x, key);
    uint32_t o = *slot;
    if (mz_unlikely(o && size && x->objects[o].size && size != x->objects[o].size &&
                    !x->objects[resolve(x, o)].mixed)) {
        x->objects[resolve(x, o)].mixed = true;
        mz_explore_restart(x);
    }
    if (mz_likely(o && size <= x->objects[o].size))
        return mz_likely(!x->objects[o].alias) ? o : resolve(x, o);
    bool fresh = !o;
    if (fresh) {
        if (x->object_count > x->object_mask / 2) {
            grow_table(x);
            slot = slot_of(x, key);
        }
        o = x->object_count++;
        *slot = o;
        x->objects[o].key = key;
    }
    /* What was no memory is now, in conflict with atomic sections: see unite(). */
    if (size && !x->objects[o].size && x->objects[o].bare && x->sections) mz_explore_restart(x);
    x->objects[o].size = (uint8_t)size;
    if (size) unite(x, o, fresh);
    return resolve(x, o);
}

uint32_t mz_object_of(struct mz_exploration *x, const struct mz_pending *p)
{
    if (p->op == MZ_OP_CHOOSE) return 0;
    if (p->op == MZ_OP_SECTION) return mz_object_find(x, SECTIONS_KEY, 0);
    uint32_t o = mz_object_find(x, p->key, p->size);
    if (!p->size) x->objects[o].bare = true;
    return o;
}

uint32_t mz_explore_known_object(struct mz_exploration *x, uint64_t key)
{
    uint32_t o = *slot_of(x, key);
    return o ? resolve(x, o) : 0;
}

void mz_explore_unite(struct mz_exploration *x, uint64_t a, uint64_t b, unsigned size)
{
    uint32_t p = mz_object_find(x, a, size), q = mz_object_find(x, b, size);
    if (p == q) return;
    x->objects[q].alias = p;
    x->objects[p].mixed = true;
    mz_explore_restart(x);
}

/* Objects that are not simply the bytes of their key. */
void mz_put_objects(const struct mz_exploration *x, struct mz_message *m)
{
    uint32_t n = 0;
    for (uint32_t o = 1; o < x->object_count; o++) n += x->objects[o].alias || x->objects[o].mixed;
    mz_put(m, x->sections != 0);
    mz_put(m, n);
    for (uint32_t o = 1; o < x->object_count; o++) {
        const struct mz_object *a = &x->objects[o], *b = &x->objects[resolve(x, o)];
        if (!a->alias && !a->mixed) continue;
        mz_put_key(x, m, a->key);
        mz_put(m, a->size);
        mz_put_key(x, m, b->key);
        mz_put(m, b->size);
        mz_put(m, b->mixed);
    }
}

/* The search has not begun: nothing starts over. */
void mz_get_objects(struct mz_exploration *x, struct mz_message *m)
{
    if (mz_get(m)) x->sections = mz_object_find(x, SECTIONS_KEY, 0);
    for (uint32_t n = mz_get_count(m, 28); n > 0; n--) {
        uint64_t key = mz_get_key(x, m);
        uint32_t a = mz_object_find(x, key, mz_get(m) & 31);
        key = mz_get_key(x, m);
        uint32_t b = mz_object_find(x, key, mz_get(m) & 31);
        if (resolve(x, a) != resolve(x, b)) x->objects[resolve(x, a)].alias = resolve(x, b);
        x->objects[resolve(x, b)].mixed |= mz_get(m) != 0;
    }
    x->restart = false;
}
