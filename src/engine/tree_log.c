/* Records a search as a tree: which execution branches off where, and which branches its races have asked
 * for. The format is that of src/event/tree_file.h; what it is good for is tools/simulate. Nothing of this is
 * reached unless options.tree_log is given; a shared search is not recorded.
 *
 *   optimal     What a race asks for is a leaf of the wakeup tree at a node, known by the `order` of its
 * wakeup node. since[k] is the execution that took the current branch of node k, and stamp[w] the same for
 * when leaf w was asked for last: it is written once for each branch of its node. backtrack   What a race
 * asks for is a thread at a node. asked[k] is what the events of the path have asked for there; the trail
 * says which event did, and is taken back with it. */
#include "reduction.h"
#include "../base/region.h"
#include "../event/tree_file.h"

#define BUFFER  ((size_t)1 << 20)
#define LONGEST 10 /* bytes of a number */

struct request {
    uint32_t node, target; /* order of the leaf, or thread */
};

struct trail {
    mz_number event; /* that asked */
    uint32_t node;
    uint8_t thread;
};

struct mz_tree_log {
    uint8_t *buffer;
    size_t count;
    bool first; /* nothing was written yet, or all of it is void */
    bool optimal;
    uint64_t sum;
    uint32_t number;       /* of the execution under way, from 1 */
    uint32_t leaf, length; /* optimal: that it was led to, in so many steps */
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
    size_t n = x->capacity + 1;
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
    l->newest = x->wakeup_order;
}

void mz_tree_log_init(struct mz_exploration *x)
{
    if (!x->options.tree_log) return;
    x->tree_log = mz_region_reserve(sizeof *x->tree_log);
    MZ_ASSERT(x->tree_log != NULL);
    x->tree_log->optimal = x->options.algorithm == MZ_ALG_OPTIMAL;
    x->tree_log->stamps = x->tree_log->optimal ? MZ_WAKEUP_NODES : 1;
    each_array(x, mz_array_reserve);
    begin(x);
}

void mz_tree_log_free(struct mz_exploration *x)
{
    if (!x->tree_log) return;
    each_array(x, mz_array_release);
    mz_region_free(x->tree_log, sizeof *x->tree_log);
}

/* ---- what is asked for ---- */

static void ask(struct mz_tree_log *l, uint32_t node, uint32_t target)
{
    l->requests[l->request_count++] = (struct request){node, target};
}

void mz_tree_log_leaf(struct mz_exploration *x, uint32_t k, uint32_t leaf)
{
    struct mz_tree_log *l = x->tree_log;
    uint32_t since = k < x->path.replay ? l->since[k] : l->number;
    if (l->stamp[leaf] == since) return;
    l->stamp[leaf] = since;
    ask(l, k, x->wakeup[leaf].order);
}

/* The branch is new: whoever had this wakeup node before. */
void mz_tree_log_new_leaf(struct mz_exploration *x, uint32_t leaf)
{
    if (x->tree_log->optimal) x->tree_log->stamp[leaf] = 0;
}

void mz_tree_log_thread(struct mz_exploration *x, uint32_t k, int thread)
{
    struct mz_tree_log *l = x->tree_log;
    if (l->asked[k] & mz_bit(thread)) return;
    l->asked[k] |= mz_bit(thread);
    l->trail[l->trail_count++] = (struct trail){x->path.depth, k, (uint8_t)thread};
    ask(l, k, (uint32_t)thread);
}

/* Optimal: another step of the way to the leaf of the new branch. */
void mz_tree_log_follow(struct mz_exploration *x, uint32_t order)
{
    x->tree_log->leaf = order;
    x->tree_log->length++;
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
    put(x, l->optimal ? l->length : x->nodes[x->path.replay].step.thread);
    if (l->optimal) put(x, x->wakeup_order - l->leaf);
}

/* The execution has ended, its races have been looked at; the search has not gone back yet. */
void mz_tree_log_execution(struct mz_exploration *x)
{
    struct mz_tree_log *l = x->tree_log;
    uint32_t depth = x->path.depth, from = l->number > 1 ? x->path.replay : 0;
    put(x, (uint64_t)(depth - from) * 4 + ending_of(x));
    put(x, from);
    if (l->optimal) put(x, x->wakeup_order - l->newest);
    put_branch(x);
    put(x, l->request_count);
    for (uint32_t i = 0; i < l->request_count; i++) {
        put(x, depth - l->requests[i].node);
        put(x, l->optimal ? x->wakeup_order - l->requests[i].target : l->requests[i].target);
    }
    for (uint32_t k = from; k < depth; k++) l->since[k] = l->number;
    l->request_count = 0;
    l->leaf = l->length = 0;
    l->newest = x->wakeup_order;
    l->number++;
}

/* The search goes back to node k: what was asked for by event k + 1 and those after it will be asked again.
 */
void mz_tree_log_rewind(struct mz_exploration *x, uint32_t k)
{
    struct mz_tree_log *l = x->tree_log;
    while (l->trail_count && l->trail[l->trail_count - 1].event > k) {
        struct trail t = l->trail[--l->trail_count];
        l->asked[t.node] &= ~mz_bit(t.thread);
    }
}

void mz_tree_log_restart(struct mz_exploration *x) { begin(x); }

void mz_tree_log_end(struct mz_exploration *x)
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
