/* Records a search as a tree: where each execution branches off, and which branches its races have asked for.
 * The format is that of src/event/tree_file.h; tools/simulate reads it. This is a frontier (frontier.h), used
 * only if options.tree_log is given. A shared search is not recorded.
 *
 *   optimal     A race asks for a leaf of the wakeup tree at a node. The `order` of its wakeup node identifies the
 *               leaf. since[k] is the execution that took the current branch of node k; stamp[w] is the value of
 *               since[k] when leaf w was asked for last. So a leaf is written once for each branch of its node.
 *   backtrack   A race asks for a thread at a node. asked[k] is the set of threads that the events of the path have
 *               asked for there. The trail says which event asked. When the search goes back over that event, the
 *               request is taken back. */
#include "engine/frontier.h"
#include "engine/reduction.h"
#include "base/region.h"
#include "event/tree_file.h"

#define BUFFER  ((size_t)1 << 20)
#define LONGEST 10 /* bytes of a number */

struct request {
    uint32_t node, target; /* order of the leaf, or thread */
};

struct trail {
    mz_number event; /* the event that asked */
    uint32_t node;
    uint8_t thread;
};

struct mz_tree_log {
    uint8_t *buffer;
    size_t count;
    bool first; /* nothing was written yet, or everything that was written is void */
    bool trees; /* the reduction uses wakeup trees */
    uint64_t sum;
    uint32_t number;       /* of the execution under way, from 1 */
    uint32_t leaf, length; /* optimal: the leaf that the execution was led to; the number of steps to it */
    uint32_t newest;       /* order of the newest wakeup node when the execution before ended */
    uint32_t *since, *stamp;
    uint64_t *asked;
    struct trail *trail;
    struct request *requests;
    uint32_t trail_count, request_count;
    size_t stamps;
};

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    struct mz_tree_log *l = x->tree_log;
    size_t n = x->trace.capacity + 1;
    f((void **)&l->buffer, BUFFER);
    f((void **)&l->since, n * sizeof *l->since);
    f((void **)&l->stamp, l->stamps * sizeof *l->stamp);
    f((void **)&l->asked, n * sizeof *l->asked);
    f((void **)&l->trail, n * MZ_MAX_THREADS * sizeof *l->trail);
    f((void **)&l->requests, n * MZ_MAX_THREADS * sizeof *l->requests);
}

/* ---- bytes ---- */

static void flush(struct mz_exploration *x)
{
    struct mz_tree_log *l = x->tree_log;
    l->sum = mz_tree_sum(l->sum, l->buffer, l->count);
    x->options.tree_log->write(x->options.system, l->buffer, l->count, l->first);
    l->count = 0;
    l->first = false;
}

static void put(struct mz_exploration *x, uint64_t value)
{
    struct mz_tree_log *l = x->tree_log;
    if (l->count + LONGEST > BUFFER) flush(x);
    for (; value >= 128; value >>= 7) l->buffer[l->count++] = (uint8_t)(value | 128);
    l->buffer[l->count++] = (uint8_t)value;
}

static void begin(struct mz_exploration *x)
{
    struct mz_tree_log *l = x->tree_log;
    l->first = true;
    l->sum = MZ_TREE_SUM;
    l->count = 0;
    for (const char *c = MZ_TREE_MAGIC; *c; c++) l->buffer[l->count++] = (uint8_t)*c;
    l->buffer[l->count++] = MZ_TREE_VERSION;
    l->buffer[l->count++] = (uint8_t)x->options.algorithm;
    l->buffer[l->count++] = x->options.sleep_sets;
    l->buffer[l->count++] = x->options.eager;
    for (uint32_t i = 0; i < l->trail_count; i++) l->asked[l->trail[i].node] = 0;
    l->trail_count = l->request_count = 0;
    l->number = 1;
    l->leaf = l->length = 0;
    l->newest = x->trace.wakeup.order;
}

static void init(struct mz_exploration *x)
{
    x->tree_log = mz_region_reserve(sizeof *x->tree_log);
    MZ_ASSERT(x->tree_log != NULL);
    x->tree_log->trees = x->reduction->uses_wakeup_trees;
    x->tree_log->stamps = x->tree_log->trees ? MZ_WAKEUP_NODES : 1;
    each_array(x, mz_array_reserve);
    begin(x);
}

static void release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_region_free(x->tree_log, sizeof *x->tree_log);
}

/* ---- what is asked for ---- */

static void ask(struct mz_tree_log *l, uint32_t node, uint32_t target)
{
    l->requests[l->request_count++] = (struct request){node, target};
}

static void ask_leaf(struct mz_exploration *x, uint32_t k, uint32_t leaf, bool is_new)
{
    struct mz_tree_log *l = x->tree_log;
    uint32_t since = k < x->path.replay ? l->since[k] : l->number;
    if (!is_new && l->stamp[leaf] == since)
        return; /* a new leaf has the stamp of the freed wakeup node that it reuses */
    l->stamp[leaf] = since;
    ask(l, k, x->trace.wakeup.nodes[leaf].order);
}

static void ask_thread(struct mz_exploration *x, uint32_t k, int thread)
{
    struct mz_tree_log *l = x->tree_log;
    if (l->asked[k] & mz_bit(thread)) return;
    l->asked[k] |= mz_bit(thread);
    l->trail[l->trail_count++] = (struct trail){x->path.depth, k, (uint8_t)thread};
    ask(l, k, (uint32_t)thread);
}

/* Ask for the first thread of `wanted` in the backtrack set; if `wanted` is 0, for all enabled threads of the
 * set. */
static void want(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add)
{
    if (!(wanted & x->nodes[k].backtrack)) x->nodes[k].backtrack |= add;
    uint64_t found = x->nodes[k].backtrack & (wanted ? wanted : x->nodes[k].enabled);
    if (wanted) found &= -found;
    for (; found; found &= found - 1) ask_thread(x, k, __builtin_ctzll(found));
}

static enum mz_cover want_sequence(struct mz_exploration *x, uint32_t k)
{
    enum mz_cover cover = mz_wakeup_insert(&x->trace, &x->nodes[k].wakeup, &x->trace.sequence);
    ask_leaf(x, k, x->trace.sequence.leaf, x->trace.sequence.leaf_is_new);
    return cover;
}

/* Take another step towards the leaf of the new branch. */
static bool take_branch(struct mz_exploration *x, uint32_t k)
{
    if (!x->nodes[k].wakeup) return false;
    x->tree_log->leaf = x->trace.wakeup.nodes[x->nodes[k].wakeup].order;
    x->tree_log->length++;
    return mz_take_own_branch(x, k);
}

/* ---- executions ---- */

static enum mz_tree_ending ending_of(const struct mz_exploration *x)
{
    if (x->ending == MZ_ENDING_ASLEEP) return MZ_TREE_BLOCKED;
    return x->cut ? MZ_TREE_CUT : MZ_TREE_COMPLETE;
}

static void put_branch(struct mz_exploration *x)
{
    const struct mz_tree_log *l = x->tree_log;
    if (l->number == 1) return;
    put(x, l->trees ? l->length : x->nodes[x->path.replay].step.thread);
    if (l->trees) put(x, x->trace.wakeup.order - l->leaf);
}

/* The execution has ended, its races have been looked at; the search has not gone back yet. */
static void executed(struct mz_exploration *x)
{
    struct mz_tree_log *l = x->tree_log;
    uint32_t depth = x->path.depth, from = l->number > 1 ? x->path.replay : 0;
    put(x, (uint64_t)(depth - from) * 4 + ending_of(x));
    put(x, from);
    if (l->trees) put(x, x->trace.wakeup.order - l->newest);
    put_branch(x);
    put(x, l->request_count);
    for (uint32_t i = 0; i < l->request_count; i++) {
        put(x, depth - l->requests[i].node);
        put(x, l->trees ? x->trace.wakeup.order - l->requests[i].target : l->requests[i].target);
    }
    for (uint32_t k = from; k < depth; k++) l->since[k] = l->number;
    l->request_count = 0;
    l->leaf = l->length = 0;
    l->newest = x->trace.wakeup.order;
    l->number++;
}

/* The search goes back to node k. Take back the requests of event k + 1 and of those after it: the events of
 * the next execution ask again. */
static void rewound(struct mz_exploration *x, uint32_t k)
{
    struct mz_tree_log *l = x->tree_log;
    while (l->trail_count && l->trail[l->trail_count - 1].event > k) {
        struct trail t = l->trail[--l->trail_count];
        l->asked[t.node] &= ~mz_bit(t.thread);
    }
}

static void finished(struct mz_exploration *x)
{
    struct mz_tree_log *l = x->tree_log;
    const struct mz_counters *c = &x->counters;
    put(x, MZ_TREE_END);
    put(x, c->executions);
    put(x, c->blocked);
    put(x, c->cut);
    put(x, c->transitions);
    flush(x);
    __builtin_memcpy(l->buffer, &l->sum, sizeof l->sum);
    x->options.tree_log->write(x->options.system, l->buffer, sizeof l->sum, false);
}

const struct mz_frontier mz_frontier_recorded = {
    .needs_leaves = true,
    .init = init,
    .release = release,
    .want = want,
    .want_sequence = want_sequence,
    .take_branch = take_branch,
    .executed = executed,
    .rewound = rewound,
    .finished = finished,
    .cleared = begin,
};
