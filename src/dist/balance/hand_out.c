/* Handing out: which of the waiting branches a worker gets.
 *
 * With wakeup trees a worker gets a batch of leaves that lie together. The more leaves wait, the more it
 * gets, so that there are few tasks even if the parts are small. With backtrack sets, or if few branches
 * wait, it gets the branch nearest to the root. With wakeup trees the worker is also told the tree around its
 * branches, which answers most races. */
#include "dist/balance/balance_internal.h"

#define MOST_PARTS 4096
#define NEAR       6  /* an answer also tells the tree below the node this many branches above its leaf ... */
#define MOST_NEAR  64 /* ... but at most this many branches of it */

void mz_balance_hold(struct mz_balance *b, uint32_t worker, struct mz_spot p)
{
    struct mz_held *h = &b->held[worker];
    if (!h->count) h->done = 0;
    if (h->count == h->room) {
        h->room = h->room ? 2 * h->room : 4;
        h->parts = mz_grow(h->parts, h->room * sizeof *h->parts);
    }
    h->parts[h->count++] = p;
    mz_tree_state(b, p, MZ_BRANCH_BUSY);
    mz_branch_at(b, p)->worker = worker;
    b->counts.parts++;
}

/* The first branch of the node that can be handed out, or MZ_NONE. */
static uint32_t first_ready(const struct mz_tree_node *n)
{
    for (uint32_t j = n->pruned; j < n->count; j++) {
        if (n->branches[j].state == MZ_BRANCH_WAITING) return j;
        if (n->branches[j].state == MZ_BRANCH_BUSY && n->branches[j].elem.choice == MZ_ANY) break; /* B4 */
    }
    return MZ_NONE;
}

/* Choose the branch nearest to the root that can be handed out, the first of its node. With wakeup trees the
 * first node of the list always has one. */
static bool choose_one(struct mz_balance *b, struct mz_spot *p)
{
    while (b->listed && !b->lists[b->shallowest]) b->shallowest++;
    for (uint32_t k = b->shallowest, seen = 0; seen < b->listed; k++) {
        uint32_t i = b->lists[k] - 1;
        for (bool more = b->lists[k] != 0; more; more = i != b->lists[k] - 1) {
            *p = (struct mz_spot){i, first_ready(&b->nodes[i])};
            if (p->branch != MZ_NONE) return true;
            i = b->nodes[i].next;
            seen++;
        }
    }
    return false;
}

/* A node with at least `wanted` waiting branches, its own and those below, none of whose children has that many. */
static uint32_t choose_node(const struct mz_balance *b, uint32_t wanted)
{
    uint32_t i = 0;
    for (;;) {
        const struct mz_tree_node *n = &b->nodes[i];
        uint32_t j = 0;
        while (j < n->count &&
               (n->branches[j].node == MZ_NONE || b->nodes[n->branches[j].node].below < wanted))
            j++;
        if (j == n->count) return i;
        i = n->branches[j].node;
    }
}

/* Put the branches from the root to this node into b->path; return their number. */
static uint32_t find_path(struct mz_balance *b, uint32_t node)
{
    uint32_t length = b->nodes[node].depth;
    for (uint32_t k = length; k-- > 0; node = b->nodes[node].parent)
        b->path[k] = (struct mz_spot){b->nodes[node].parent, b->nodes[node].branch};
    return length;
}

static void put_step(struct mz_balance *b, struct mz_message *m, struct mz_spot p)
{
    const struct mz_branch *branches = b->nodes[p.node].branches;
    const struct mz_elem *e = &branches[p.branch].elem;
    uint32_t sleepers = 0;
    mz_put(m, e->thread | (uint32_t)e->choice << 8);
    for (uint32_t j = 0; b->sleep_sets && j < p.branch; j++) sleepers += branches[j].elem.choice != MZ_ANY;
    mz_put(m, sleepers);
    for (uint32_t j = 0; sleepers && j < p.branch; j++)
        if (branches[j].elem.choice != MZ_ANY) mz_put_elem(&b->trace, m, branches[j].elem);
}

static void put_way(struct mz_balance *b, struct mz_message *m, uint32_t length, uint32_t parts)
{
    mz_put(m, length);
    mz_put(m, parts);
    for (uint32_t k = 0; k < length; k++) put_step(b, m, b->path[k]);
}

struct tour { /* a walk over the tree of a node that is told to a worker */
    struct mz_message *m;
    uint32_t worker, left; /* the worker; the number of parts that it can still take */
    uint32_t others;       /* branches of others that it can still be told of */
    bool part;             /* the rest may be left out: the worker does not explore it */
};

/* Write a branch of the tree. Return whether branches below it must follow. Then at least one must: the
 * worker takes a branch without children for a leaf. */
static bool put_one(struct mz_balance *b, struct tour *t, struct mz_spot p)
{
    const struct mz_branch *branch = mz_branch_at(b, p);
    bool some = branch->node != MZ_NONE && b->nodes[branch->node].below > 0;
    bool mine = t->left && (some || branch->state == MZ_BRANCH_WAITING);
    bool hidden = !mine && !branch->part && (t->others < 2 || branch->node == MZ_NONE);
    mz_put_branch(&b->trace, t->m, branch->elem, p.branch, mine ? MZ_MINE : hidden ? MZ_SLEEPER : MZ_OTHERS);
    if (!mine) {
        if (t->others) t->others--;
        return !branch->part && !hidden;
    }
    if (some) return true;
    mz_balance_hold(b, t->worker, p);
    t->left--;
    return false;
}

/* Write the tree of the node, from branch p on. */
static void put_tree(struct mz_balance *b, struct tour *t, struct mz_spot p)
{
    uint32_t depth = 0;
    for (;;) {
        if (p.branch == b->nodes[p.node].count || (t->part && !t->others)) {
            if (!depth) return;
            mz_put_up(t->m);
            p = b->walk[--depth];
            p.branch++;
        } else if (put_one(b, t, p)) {
            b->walk[depth++] = p;
            p = (struct mz_spot){mz_branch_at(b, p)->node, 0};
        } else {
            mz_put_up(t->m);
            p.branch++;
        }
    }
}

/* Write the answer to a race: the first `length` entries of b->path. Also write the branches near its end,
 * which may answer the next race. */
void mz_balance_put_answer(struct mz_balance *b, struct mz_message *m, uint32_t length)
{
    uint32_t near = length > NEAR ? length - NEAR : 1;
    struct tour t = {.m = m, .others = MOST_NEAR};
    for (uint32_t k = 0; k < length; k++)
        mz_put_branch(&b->trace, m, mz_branch_at(b, b->path[k])->elem, b->path[k].branch, MZ_OTHERS);
    for (uint32_t k = length; k-- > 0;) {
        mz_put_up(m);
        if (k == near && near < length) put_tree(b, &t, (struct mz_spot){b->path[k].node, 0});
    }
    mz_put_up(m);
}

/* Write the branches behind the way, node by node from its end up to the root. */
static void put_behind_way(struct mz_balance *b, struct tour *t, uint32_t length)
{
    t->left = 0;
    t->part = true;
    for (uint32_t k = length; k-- > 0; mz_put_up(t->m))
        if (!b->backtrack_sets) put_tree(b, t, (struct mz_spot){b->path[k].node, b->path[k].branch + 1});
}

static bool hand_out_one(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_spot p;
    if (!choose_one(b, &p)) return false;
    uint32_t length = b->nodes[p.node].depth + 1;
    if (length) {
        find_path(b, p.node);
        b->path[length - 1] = p;
    }
    put_way(b, m, length, 1);
    mz_put_up(m); /* no tree */
    struct tour t = {.m = m, .others = b->telling * (1 + 4)};
    put_behind_way(b, &t, length);
    mz_balance_hold(b, worker, p);
    return true;
}

static void hand_out_batch(struct mz_balance *b, uint32_t worker, struct mz_message *m, uint32_t wanted)
{
    uint32_t node = choose_node(b, wanted), length = find_path(b, node);
    if (wanted > b->nodes[node].below) wanted = b->nodes[node].below;
    put_way(b, m, length, wanted);
    struct tour t = {.m = m, .worker = worker, .left = wanted, .others = b->telling * (wanted + 4)};
    put_tree(b, &t, (struct mz_spot){node, 0});
    mz_put_up(m);
    put_behind_way(b, &t, length);
}

bool mz_balance_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task)
{
    if (b->whole) return mz_whole_task(b, worker, task);
    uint32_t wanted = b->nodes[0].below / (2 * b->workers);
    if (b->samples) return mz_samples_task(b, worker, is_new, task);
    if (b->held[worker].count || !b->nodes[0].below) return false;
    mz_message_clear(task);
    mz_put(task, MZ_SHARE_TASK);
    mz_put(task, is_new);
    if (is_new) mz_balance_put_knowledge(b, task);
    if (wanted > MOST_PARTS) wanted = MOST_PARTS;
    if (wanted > 1 && !b->backtrack_sets)
        hand_out_batch(b, worker, task, wanted);
    else if (!hand_out_one(b, worker, task))
        return false;
    b->counts.tasks++;
    return true;
}
