/* How parts of a trace are put into messages. The number of an object differs between explorations, so a
 * message names an object by its key and size; the reader looks the object up, and so finds out whether
 * objects overlap. A tree is sent as a walk: down to a node, followed by the data of that node, or up again.
 * Nothing here is recursive: a branch can be as long as an execution. */
#include "trace/wire.h"

enum { UP, DOWN }; /* DOWN: plus enum mz_whose */

/* Only the part of a key that is an address differs between workers. */
static uint64_t translated(const struct mz_trace *tr, uint64_t (*map)(void *system, uint64_t key),
                           uint64_t key)
{
    if (!map || mz_is_await_key(key)) return key;
    if (!mz_is_cell_key(key)) return map(tr->keys.system, key);
    uint64_t channel = mz_channel_of_cell(key);
    return map(tr->keys.system, channel) | (key ^ channel);
}

void mz_put_key(const struct mz_trace *tr, struct mz_message *m, uint64_t key)
{
    mz_put_long(m, translated(tr, tr->keys.out, key));
}

uint64_t mz_get_key(const struct mz_trace *tr, struct mz_message *m)
{
    uint64_t key = mz_get_long(m);
    return m->bad ? key : translated(tr, tr->keys.in, key);
}

void mz_put_elem(struct mz_trace *tr, struct mz_message *m, struct mz_elem e)
{
    const struct mz_object *o = &tr->objects[e.object];
    mz_put_key(tr, m, e.object ? o->key : 0);
    uint8_t rest[8] = {e.object ? o->size : 0, e.object != 0, e.thread, e.access, e.choice, e.op};
    mz_put_bytes(m, rest, sizeof rest);
    mz_put(m, e.object ? o->awaited : 0);
}

struct mz_elem mz_get_elem(struct mz_trace *tr, struct mz_message *m)
{
    uint64_t key = mz_get_key(tr, m);
    uint8_t rest[8];
    mz_get_bytes(m, rest, sizeof rest);
    uint32_t awaited = mz_get(m);
    struct mz_elem e = {0, rest[2], rest[3], rest[4], rest[5]};
    if (rest[0] > 16 || rest[2] >= MZ_MAX_THREADS || rest[5] >= MZ_OP_COUNT) m->bad = true;
    if (m->bad) return (struct mz_elem){0};
    if (!rest[1]) return e;
    e.object = mz_object_find(tr, key, rest[0]);
    if (!rest[0]) tr->objects[e.object].bare = true;
    tr->objects[e.object].awaited |= awaited;
    return e;
}

void mz_put_branch(struct mz_trace *tr, struct mz_message *m, struct mz_elem elem, uint32_t order,
                   enum mz_whose whose)
{
    mz_put(m, DOWN + whose);
    mz_put_elem(tr, m, elem);
    mz_put(m, order);
}

void mz_put_up(struct mz_message *m) { mz_put(m, UP); }

void mz_put_tree(struct mz_trace *tr, struct mz_message *m, uint32_t list)
{
    uint32_t *stack = tr->wakeup.stack, depth = 0, w = list;
    for (;;) {
        if (w) {
            mz_put_branch(tr, m, tr->wakeup.nodes[w].elem, tr->wakeup.nodes[w].order,
                          tr->wakeup.nodes[w].whose);
            MZ_ASSERT(depth < tr->capacity);
            stack[depth++] = w;
            w = tr->wakeup.nodes[w].child;
        } else {
            mz_put_up(m);
            if (!depth) return;
            w = tr->wakeup.nodes[stack[--depth]].next;
        }
    }
}

void mz_get_tree(struct mz_trace *tr, struct mz_message *m, uint32_t *list)
{
    uint32_t *stack = tr->wakeup.stack, depth = 0, *to = list;
    *list = 0;
    for (;;) {
        uint32_t word = mz_get(m);
        if (m->bad || word > DOWN + MZ_SLEEPER || depth + 1 >= tr->capacity) m->bad = true;
        if (m->bad) return;
        if (word >= DOWN) {
            struct mz_elem e = mz_get_elem(tr, m);
            uint32_t order = mz_get(m), w = stack[depth++] = mz_wakeup_append(tr, to, e);
            tr->wakeup.nodes[w].order = order;
            tr->wakeup.nodes[w].whose = (uint8_t)(word - DOWN);
            to = &tr->wakeup.nodes[w].child;
        } else {
            if (!depth) return;
            to = &tr->wakeup.nodes[stack[--depth]].next;
        }
    }
}

void mz_merge_tree(struct mz_trace *tr, struct mz_message *m, uint32_t *list)
{
    uint32_t *stack = tr->wakeup.stack, depth = 0;
    for (;;) {
        uint32_t word = mz_get(m);
        if (m->bad || word > DOWN + MZ_SLEEPER || depth + 1 >= tr->capacity) m->bad = true;
        if (m->bad) return;
        if (word >= DOWN) {
            struct mz_elem e = mz_get_elem(tr, m);
            uint32_t *to = depth ? &tr->wakeup.nodes[stack[depth - 1]].child : list;
            stack[depth++] = mz_wakeup_learn(tr, to, e, mz_get(m), (enum mz_whose)(word - DOWN));
        } else {
            if (!depth) return;
            depth--;
        }
    }
}

/* Of each clock, send only the components that differ from the clock of the previous event of the same
 * thread. */
void mz_put_sequence(struct mz_trace *tr, struct mz_message *m, uint32_t keep)
{
    static const uint32_t none[MZ_MAX_THREADS];
    const struct mz_sequence *v = &tr->sequence;
    const uint32_t *last[MZ_MAX_THREADS];
    for (int t = 0; t < MZ_MAX_THREADS; t++) last[t] = none;
    mz_put(m, v->count);
    mz_put(m, v->core);
    mz_put(m, keep);
    mz_put(m, tr->lanes);
    for (uint32_t i = 0; i < v->count; i++) {
        mz_put_elem(tr, m, v->elems[i]);
        mz_put(m, v->numbers[i]);
        if (!v->numbers[i]) continue;
        const uint32_t *clock = mz_sequence_clock(tr, v, i), **before = &last[v->elems[i].thread];
        uint64_t changed = 0;
        for (uint32_t t = 0; t < tr->lanes; t++)
            if (clock[t] != (*before)[t]) changed |= mz_bit((int)t);
        mz_put_long(m, changed);
        for (; changed; changed &= changed - 1) mz_put(m, clock[__builtin_ctzll(changed)]);
        *before = clock;
    }
}

bool mz_get_sequence(struct mz_trace *tr, struct mz_message *m)
{
    static const uint32_t none[MZ_MAX_THREADS];
    struct mz_sequence *v = &tr->sequence;
    const uint32_t *last[MZ_MAX_THREADS];
    for (int t = 0; t < MZ_MAX_THREADS; t++) last[t] = none;
    uint32_t count = mz_get_count(m, MZ_WIRE), core = mz_get(m), keep = mz_get(m), lanes = mz_get(m);
    if (m->bad || !keep || keep > core || core > count || count > tr->capacity) return false;
    if (lanes > MZ_MAX_THREADS) return false;
    if (lanes > tr->lanes) tr->lanes = lanes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *clock = v->clocks + (size_t)i * MZ_MAX_THREADS;
        struct mz_elem e = v->elems[i] = mz_get_elem(tr, m);
        v->numbers[i] = mz_get(m);
        if (!v->numbers[i]) continue;
        for (uint32_t t = 0; t < MZ_MAX_THREADS; t++) clock[t] = last[e.thread][t];
        for (uint64_t changed = mz_get_long(m); changed; changed &= changed - 1)
            clock[__builtin_ctzll(changed)] = mz_get(m);
        last[e.thread] = clock;
    }
    if (m->bad) return false;
    mz_sequence_given(tr, count, core, keep);
    return true;
}

/* Send the objects that have an alias or are mixed; their keys alone do not tell this. */
void mz_put_objects(const struct mz_trace *tr, struct mz_message *m)
{
    uint32_t n = 0;
    for (uint32_t o = 1; o < tr->object_count; o++) n += tr->objects[o].alias || tr->objects[o].mixed;
    mz_put(m, tr->sections != 0);
    mz_put(m, n);
    for (uint32_t o = 1; o < tr->object_count; o++) {
        const struct mz_object *a = &tr->objects[o], *b = &tr->objects[mz_object_resolve(tr, o)];
        if (!a->alias && !a->mixed) continue;
        mz_put_key(tr, m, a->key);
        mz_put(m, a->size);
        mz_put_key(tr, m, b->key);
        mz_put(m, b->size);
        mz_put(m, b->mixed);
    }
}

/* The search has not begun yet, so it need not start over. */
void mz_get_objects(struct mz_trace *tr, struct mz_message *m)
{
    if (mz_get(m)) tr->sections = mz_object_of_sections(tr);
    for (uint32_t n = mz_get_count(m, 28); n > 0; n--) {
        uint64_t key = mz_get_key(tr, m);
        uint32_t a = mz_object_find(tr, key, mz_get(m) & 31);
        key = mz_get_key(tr, m);
        uint32_t b = mz_object_find(tr, key, mz_get(m) & 31);
        if (mz_object_resolve(tr, a) != mz_object_resolve(tr, b))
            tr->objects[mz_object_resolve(tr, a)].alias = mz_object_resolve(tr, b);
        tr->objects[mz_object_resolve(tr, b)].mixed |= mz_get(m) != 0;
    }
    tr->outdated = false;
}
