/* How things are put into messages. What is a number of its own in every exploration, an object, goes by its
 * key and size; whoever reads it looks it up, and finds out by that if objects overlap. A tree goes as a
 * walk: down to a node, which follows, or up again. Not by recursion: a branch can be as long as an
 * execution. */
#include "exploration.h"

enum { UP, DOWN };

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

void mz_put_tree(struct mz_exploration *x, struct mz_message *m, uint32_t list)
{
    uint32_t *stack = x->share.trail_stack, depth = 0, w = list;
    for (;;) {
        if (w) {
            mz_put(m, DOWN);
            mz_put_elem(x, m, x->wakeup[w].elem);
            MZ_ASSERT(depth < x->capacity);
            stack[depth++] = w;
            w = x->wakeup[w].child;
        } else {
            mz_put(m, UP);
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
        if (m->bad || word > DOWN || depth + 1 >= x->capacity) m->bad = true;
        if (m->bad) return;
        if (word == DOWN) {
            struct mz_elem e = mz_get_elem(x, m);
            uint32_t w = stack[depth++] = mz_wakeup_append(x, to, e);
            to = &x->wakeup[w].child;
        } else {
            if (!depth) return;
            to = &x->wakeup[stack[--depth]].next;
        }
    }
}

void mz_put_tally(struct mz_message *m, struct mz_tally t) { mz_put_bytes(m, &t, sizeof t); }

struct mz_tally mz_get_tally(struct mz_message *m)
{
    struct mz_tally t;
    mz_get_bytes(m, &t, sizeof t);
    return t;
}
