/* The balancer: see balance.h; balance_internal.h for its tree; hand_out.c for what is handed out;
 * src/engine/worker_part.c for the side of a worker.
 *
 * Why the search is complete, and explores nothing twice (`optimal`).
 *
 * The balancer's tree is a wakeup tree (2017, section 6) whose branches stay when they have been taken. The
 * order of the branches is the order in which one worker alone would explore them; below a branch all
 * branches before it are asleep. The balancer hands out leaves. At a leaf of a wakeup tree nothing is asleep.
 * So the part of the search below a leaf is complete in itself, whatever happens elsewhere. The same holds
 * when its worker gives up nodes of the part: it gives up the nodes down to the leaf of its own wakeup tree
 * that it is exploring. (Below a branch that is not a leaf, some steps are asleep, and executions are left
 * out. Races below the branches of the sleeping steps would have to ask for these executions at this node. But
 * those branches may be explored by then, or belong to another worker.) The same holds for each leaf of a batch:
 * the nodes above the leaves stay here, and the worker goes from one leaf to the next without a message.
 *
 * A race asks for a sequence v at a node, below one of its branches, b. If a step that is asleep there, or a
 * branch before b, can come first in v, then that step or branch covers v, as in a search by one worker.
 * Otherwise v belongs behind b, and is inserted there as in such a search: down the first branch that can come
 * first in v, and so on. If this ends at a leaf, the leaf covers v, whether it is explored or not; else v becomes a
 * new branch, behind the others. Nothing is ever inserted below a leaf, so it makes no difference whether a
 * leaf is explored before or after the insertion. In the end, the tree is one that a single worker could have
 * had: each race of each execution is answered by something that comes before it, or by a leaf behind it. A
 * worker can go on without the answer: at worst it asks the same again. Its question arrives before its DONE,
 * as messages stay in order.
 *
 * When a worker gives up a node, it keeps the branch that it is exploring. The branches before it are explored. A
 * race below a branch behind it inserts nothing into it: if it can come first in v, it covers v. So no other
 * worker has to insert anything into it.
 *
 * With backtrack sets (source, dpor, and trivially none) branches are steps of threads. That a node's set is
 * a source set (2017, Theorem 5.2) takes three things, and none of them says when a branch was explored:
 *
 *   1. the branches have an order p1, p2, ..., and below pk all branches before it are asleep;
 *   2. below each branch everything is explored, except what starts like something asleep;
 *   3. for each v that a race below a branch asks for at the node, one of the initials of v is a branch, or is asleep
 *      there (then what it asks for has been explored, or will be, from a node above).
 *
 * The first holds by B1 and B4: before a thread is put to sleep, or a branch behind it is handed out, its
 * step is known, with its object and the other choices; the choices then stand where the thread stood. (When
 * choices were added later, behind branches that had been handed out meanwhile, some executions were explored
 * twice and some not at all: tests/random/corpus/shared-*.) The second holds by induction, also for parts
 * that are given up, as a node that is given up becomes the balancer's with all its branches. The third holds
 * because only the balancer keeps the set: a worker believes only what the balancer has told it. So with
 * sleep sets there are as many complete executions as with one worker; which ones are blocked depends on
 * which initial was asked for first. Without sleep sets (2005) the sets are persistent for the same reason,
 * but may be other sets, so the number of executions may differ.
 *
 * If objects of different workers turn out to overlap, everything is void, as in a search by one worker
 * (src/trace/object.c). */
#include "dist/balance/balance_internal.h"

#include <stdlib.h>
#include <string.h>

#define TELLING 16

/* ---- beginning ---- */

static void begin(struct mz_balance *b)
{
    mz_tree_begin(b);
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++)
        b->held[w] = (struct mz_held){.parts = b->held[w].parts, .room = b->held[w].room};
    b->counts.executions = b->counts.blocked = b->counts.cut = b->counts.transitions = 0;
}

struct mz_balance *mz_balance_new(enum mz_algorithm algorithm, bool sleep_sets, uint64_t max_steps)
{
    struct mz_balance *b = mz_grow(NULL, sizeof *b);
    memset(b, 0, sizeof *b);
    mz_trace_init(&b->trace, max_steps, true);
    b->path = mz_grow(NULL, ((size_t)b->trace.capacity + 1) * sizeof *b->path);
    b->walk = mz_grow(NULL, ((size_t)b->trace.capacity + 1) * sizeof *b->walk);
    b->lists = mz_grow(NULL, ((size_t)b->trace.capacity + 1) * sizeof *b->lists);
    memset(b->lists, 0, ((size_t)b->trace.capacity + 1) * sizeof *b->lists);
    b->held = mz_grow(NULL, MZ_MAX_WORKERS * sizeof *b->held);
    memset(b->held, 0, MZ_MAX_WORKERS * sizeof *b->held);
    b->backtrack_sets = mz_algorithm_keeps(algorithm) != MZ_KEEPS_WAKEUP;
    b->sleep_sets = sleep_sets;
    b->whole = mz_algorithm_is_stateful(algorithm);
    b->workers = 1;
    b->telling = TELLING;
    b->first_free = MZ_NONE;
    begin(b);
    return b;
}

void mz_balance_expect(struct mz_balance *b, uint32_t workers) { b->workers = workers; }

void mz_balance_tell(struct mz_balance *b, uint32_t branches) { b->telling = branches; }

void mz_balance_reuse(struct mz_balance *b)
{
    begin(b);
    mz_trace_reuse(&b->trace);
    b->known = b->done = false;
    b->counts = (struct mz_balance_counts){0};
    mz_samples_reuse(b);
}

void mz_balance_free(struct mz_balance *b)
{
    if (!b) return;
    mz_samples_free(b);
    mz_tree_clear(b);
    mz_trace_release(&b->trace, true);
    free(b->nodes);
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++) free(b->held[w].parts);
    free(b->held);
    free(b->lists);
    free(b->path);
    free(b->asleep);
    free(b->walk);
    free(b->knowledge);
    free(b);
}

/* ---- what is known ---- */

void mz_balance_put_knowledge(struct mz_balance *b, struct mz_message *m)
{
    mz_put(m, b->known);
    if (!b->known) return;
    mz_put_objects(&b->trace, m);
    mz_put(m, (uint32_t)b->knowledge_size);
    mz_put_bytes(m, b->knowledge, b->knowledge_size);
}

void mz_balance_get_knowledge(struct mz_balance *b, struct mz_message *m)
{
    if (!mz_get(m)) return;
    mz_get_objects(&b->trace, m);
    size_t size = mz_get_count(m, 1);
    b->knowledge = mz_grow(b->knowledge, size + 1);
    b->knowledge_size = size;
    mz_get_bytes(m, b->knowledge, size);
    b->known = true;
}

/* ---- hearing ---- */

/* Add the counts that the message tells. Return the number of executions, also those blocked or cut. */
static uint64_t add_tally(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_tally t = mz_get_tally(m);
    uint64_t leaves = t.executions + t.blocked + t.cut;
    b->counts.executions += t.executions;
    b->counts.blocked += t.blocked;
    b->counts.cut += t.cut;
    b->counts.transitions += t.transitions;
    b->held[worker].executions += t.executions;
    b->held[worker].leaves += leaves;
    return leaves;
}

static void add_leaves(struct mz_balance *b, struct mz_spot p, uint64_t leaves)
{
    for (; p.node != MZ_NONE; p = (struct mz_spot){b->nodes[p.node].parent, b->nodes[p.node].branch})
        mz_branch_at(b, p)->leaves += leaves;
}

/* Divide the leaves evenly among the parts that are not DONE yet, up to this one: the message does not say
 * below which part they were. */
static void share_leaves(struct mz_balance *b, uint32_t worker, uint32_t part, uint64_t leaves)
{
    struct mz_held *h = &b->held[worker];
    for (uint32_t i = h->done; i <= part && i < h->count; i++) {
        uint64_t own = leaves / (part - i + 1);
        add_leaves(b, h->parts[i], own);
        leaves -= own;
    }
}

/* Mark all parts before this one as DONE: they have been explored, and counted. */
static void done_before(struct mz_balance *b, uint32_t worker, uint32_t part)
{
    struct mz_held *h = &b->held[worker];
    if (h->done >= part) return;
    while (h->done < part) mz_tree_state(b, h->parts[h->done++], MZ_BRANCH_DONE);
    mz_tree_prune(b);
}

/* Read which part the message is about. */
static bool get_part(const struct mz_balance *b, uint32_t worker, struct mz_message *m, uint32_t *part)
{
    *part = mz_get(m);
    if (*part >= b->held[worker].count || *part < b->held[worker].done) m->bad = true;
    return !m->bad;
}

static enum mz_heard hear_done(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    uint64_t leaves = add_tally(b, worker, m);
    uint32_t count = b->held[worker].count;
    if (count) share_leaves(b, worker, count - 1, leaves);
    done_before(b, worker, count);
    b->held[worker].count = 0;
    return MZ_HEARD;
}

static enum mz_heard hear_return(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_held *h = &b->held[worker];
    uint32_t part;
    uint64_t leaves = add_tally(b, worker, m);
    if (!get_part(b, worker, m, &part)) return MZ_HEARD_NONSENSE;
    share_leaves(b, worker, part, leaves);
    done_before(b, worker, part);
    while (h->count > part + 1) mz_tree_state(b, h->parts[--h->count], MZ_BRANCH_WAITING);
    b->counts.returns++;
    return MZ_HEARD;
}

/* Read the branches that are left. With backtrack sets also read the threads that need not be asked for
 * again. */
static void get_left(struct mz_balance *b, uint32_t node, struct mz_message *m)
{
    uint32_t list;
    mz_get_tree(&b->trace, m, &list);
    mz_tree_add(b, node, &list);
    if (b->backtrack_sets) b->nodes[node].threads |= mz_get_long(m);
}

/* The branch becomes a node. Return the child branch that the worker is exploring. */
static struct mz_spot open_branch(struct mz_balance *b, struct mz_spot p, struct mz_message *m)
{
    uint32_t worker = mz_branch_at(b, p)->worker, i = mz_tree_node(b, p);
    uint64_t leaves = mz_branch_at(b, p)->leaves, explored = mz_get_long(m);
    if (explored > leaves) explored = leaves;
    leaves -= explored;
    mz_tree_state(b, p, MZ_BRANCH_OPEN);
    for (uint32_t n = mz_get_count(m, MZ_WIRE); n > 0; n--) {
        p = (struct mz_spot){i, mz_tree_branch(b, i, mz_get_elem(&b->trace, m), MZ_BRANCH_DONE)};
        mz_branch_at(b, p)->leaves = explored / n;
        explored -= explored / n;
    }
    p = (struct mz_spot){i, mz_tree_branch(b, i, mz_get_elem(&b->trace, m), MZ_BRANCH_BUSY)};
    mz_branch_at(b, p)->worker = worker;
    mz_branch_at(b, p)->leaves = leaves;
    get_left(b, i, m);
    return p;
}

static enum mz_heard hear_split(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    uint32_t part;
    mz_balance_get_knowledge(b, m);
    uint64_t leaves = add_tally(b, worker, m);
    if (!get_part(b, worker, m, &part)) return MZ_HEARD_NONSENSE;
    share_leaves(b, worker, part, leaves);
    done_before(b, worker, part);
    struct mz_spot p = b->held[worker].parts[part];
    uint32_t first = mz_get(m), nodes = mz_get_count(m, MZ_WIRE);
    if (m->bad || !nodes || first != b->nodes[p.node].depth + 1) return MZ_HEARD_NONSENSE;
    if (first + nodes + 2 >= b->trace.capacity || mz_branch_at(b, p)->node != MZ_NONE)
        return MZ_HEARD_NONSENSE;
    while (nodes-- > 0 && !m->bad) p = open_branch(b, p, m);
    b->held[worker].parts[part] = p;
    b->counts.splits++;
    return MZ_HEARD;
}

/* Read the step of a branch that was handed out as a thread, and the other choices of the step (B4). */
static enum mz_heard hear_resolve(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    struct mz_spot p = b->held[worker].parts[b->held[worker].count - 1];
    struct mz_elem e = mz_get_elem(&b->trace, m);
    uint64_t choices = mz_get_long(m);
    if (m->bad || mz_branch_at(b, p)->elem.choice != MZ_ANY || e.choice == MZ_ANY) return MZ_HEARD_NONSENSE;
    mz_branch_at(b, p)->elem = e;
    while (choices) { /* from the last to the first */
        e.choice = (uint8_t)(63 - __builtin_clzll(choices));
        choices &= ~mz_bit(e.choice);
        mz_tree_branch_behind(b, p, e);
    }
    return MZ_HEARD;
}

static enum mz_heard update_backtrack(struct mz_balance *b, uint32_t i, struct mz_message *m,
                                      struct mz_message *reply)
{
    uint64_t wanted = mz_get_long(m), add = mz_get_long(m);
    if (m->bad || (!wanted && !add)) return MZ_HEARD_NONSENSE;
    if (wanted & b->nodes[i].threads) add = 0;
    for (add &= ~b->nodes[i].threads; add; add &= add - 1) {
        struct mz_elem e = {.thread = (uint8_t)__builtin_ctzll(add), .choice = MZ_ANY};
        b->nodes[i].threads |= mz_bit(e.thread);
        if (mz_tree_asleep(b, i, e.thread)) continue;
        mz_tree_branch(b, i, e, MZ_BRANCH_WAITING);
        b->counts.inserted++;
    }
    mz_put_long(reply, b->nodes[i].threads);
    return MZ_HEARD_REPLY;
}

static enum mz_heard update_tree(struct mz_balance *b, struct mz_spot p, struct mz_message *m,
                                 struct mz_message *reply)
{
    if (!mz_get_sequence(&b->trace, m)) return MZ_HEARD_NONSENSE;
    mz_balance_put_answer(b, reply, mz_tree_insert(b, p));
    return MZ_HEARD_REPLY;
}

static enum mz_heard hear_update(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                                 struct mz_message *reply)
{
    uint32_t part;
    if (!get_part(b, worker, m, &part)) return MZ_HEARD_NONSENSE;
    uint32_t depth = mz_get(m), stamp = mz_get(m);
    struct mz_spot p = b->held[worker].parts[part];
    while (p.node != MZ_NONE && b->nodes[p.node].depth != depth)
        p = (struct mz_spot){b->nodes[p.node].parent, b->nodes[p.node].branch};
    if (m->bad || p.node == MZ_NONE || depth == MZ_NONE) return MZ_HEARD_NONSENSE;
    mz_message_clear(reply);
    mz_put(reply, MZ_SHARE_REPLY);
    mz_put(reply, depth);
    mz_put(reply, stamp);
    b->counts.updates++;
    return b->backtrack_sets ? update_backtrack(b, p.node, m, reply) : update_tree(b, p, m, reply);
}

/* The search starts over, and the whole search belongs to this worker now. */
static enum mz_heard hear_restart(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    begin(b);
    mz_object_forget_awaited(&b->trace); /* the numbers of this worker count */
    mz_balance_get_knowledge(b, m);
    mz_balance_hold(b, worker, (struct mz_spot){0, 0});
    b->counts.restarts++;
    return MZ_HEARD_RESTART;
}

static enum mz_heard hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                          struct mz_message *reply)
{
    enum mz_share_kind kind = (enum mz_share_kind)mz_get(m);
    if (!b->held[worker].count) return MZ_HEARD_NONSENSE;
    switch (kind) {
    case MZ_SHARE_RETURN:
        return hear_return(b, worker, m);
    case MZ_SHARE_RESOLVE:
        return hear_resolve(b, worker, m);
    case MZ_SHARE_SPLIT:
        return hear_split(b, worker, m);
    case MZ_SHARE_UPDATE:
        return hear_update(b, worker, m, reply);
    case MZ_SHARE_RESTART:
        return hear_restart(b, worker, m);
    case MZ_SHARE_DONE:
        return hear_done(b, worker, m);
    default:
        return MZ_HEARD_NONSENSE;
    }
}

enum mz_heard mz_balance_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m,
                              struct mz_message *reply)
{
    if (b->samples) return mz_samples_hear(b, worker, m);
    enum mz_heard heard = b->whole ? mz_whole_hear(b, worker, m) : hear(b, worker, m, reply);
    if (m->bad) heard = MZ_HEARD_NONSENSE;
    if (!b->trace.outdated) return heard;
    b->trace.outdated = false;
    begin(b);
    b->counts.restarts++;
    return MZ_HEARD_VOID;
}

void mz_balance_lost(struct mz_balance *b, uint32_t worker)
{
    struct mz_held *h = &b->held[worker];
    if (b->samples) mz_samples_lost(b, worker);
    if (b->whole) mz_whole_lost(b, worker);
    if (!h->count) return;
    while (h->count > h->done) mz_tree_state(b, h->parts[--h->count], MZ_BRANCH_WAITING);
    h->count = 0;
    b->counts.lost++;
}

bool mz_balance_holds(const struct mz_balance *b, uint32_t worker)
{
    return b->samples ? mz_samples_holds(b, worker) : b->held[worker].count > 0;
}

/* Of a sample, no walk is drawn again. */
uint64_t mz_balance_told(const struct mz_balance *b, uint32_t worker)
{
    return b->samples ? UINT64_MAX : b->held[worker].executions;
}

uint64_t mz_balance_memory(const struct mz_balance *b) { return b->bytes + b->capacity * sizeof *b->nodes; }

bool mz_balance_complete(const struct mz_balance *b)
{
    return b->whole ? b->done : b->nodes[0].branches[0].state == MZ_BRANCH_DONE;
}

struct mz_balance_counts mz_balance_counts(const struct mz_balance *b) { return b->counts; }
