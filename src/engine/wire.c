/* How things are put into messages. What is a number of its own in every exploration, an object, goes by its
 * key and size; whoever reads it looks it up, and finds out by that if objects overlap. A tree goes as a
 * walk: down to a node, which follows, or up again. Not by recursion: a branch can be as long as an
 * execution. */
#include "exploration.h"

enum { UP, DOWN }; /* DOWN plus whose it is */

void mz_put_key(const struct mz_exploration *x, struct mz_message *m, uint64_t key)
{
    const struct mz_share_options *s = x->options.share;
    mz_put_long(m, s->key_out ? s->key_out(x->options.system, key) : key);
}

uint64_t mz_get_key(const struct mz_exploration *x, struct mz_message *m)
{
    const struct mz_share_options *s = x->options.share;
    uint64_t key = mz_get_long(m);
    return s->key_in && !m->bad ? s->key_in(x->options.system, key) : key;
}

void mz_put_elem(struct mz_exploration *x, struct mz_message *m, struct mz_elem e)
{
    const struct mz_object *o = &x->objects[e.object];
    mz_put_key(x, m, e.object ? o->key : 0);
    uint8_t rest[MZ_WIRE - 8] = {e.object ? o->size : 0, e.object != 0, e.thread, e.access, e.choice, e.op};
    mz_put_bytes(m, rest, sizeof rest);
}

struct mz_elem mz_get_elem(struct mz_exploration *x, struct mz_message *m)
{
    uint64_t key = mz_get_key(x, m);
    uint8_t rest[MZ_WIRE - 8];
    mz_get_bytes(m, rest, sizeof rest);
    struct mz_elem e = {0, rest[2], rest[3], rest[4], rest[5]};
    if (rest[0] > 16 || rest[2] >= MZ_MAX_THREADS || rest[5] >= MZ_OP_COUNT) m->bad = true;
    if (m->bad) return (struct mz_elem){0};
    if (!rest[1]) return e;
    e.object = mz_object_find(x, key, rest[0]);
    if (!rest[0]) x->objects[e.object].bare = true;
    return e;
}

void mz_put_branch(struct mz_exploration *x, struct mz_message *m, struct mz_elem elem, uint32_t order,
                   enum mz_whose whose)
{
    mz_put(m, DOWN + whose);
    mz_put_elem(x, m, elem);
    mz_put(m, order);
}

void mz_put_up(struct mz_message *m) { mz_put(m, UP); }

void mz_put_tree(struct mz_exploration *x, struct mz_message *m, uint32_t list)
{
    uint32_t *stack = x->share.trail_stack, depth = 0, w = list;
    for (;;) {
        if (w) {
            mz_put_branch(x, m, x->wakeup[w].elem, x->wakeup[w].order, x->wakeup[w].whose);
            MZ_ASSERT(depth < x->capacity);
            stack[depth++] = w;
            w = x->wakeup[w].child;
        } else {
            mz_put_up(m);
            if (!depth) return;
            w = x->wakeup[stack[--depth]].next;
        }
    }
}

void mz_get_tree(struct mz_exploration *x, struct mz_message *m, uint32_t *list)
{
    uint32_t *stack = x->share.trail_stack, depth = 0, *to = list;
    *list = 0;
    for (;;) {
        uint32_t word = mz_get(m);
        if (m->bad || word > DOWN + MZ_SLEEPER || depth + 1 >= x->capacity) m->bad = true;
        if (m->bad) return;
        if (word >= DOWN) {
            struct mz_elem e = mz_get_elem(x, m);
            uint32_t order = mz_get(m), w = stack[depth++] = mz_wakeup_append(x, to, e);
            x->wakeup[w].order = order;
            x->wakeup[w].whose = (uint8_t)(word - DOWN);
            to = &x->wakeup[w].child;
        } else {
            if (!depth) return;
            to = &x->wakeup[stack[--depth]].next;
        }
    }
}

void mz_merge_tree(struct mz_exploration *x, struct mz_message *m, uint32_t *list)
{
    uint32_t *stack = x->share.trail_stack, depth = 0;
    for (;;) {
        uint32_t word = mz_get(m);
        if (m->bad || word > DOWN + MZ_SLEEPER || depth + 1 >= x->capacity) m->bad = true;
        if (m->bad) return;
        if (word >= DOWN) {
            struct mz_elem e = mz_get_elem(x, m);
            uint32_t *to = depth ? &x->wakeup[stack[depth - 1]].child : list;
            stack[depth++] = mz_wakeup_learn(x, to, e, mz_get(m), (enum mz_whose)(word - DOWN));
        } else {
            if (!depth) return;
            depth--;
        }
    }
}

/* Clocks go as what is different from that of the event before of the same thread. */
void mz_put_sequence(struct mz_exploration *x, struct mz_message *m, uint32_t keep)
{
    static const uint32_t none[MZ_MAX_THREADS];
    const struct mz_sequence *v = &x->sequence;
    const uint32_t *last[MZ_MAX_THREADS];
    for (int t = 0; t < MZ_MAX_THREADS; t++) last[t] = none;
    mz_put(m, v->count);
    mz_put(m, v->core);
    mz_put(m, keep);
    mz_put(m, x->lanes);
    for (uint32_t i = 0; i < v->count; i++) {
        mz_put_elem(x, m, v->elems[i]);
        mz_put(m, v->numbers[i]);
        if (!v->numbers[i]) continue;
        const uint32_t *clock = mz_sequence_clock(x, v, i), **before = &last[v->elems[i].thread];
        uint64_t changed = 0;
        for (uint32_t t = 0; t < x->lanes; t++)
            if (clock[t] != (*before)[t]) changed |= mz_bit((int)t);
        mz_put_long(m, changed);
        for (; changed; changed &= changed - 1) mz_put(m, clock[__builtin_ctzll(changed)]);
        *before = clock;
    }
}

bool mz_get_sequence(struct mz_exploration *x, struct mz_message *m)
{
    static const uint32_t none[MZ_MAX_THREADS];
    struct mz_sequence *v = &x->sequence;
    const uint32_t *last[MZ_MAX_THREADS];
    for (int t = 0; t < MZ_MAX_THREADS; t++) last[t] = none;
    uint32_t count = mz_get_count(m, MZ_WIRE), core = mz_get(m), keep = mz_get(m), lanes = mz_get(m);
    if (m->bad || !keep || keep > core || core > count || count > x->capacity) return false;
    if (lanes > MZ_MAX_THREADS) return false;
    if (lanes > x->lanes) x->lanes = lanes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *clock = v->clocks + (size_t)i * MZ_MAX_THREADS;
        struct mz_elem e = v->elems[i] = mz_get_elem(x, m);
        v->numbers[i] = mz_get(m);
        if (!v->numbers[i]) continue;
        for (uint32_t t = 0; t < MZ_MAX_THREADS; t++) clock[t] = last[e.thread][t];
        for (uint64_t changed = mz_get_long(m); changed; changed &= changed - 1)
            clock[__builtin_ctzll(changed)] = mz_get(m);
        last[e.thread] = clock;
    }
    if (m->bad) return false;
    mz_sequence_given(x, count, core, keep);
    return true;
}

void mz_put_tally(struct mz_message *m, struct mz_tally t) { mz_put_bytes(m, &t, sizeof t); }

struct mz_tally mz_get_tally(struct mz_message *m)
{
    struct mz_tally t;
    mz_get_bytes(m, &t, sizeof t);
    return t;
}
