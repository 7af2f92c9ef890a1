/* The balancer: see balance.h; balance_internal.h for its tree; src/engine/share.c for the side of a worker.
 *
 * Why the search is complete, and explores nothing twice (`optimal`).
 *
 * The tree here is a wakeup tree (2017, section 6) whose branches stay when they have been taken. The order
 * of the branches is the order in which one worker alone would explore them; below a branch all those before
 * it are asleep. What is handed out is a leaf. A wakeup tree is such that at a leaf nothing is asleep: so the
 * part of the search below it is complete in itself, whatever happens elsewhere, and so is all that comes of
 * it when its worker gives up nodes of it. (Handing out a branch that is not a leaf would not do: below it,
 * with some asleep, executions are left out for which the part of the sleeping ones has to ask, at this node;
 * and it could be done by then, or in other hands.)
 *
 * A race asks for a sequence v at a node, below one of its branches, b. If something that is asleep there, or
 * a branch before b, can come first in v, then v is left to that, as if alone. Otherwise v belongs behind b,
 * and is inserted there as in one search: down the first branch that can come first in it, and so on; at a
 * leaf, it is covered, explored or not; else it becomes a new branch, behind the others. Nothing is ever
 * inserted below a leaf, so it makes no difference if a leaf was explored before or after the insertion, and
 * the tree, in the end, is one that a single worker could have had: each race of each execution is answered
 * by something that comes before it, or by a leaf behind it.
 *
 * What is left of a worker's part when it gives up a node: the branch it is on. Those before it are explored;
 * v of those behind it are left to it. So nobody has to insert anything into it.
 *
 * With backtrack sets (source, dpor) branches are steps of threads. A race asks for one of several threads at
 * a node; if none is a branch there, one becomes one. Being asleep does not answer for anything; so here a
 * part is complete whatever is asleep: it explores all executions but those that start like a sleeping one.
 *
 * Where objects of different workers turn out to overlap, all is void, as in one search
 * (src/engine/object.c). */
#include "balance_internal.h"

#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)1 << 32) /* address space for one message */

/* ---- beginning ---- */

static void begin(struct mz_balance *b)
{
    mz_tree_begin(b);
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++) b->held[w].node = MZ_NONE;
    b->counts.executions = b->counts.blocked = b->counts.cut = b->counts.transitions = 0;
}

static const struct mz_share_options sharing = {.room = ROOM};

struct mz_balance *mz_balance_new(enum mz_algorithm algorithm, uint64_t max_steps)
{
    struct mz_balance *b = mz_grow(NULL, sizeof *b);
    struct mz_explore_options options = {
        .algorithm = algorithm, .sleep_sets = true, .max_steps = max_steps, .share = &sharing};
    memset(b, 0, sizeof *b);
    b->x = mz_explore_new(&b->view, &options);
    b->path = mz_grow(NULL, ((size_t)b->x->capacity + 1) * sizeof *b->path);
    b->held = mz_grow(NULL, MZ_MAX_WORKERS * sizeof *b->held);
    b->backtrack_sets = algorithm != MZ_ALG_OPTIMAL;
    begin(b);
    return b;
}

void mz_balance_reuse(struct mz_balance *b)
{
    begin(b);
    mz_explore_reuse(b->x);
    b->known = false;
    b->counts = (struct mz_balance_counts){0};
}

void mz_balance_free(struct mz_balance *b)
{
    if (!b) return;
    mz_tree_clear(b);
    mz_explore_free(b->x);
    free(b->nodes);
    free(b->held);
    free(b->path);
    free(b->knowledge);
    free(b);
}

/* ---- what is known ---- */

void mz_balance_put_knowledge(struct mz_balance *b, struct mz_message *m)
{
    mz_put(m, b->known);
    if (!b->known) return;
    mz_put_objects(b->x, m);
    mz_put(m, (uint32_t)b->knowledge_size);
    mz_put_bytes(m, b->knowledge, b->knowledge_size);
}

void mz_balance_get_knowledge(struct mz_balance *b, struct mz_message *m)
{
    if (!mz_get(m)) return;
    mz_get_objects(b->x, m);
    size_t size = mz_get_count(m, 1);
    b->knowledge = mz_grow(b->knowledge, size + 1);
    b->knowledge_size = size;
    mz_get_bytes(m, b->knowledge, size);
    b->known = true;
}

/* ---- handing out ---- */

bool mz_balance_ready(const struct mz_balance *b) { return b->waiting > 0; }

/* The branch nearest to the root, the first of its node. */
static bool choose(const struct mz_balance *b, struct mz_spot *p)
{
    if (!b->waiting) return false;
    p->node = MZ_NONE;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct mz_tree_node *n = &b->nodes[i];
        if (!n->used || !n->waiting) continue;
        if (p->node == MZ_NONE || n->depth + 1 < b->nodes[p->node].depth + 1) p->node = i;
    }
    const struct mz_tree_node *n = &b->nodes[p->node];
    for (p->branch = 0; n->branches[p->branch].state != MZ_BRANCH_WAITING;) p->branch++;
    return true;
}

/* The branches from the root to this one. */
static uint32_t find_path(struct mz_balance *b, struct mz_spot p)
{
    uint32_t length = b->nodes[p.node].depth + 1;
    for (uint32_t k = length; k-- > 0;) {
        b->path[k] = p;
        p = (struct mz_spot){b->nodes[p.node].parent, b->nodes[p.node].branch};
    }
    return length;
}

static void put_step(struct mz_balance *b, struct mz_message *m, struct mz_spot p)
{
    const struct mz_branch *branches = b->nodes[p.node].branches;
    const struct mz_elem *e = &branches[p.branch].elem;
    uint32_t sleepers = 0;
    mz_put(m, b->nodes[p.node].name);
    mz_put(m, e->thread | (uint32_t)e->choice << 8);
    for (uint32_t j = 0; j < p.branch; j++) sleepers += branches[j].elem.choice != MZ_ANY;
    mz_put(m, sleepers);
    for (uint32_t j = 0; j < p.branch; j++)
        if (branches[j].elem.choice != MZ_ANY) mz_put_elem(b->x, m, branches[j].elem);
}

bool mz_balance_task(struct mz_balance *b, uint32_t worker, bool is_new, struct mz_message *task)
{
    struct mz_spot p;
    if (b->held[worker].node != MZ_NONE || !choose(b, &p)) return false;
    uint32_t length = find_path(b, p);
    mz_message_clear(task);
    mz_put(task, MZ_SHARE_TASK);
    if (is_new)
        mz_balance_put_knowledge(b, task);
    else
        mz_put(task, 0);
    mz_put(task, length);
    mz_put(task, length && mz_branch_at(b, p)->elem.choice == MZ_ANY);
    for (uint32_t k = 0; k < length; k++) put_step(b, task, b->path[k]);
    mz_put_tree(b->x, task, mz_branch_at(b, p)->guide);
    mz_tree_state(b, p, MZ_BRANCH_BUSY);
    mz_branch_at(b, p)->worker = worker;
    b->held[worker] = p;
    b->counts.tasks++;
    return true;
}

/* ---- hearing ---- */

static void add_tally(struct mz_balance *b, struct mz_message *m)
{
    struct mz_tally t = mz_get_tally(m);
    b->counts.executions += t.executions;
    b->counts.blocked += t.blocked;
    b->counts.cut += t.cut;
    b->counts.transitions += t.transitions;
}

static void done(struct mz_balance *b, uint32_t worker)
{
    struct mz_spot p = b->held[worker];
    mz_wakeup_clear(b->x, &mz_branch_at(b, p)->guide);
    mz_tree_state(b, p, MZ_BRANCH_DONE);
    b->held[worker].node = MZ_NONE;
    mz_tree_prune(b);
}

/* Branches that the worker has explored. */
static void get_done(struct mz_balance *b, uint32_t node, struct mz_message *m)
{
    for (uint32_t n = mz_get_count(m, MZ_WIRE); n > 0; n--) {
        uint32_t j = mz_tree_branch(b, node, mz_get_elem(b->x, m), MZ_BRANCH_DONE);
        b->nodes[node].branches[j].part = true;
    }
}

/* With backtrack sets: a thread that is asleep is left out, unless it has choices, for the worker to see. */
static void leave_out_asleep(struct mz_balance *b, uint32_t i)
{
    const struct mz_tree_node *n = &b->nodes[i];
    for (uint32_t j = 0; b->backtrack_sets && j < n->count; j++) {
        const struct mz_elem *e = &n->branches[j].elem;
        bool asleep = false;
        if (n->branches[j].state != MZ_BRANCH_WAITING || e->choice == MZ_ANY) continue;
        for (uint32_t k = 0; k < n->asleep_count; k++)
            asleep |= n->asleep[k].thread == e->thread && n->asleep[k].choice == e->choice;
        for (uint32_t k = 0; k < j; k++)
            asleep |= n->branches[k].elem.thread == e->thread && n->branches[k].elem.choice == e->choice;
        if (asleep) mz_tree_state(b, (struct mz_spot){i, j}, MZ_BRANCH_DONE);
    }
}

static void get_left(struct mz_balance *b, uint32_t node, struct mz_message *m)
{
    uint32_t list;
    mz_get_tree(b->x, m, &list);
    mz_tree_add(b, node, &list);
    leave_out_asleep(b, node);
}

/* The choices of the branch's thread are branches of their own from now on. */
static void tell_choices_apart(struct mz_balance *b, struct mz_spot p, struct mz_message *m)
{
    get_done(b, p.node, m);
    mz_branch_at(b, p)->elem = mz_get_elem(b->x, m);
    get_left(b, p.node, m);
}

/* The branch is a node from now on. Returns the branch of that which the worker is on. */
static struct mz_spot open_branch(struct mz_balance *b, struct mz_spot p, struct mz_message *m)
{
    uint32_t worker = mz_branch_at(b, p)->worker, i = mz_tree_node(b, p);
    mz_wakeup_clear(b->x, &mz_branch_at(b, p)->guide);
    mz_tree_state(b, p, MZ_BRANCH_OPEN);
    get_done(b, i, m);
    p = (struct mz_spot){i, mz_tree_branch(b, i, mz_get_elem(b->x, m), MZ_BRANCH_BUSY)};
    mz_branch_at(b, p)->worker = worker;
    mz_branch_at(b, p)->part = true;
    get_left(b, i, m);
    return b->held[worker] = p;
}

static enum mz_heard hear_split(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_spot p = b->held[worker];
    mz_balance_get_knowledge(b, m);
    add_tally(b, m);
    uint32_t first = mz_get(m), nodes = mz_get_count(m, MZ_WIRE), depth = b->nodes[p.node].depth;
    if (m->bad || !nodes || (first != depth + 1 && first != depth)) return MZ_HEARD_NONSENSE;
    if (first + nodes + 2 >= b->x->capacity) return MZ_HEARD_NONSENSE;
    if (first == depth) {
        tell_choices_apart(b, p, m);
        nodes--;
    }
    while (nodes-- > 0 && !m->bad) p = open_branch(b, p, m);
    mz_get_tree(b->x, m, &mz_branch_at(b, p)->guide);
    b->counts.splits++;
    return MZ_HEARD;
}

static enum mz_heard update_backtrack(struct mz_balance *b, uint32_t i, struct mz_message *m,
                                      struct mz_message *reply)
{
    uint64_t initials = mz_get_long(m);
    struct mz_elem e = mz_get_elem(b->x, m);
    if (m->bad || !(initials & mz_bit(e.thread))) return MZ_HEARD_NONSENSE;
    if (!(b->nodes[i].threads & initials)) {
        uint32_t j = mz_tree_branch(b, i, e, MZ_BRANCH_WAITING);
        b->nodes[i].branches[j].part = true;
        leave_out_asleep(b, i);
        b->counts.inserted++;
    }
    mz_put_long(reply, b->nodes[i].threads);
    return MZ_HEARD_REPLY;
}

static enum mz_heard update_tree(struct mz_balance *b, struct mz_spot p, struct mz_message *m,
                                 struct mz_message *reply)
{
    struct mz_exploration *x = b->x;
    uint32_t core = mz_get(m), keep = mz_get(m), count = mz_get_count(m, MZ_WIRE);
    if (m->bad || !keep || keep > core || core > count || count > x->capacity) return MZ_HEARD_NONSENSE;
    uint32_t lanes = mz_get(m);
    if (lanes > MZ_MAX_THREADS) return MZ_HEARD_NONSENSE;
    if (lanes > x->lanes) x->lanes = lanes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *clock = x->sequence.clocks + (size_t)i * MZ_MAX_THREADS;
        x->sequence.elems[i] = mz_get_elem(x, m);
        x->sequence.numbers[i] = mz_get(m);
        memset(clock, 0, MZ_MAX_THREADS * sizeof *clock);
        if (x->sequence.numbers[i]) mz_get_bytes(m, clock, lanes * sizeof *clock);
    }
    if (m->bad) return MZ_HEARD_NONSENSE;
    mz_sequence_given(x, count, core, keep);
    uint32_t length = mz_tree_insert(b, p);
    mz_put(reply, b->nodes[p.node].name);
    mz_put(reply, length);
    for (uint32_t k = 0; k < length; k++) {
        const struct mz_branch *branch = mz_branch_at(b, b->path[k]);
        mz_put_elem(x, reply, branch->elem);
        mz_put(reply, branch->order);
    }
    return MZ_HEARD_REPLY;
}

static enum mz_heard hear_update(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                                 struct mz_message *reply)
{
    uint32_t depth = mz_get(m);
    struct mz_spot p = b->held[worker];
    while (p.node != MZ_NONE && b->nodes[p.node].depth != depth)
        p = (struct mz_spot){b->nodes[p.node].parent, b->nodes[p.node].branch};
    if (m->bad || p.node == MZ_NONE || depth == MZ_NONE) return MZ_HEARD_NONSENSE;
    mz_message_clear(reply);
    mz_put(reply, MZ_SHARE_REPLY);
    b->counts.updates++;
    return b->backtrack_sets ? update_backtrack(b, p.node, m, reply) : update_tree(b, p, m, reply);
}

/* The worker is on the whole of it now. */
static enum mz_heard hear_restart(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    begin(b);
    mz_balance_get_knowledge(b, m);
    b->held[worker] = (struct mz_spot){0, 0};
    mz_tree_state(b, b->held[worker], MZ_BRANCH_BUSY);
    b->nodes[0].branches[0].worker = worker;
    b->counts.restarts++;
    return MZ_HEARD_RESTART;
}

static enum mz_heard hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                          struct mz_message *reply)
{
    enum mz_share_kind kind = (enum mz_share_kind)mz_get(m);
    if (b->held[worker].node == MZ_NONE) return MZ_HEARD_NONSENSE;
    switch (kind) {
    case MZ_SHARE_SPLIT:
        return hear_split(b, worker, m);
    case MZ_SHARE_UPDATE:
        return hear_update(b, worker, m, reply);
    case MZ_SHARE_RESTART:
        return hear_restart(b, worker, m);
    case MZ_SHARE_DONE:
        add_tally(b, m);
        done(b, worker);
        return MZ_HEARD;
    default:
        return MZ_HEARD_NONSENSE;
    }
}

enum mz_heard mz_balance_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                              struct mz_message *reply)
{
    enum mz_heard heard = hear(b, worker, m, reply);
    if (m->bad) heard = MZ_HEARD_NONSENSE;
    if (!b->x->restart) return heard;
    b->x->restart = false;
    begin(b);
    b->counts.restarts++;
    return MZ_HEARD_VOID;
}

void mz_balance_lost(struct mz_balance *b, uint32_t worker)
{
    struct mz_spot p = b->held[worker];
    if (p.node == MZ_NONE) return;
    mz_tree_state(b, p, MZ_BRANCH_WAITING);
    b->held[worker].node = MZ_NONE;
    b->counts.lost++;
}

bool mz_balance_holds(const struct mz_balance *b, uint32_t worker) { return b->held[worker].node != MZ_NONE; }

bool mz_balance_complete(const struct mz_balance *b)
{
    return b->nodes[0].branches[0].state == MZ_BRANCH_DONE;
}

struct mz_balance_counts mz_balance_counts(const struct mz_balance *b) { return b->counts; }
