/* Questions to the balancer: a race whose first event is a branch of a balancer's node has to be reversed at
 * that node.
 *
 * The worker looks at what it knows of the node. If that does not answer the question, it sends an update and
 * goes on. The reply comes later, and adds to what the worker knows; if the worker has left the node by then,
 * it ignores the reply. The worker believes only what the balancer has said.
 *
 * While a question about a node is on its way, the worker holds back further questions about that node,
 * because the reply often answers them, too. It asks those that the reply does not answer one after the
 * other. It asks all of them before it leaves the node, or sends another message about the task. */
#include "engine/worker_part.h"

#define MOST_QUESTIONS 256        /* questions on their way; then the worker waits */
#define MOST_HELD      64         /* questions held back; then they are asked */
#define MOST_BYTES     (1u << 20) /* the same in bytes, counting those that have been asked since */

#define ANY_NODE UINT32_MAX

/* Ask the questions about this node that were held back: all of them; or, if `answered` is given, forget those that are
 * answered by now, and ask the first one that is not. */
static void ask_held(struct mz_exploration *x, uint32_t node,
                     bool (*answered)(struct mz_exploration *x, uint32_t k, struct mz_message *m))
{
    struct mz_share *s = x->share;
    bool on = s->held_count > 0;
    for (size_t at = 0; on && at < s->held.count;) {
        uint32_t head[3]; /* node, stamp, length */
        __builtin_memcpy(head, s->held.data + at, sizeof head);
        struct mz_message m = {
            .data = s->held.data + at + sizeof head, .count = head[2], .capacity = head[2]};
        if (head[0] != ANY_NODE && (node == ANY_NODE || node == head[0])) {
            if (!answered || !answered(x, head[0], &m)) {
                mz_message_clear(&s->out);
                mz_put_bytes(&s->out, m.data, m.count);
                mz_share_send(x);
                s->questions++;
                s->asked[head[0]] = head[1];
                on = !answered;
            }
            head[0] = ANY_NODE; /* no longer held */
            __builtin_memcpy(s->held.data + at, head, sizeof head[0]);
            s->held_count--;
        }
        at += sizeof head + head[2];
    }
    if (!s->held_count) mz_message_clear(&s->held);
}

void mz_share_drop_held(struct mz_exploration *x)
{
    mz_message_clear(&x->share->held);
    x->share->held_count = 0;
}

void mz_share_ask_all(struct mz_exploration *x) { ask_held(x, ANY_NODE, NULL); }

void mz_share_new_node(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = x->share;
    if (k < x->kept) return;
    ask_held(x, k, NULL);
    s->stamps[k] = ++s->stamp;
}

static bool is_answered(struct mz_exploration *x, uint32_t k, struct mz_message *m)
{
    for (int i = 0; i < 4; i++) mz_get(m); /* the head, by begin_update() */
    if (!x->reduction->uses_backtrack_sets)
        return mz_get_sequence(&x->trace, m) &&
               mz_wakeup_covers(&x->trace, x->nodes[k].wakeup, &x->trace.sequence);
    uint64_t wanted = mz_get_long(m), add = mz_get_long(m), known = x->nodes[k].backtrack;
    return wanted & known || !(add & ~known);
}

void mz_explore_learn(struct mz_exploration *x, struct mz_message *m)
{
    struct mz_share *s = x->share;
    uint32_t k = mz_get(m), stamp = mz_get(m);
    if (s->questions) s->questions--;
    MZ_ASSERT(k < x->trace.capacity);
    if (s->stamps[k] != stamp || k >= x->root) {
        m->at = m->count;
        return;
    }
    if (x->reduction->uses_backtrack_sets)
        x->nodes[k].backtrack |= mz_get_long(m);
    else
        mz_merge_tree(&x->trace, m, &x->nodes[k].wakeup);
    MZ_ASSERT(!m->bad);
    s->asked[k] = 0;
    ask_held(x, k, is_answered);
}

void mz_share_listen(struct mz_exploration *x, bool wait)
{
    struct mz_message *m = &x->share->in;
    while (x->share->questions && x->options.share->listen(x->options.system, m, wait)) {
        MZ_ASSERT(mz_get(m) == MZ_SHARE_REPLY);
        mz_explore_learn(x, m);
        wait = wait && x->share->questions > MOST_QUESTIONS / 2;
    }
}

static struct mz_message *begin_update(struct mz_exploration *x, uint32_t k)
{
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_UPDATE);
    mz_put(m, x->share->leaf);
    mz_put(m, k);
    mz_put(m, x->share->stamps[k]);
    return m;
}

/* Send the question in share->out, which is about node k, or hold it back. */
static void ask(struct mz_exploration *x, uint32_t k)
{
    struct mz_share *s = x->share;
    if (s->asked[k] == s->stamps[k] && s->held_count < MOST_HELD && s->held.count < MOST_BYTES) {
        uint32_t head[3] = {k, s->stamps[k], (uint32_t)s->out.count};
        mz_put_bytes(&s->held, head, sizeof head);
        mz_put_bytes(&s->held, s->out.data, s->out.count);
        s->held_count++;
        return;
    }
    mz_share_send(x);
    s->asked[k] = s->stamps[k];
    if (++s->questions > MOST_QUESTIONS) mz_share_listen(x, true);
}

enum mz_cover mz_share_ask_for_sequence(struct mz_exploration *x, uint32_t k)
{
    struct mz_sequence *v = &x->trace.sequence;
    const struct mz_race *race = v->race;
    enum mz_cover cover = mz_wakeup_covers(&x->trace, x->nodes[k].wakeup, v);
    if (cover != MZ_UNCOVERED) return cover;
    mz_sequence_build(&x->trace, race);
    uint32_t keep = v->keep;
    mz_sequence_complete(&x->trace, v);
    mz_put_sequence(&x->trace, begin_update(x, k), keep);
    ask(x, k);
    return MZ_COVERED;
}

void mz_share_ask_for_threads(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add)
{
    add &= ~x->nodes[k].backtrack;
    if (!add) return;
    struct mz_message *m = begin_update(x, k);
    mz_put_long(m, wanted);
    mz_put_long(m, add);
    ask(x, k);
}
