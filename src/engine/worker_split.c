/* Giving branches back to the balancer when other workers have nothing to do: see the head of worker_part.c. */
#include "engine/worker_part.h"

/* Give back the leaves of the batch that have not been begun. */
static void return_leaves(struct mz_exploration *x)
{
    struct mz_share *s = x->share;
    mz_share_ask_all(x);
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_RETURN);
    mz_share_put_tally(x, m, s->before);
    mz_put(m, s->leaf);
    s->leaves = s->next_leaf;
    x->top = x->root;
    mz_share_send(x);
}

static bool has_branches(const struct mz_exploration *x, uint32_t k)
{
    if (!x->reduction->uses_backtrack_sets) return x->nodes[k].wakeup;
    return mz_choices_left(x, k) || mz_threads_left(x, k);
}

/* The node to give up, with all nodes above it: the topmost one with branches left, or the deepest one if all are to
 * be given (MZ_SHARE_GIVE_ALL). UINT32_MAX: there is none. */
static uint32_t node_to_give(const struct mz_exploration *x, enum mz_share_wish wish)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t k = x->root; k < x->path.depth; k++) {
        if (!has_branches(x, k)) continue;
        found = k;
        if (wish == MZ_SHARE_GIVE) break;
    }
    if (found == UINT32_MAX) return found;
    while (found + 1 < x->path.depth && x->nodes[found + 1].foreseen)
        found++; /* to the leaf of its wakeup tree */
    return found;
}

/* With backtrack sets: the branches that are left, as a list. */
static uint32_t list_left(struct mz_exploration *x, uint32_t k)
{
    struct mz_elem e = mz_elem_of(&x->trace.events[k]);
    uint32_t list = 0;
    for (uint64_t c = mz_choices_left(x, k); c; c &= c - 1) {
        e.choice = (uint8_t)__builtin_ctzll(c);
        mz_wakeup_append(&x->trace, &list, e);
    }
    for (uint64_t t = mz_threads_left(x, k); t; t &= t - 1)
        mz_wakeup_append(&x->trace, &list,
                         (struct mz_elem){.thread = (uint8_t)__builtin_ctzll(t), .choice = MZ_ANY});
    return list;
}

/* Put node k into the message: its explored branches, the one that is being explored, those that are left. */
static void give_node(struct mz_exploration *x, struct mz_message *m, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    uint32_t explored = n->sleep_count - n->inherited, list = n->wakeup;
    mz_put_long(m, explored ? mz_tally_leaves(n->before) - n->first : 0);
    mz_put(m, explored);
    for (uint32_t i = n->inherited; i < n->sleep_count; i++)
        mz_put_elem(&x->trace, m, x->sleep[n->sleep_start + i]);
    mz_put_elem(&x->trace, m, mz_elem_of(&x->trace.events[k]));
    if (!x->reduction->uses_backtrack_sets) {
        mz_wakeup_give(&x->trace, list, explored + 1);
        mz_put_tree(&x->trace, m, list);
        return;
    }
    list = list_left(x, k);
    mz_put_tree(&x->trace, m, list);
    mz_wakeup_clear(&x->trace, &list);
    mz_put_long(m, n->backtrack);
}

/* The last branch of the way was handed out as a thread: tell the balancer the step that the thread has
 * taken, and its other choices. */
static void resolve(struct mz_exploration *x)
{
    struct mz_share *s = x->share;
    uint32_t k = x->top - 1;
    if (!s->unresolved || x->path.depth <= k) return;
    s->unresolved = false;
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_RESOLVE);
    mz_put_elem(&x->trace, m, mz_elem_of(&x->trace.events[k]));
    mz_put_long(m, x->nodes[k].choices);
    mz_share_send(x);
}

static void split(struct mz_exploration *x, uint32_t n)
{
    struct mz_share *s = x->share;
    mz_share_ask_all(x);
    struct mz_message *m = mz_share_begin(x, MZ_SHARE_SPLIT);
    mz_share_put_knowledge(x, m);
    mz_share_put_tally(x, m, x->nodes[n].before);
    mz_put(m, s->leaf);
    mz_put(m, x->root);
    mz_put(m, n + 1 - x->root);
    for (uint32_t k = x->root; k <= n; k++) {
        give_node(x, m, k);
        mz_share_new_node(x, k);
    }
    x->top = x->root = n + 1;
    mz_share_send(x);
}

void mz_share_offer(struct mz_exploration *x)
{
    struct mz_share *s = x->share;
    if (s->questions) mz_share_listen(x, false);
    if (mz_unlikely(s->unresolved)) resolve(x);
    enum mz_share_wish wish = x->options.share->wish(x->options.system);
    if (mz_likely(wish == MZ_SHARE_KEEP)) return;
    if (s->next_leaf < s->leaves) {
        return_leaves(x);
        if (wish == MZ_SHARE_GIVE) return;
    }
    x->top = x->root; /* all leaves before this one are done */
    uint32_t n = node_to_give(x, wish);
    if (n != UINT32_MAX) split(x, n);
}
