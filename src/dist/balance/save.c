/* The tree as bytes, and back: see balance.h. Writes a node and its branches, then the nodes of those
 * branches, depth first; not by recursion. A branch that a worker holds is saved as WAITING. */
#include "dist/balance/balance_internal.h"

static void put_node(struct mz_balance *b, struct mz_message *m, const struct mz_tree_node *n)
{
    mz_put(m, n->count);
    mz_put_long(m, n->threads);
    for (uint32_t j = 0; j < n->count; j++) {
        const struct mz_branch *branch = &n->branches[j];
        mz_put_elem(&b->trace, m, branch->elem);
        mz_put(m, branch->state == MZ_BRANCH_BUSY ? MZ_BRANCH_WAITING : branch->state);
        mz_put(m, branch->part);
        mz_put(m, branch->node != MZ_NONE);
        mz_put_long(m, branch->leaves);
    }
}

static uint32_t next_node(const struct mz_tree_node *n, uint32_t j)
{
    while (j < n->count && n->branches[j].node == MZ_NONE) j++;
    return j;
}

void mz_balance_save(struct mz_balance *b, struct mz_message *m)
{
    const struct mz_balance_counts *c = &b->counts;
    uint32_t i = 0, j = 0;
    if (b->samples) {
        mz_samples_save(b, m);
        return;
    }
    if (b->whole) {
        mz_whole_save(b, m);
        return;
    }
    mz_balance_put_knowledge(b, m);
    mz_put_tally(m, (struct mz_tally){c->executions, c->blocked, c->cut, c->transitions});
    put_node(b, m, &b->nodes[i]);
    for (;;) {
        j = next_node(&b->nodes[i], j);
        if (j < b->nodes[i].count) {
            i = b->nodes[i].branches[j].node;
            j = 0;
            put_node(b, m, &b->nodes[i]);
        } else if (b->nodes[i].parent == MZ_NONE) {
            return;
        } else {
            j = b->nodes[i].branch + 1;
            i = b->nodes[i].parent;
        }
    }
}

/* A branch whose node has not been read yet gets the node 0, which belongs to no branch. */
static void get_node(struct mz_balance *b, struct mz_message *m, uint32_t i)
{
    uint32_t count = mz_get_count(m, MZ_WIRE);
    b->nodes[i].threads = mz_get_long(m);
    mz_tree_reserve(b, i, count);
    for (uint32_t j = 0; j < count && !m->bad; j++) {
        struct mz_elem e = mz_get_elem(&b->trace, m);
        uint32_t state = mz_get(m);
        if (state > MZ_BRANCH_OPEN || state == MZ_BRANCH_BUSY) m->bad = true;
        if (m->bad) return;
        mz_tree_branch(b, i, e, (enum mz_branch_state)state);
        struct mz_branch *branch = &b->nodes[i].branches[j];
        branch->part = mz_get(m) != 0;
        branch->node = mz_get(m) ? 0 : MZ_NONE;
        branch->leaves = mz_get_long(m);
        if ((state == MZ_BRANCH_OPEN && branch->node) || (state == MZ_BRANCH_WAITING && !branch->node))
            m->bad = true;
    }
}

bool mz_balance_load(struct mz_balance *b, struct mz_message *m)
{
    uint32_t i = 0, j = 0;
    if (b->samples) return mz_samples_load(b, m);
    mz_tree_begin(b);
    if (b->whole) return mz_whole_load(b, m);
    mz_balance_get_knowledge(b, m);
    struct mz_tally t = mz_get_tally(m);
    b->counts.executions = t.executions;
    b->counts.blocked = t.blocked;
    b->counts.cut = t.cut;
    b->counts.transitions = t.transitions;
    mz_tree_state(b, (struct mz_spot){0, 0}, MZ_BRANCH_DONE);
    b->nodes[0].count = 0;
    get_node(b, m, 0);
    if (b->nodes[0].count != 1) m->bad = true;
    while (!m->bad) {
        j = next_node(&b->nodes[i], j);
        if (j < b->nodes[i].count) {
            i = mz_tree_node(b, (struct mz_spot){i, j});
            j = 0;
            if (b->nodes[i].depth + 2 >= b->trace.capacity) m->bad = true;
            get_node(b, m, i);
            if (b->nodes[i].count == 0) m->bad = true;
        } else if (b->nodes[i].parent == MZ_NONE) {
            break;
        } else {
            j = b->nodes[i].branch + 1;
            i = b->nodes[i].parent;
        }
    }
    b->trace.outdated = false;
    return !m->bad;
}
