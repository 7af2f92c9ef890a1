/* Counts the sizes of backtrack sets and wakeup trees: --count-sets. The search itself is that of mz_frontier_own;
 * this file is used only if options.count_sets is given, so other searches pay nothing. A shared search, and one with
 * states, is not counted.
 *
 * Each node that the search explores from has one set, and a set counts with its largest size:
 *
 *   backtrack set  its threads (2017, backtrack(E)). It only grows, so its size is taken when the search leaves the node.
 *   wakeup tree    the sequences of wut(E) (2017, Algorithm 2): the empty one, the current branch with the subtree that it
 *                  had when the search took it, and the branches after it. A node that was entered with an empty tree has
 *                  2 (line 13).
 *
 * For a tree that is 1 + current + what the list of the node holds. mz_wakeup_insert() makes the list larger by the growth of
 * wakeup.live, and taking a branch changes nothing but the explored branch, which goes (line 21). */
#include "engine/reduction.h"
#include "base/region.h"

struct mz_set_counts {
    struct tree { /* one for each node of the path */
        uint32_t size, largest;
        uint32_t current; /* sequences of the branch under exploration; 0: none was taken yet */
    } * trees;
    uint32_t *stack; /* scratch: the way down to a node of a wakeup tree */
};

static void each_array(struct mz_exploration *x, void (*f)(void **array, size_t bytes))
{
    f((void **)&x->set_counts->trees, (x->trace.capacity + 1) * sizeof *x->set_counts->trees);
    f((void **)&x->set_counts->stack, (x->trace.capacity + 1) * sizeof *x->set_counts->stack);
}

static void init(struct mz_exploration *x)
{
    x->set_counts = mz_region_reserve(sizeof *x->set_counts);
    MZ_ASSERT(x->set_counts != NULL);
    each_array(x, mz_array_reserve);
}

static void release(struct mz_exploration *x)
{
    each_array(x, mz_array_release);
    mz_region_free(x->set_counts, sizeof *x->set_counts);
}

static void count(struct mz_exploration *x, uint64_t more, uint64_t size)
{
    x->counters.set_sizes += more;
    if (size > x->counters.largest_set) x->counters.largest_set = size;
}

/* ---- wakeup trees ---- */

/* The nodes of a list with all that is below them. No recursion: a branch can be as long as an execution. */
static uint32_t size_of_list(const struct mz_exploration *x, uint32_t list)
{
    const struct mz_wakeup_node *nodes = x->trace.wakeup.nodes;
    uint32_t size = 0, depth = 0, *stack = x->set_counts->stack;
    for (uint32_t w = list; w || depth;) {
        if (!w) {
            w = nodes[stack[--depth]].next;
            continue;
        }
        size++;
        stack[depth++] = w;
        w = nodes[w].child;
    }
    return size;
}

static void grow(struct mz_exploration *x, uint32_t k, uint32_t more)
{
    struct tree *s = &x->set_counts->trees[k];
    s->size += more;
    if (s->size <= s->largest) return;
    count(x, s->size - s->largest, s->size);
    s->largest = s->size;
}

/* Lines 10 and 13 */
static void enter(struct mz_exploration *x, uint32_t k)
{
    uint32_t tree = x->nodes[k].wakeup;
    if (!x->reduction->uses_wakeup_trees || !x->nodes[k].enabled) return;
    x->set_counts->trees[k] = (struct tree){.current = tree ? 0 : 1};
    x->counters.sets++;
    grow(x, k, 1 + (tree ? size_of_list(x, tree) : 1));
}

static enum mz_cover want_sequence(struct mz_exploration *x, uint32_t k)
{
    uint32_t before = x->trace.wakeup.live;
    enum mz_cover cover = mz_wakeup_insert(&x->trace, &x->nodes[k].wakeup, &x->trace.sequence);
    grow(x, k, x->trace.wakeup.live - before);
    return cover;
}

static bool take_branch(struct mz_exploration *x, uint32_t k)
{
    struct tree *s = &x->set_counts->trees[k];
    if (!mz_take_own_branch(x, k)) return false;
    s->size -= s->current;
    s->current = 1 + size_of_list(x, x->nodes[k + 1].wakeup);
    return true;
}

/* ---- backtrack sets ---- */

static void leave(struct mz_exploration *x, uint32_t first)
{
    if (!x->reduction->uses_backtrack_sets) return;
    for (uint32_t k = first; k <= x->path.depth; k++) {
        unsigned size = (unsigned)__builtin_popcountll(x->nodes[k].backtrack);
        x->counters.sets += size > 0;
        count(x, size, size);
    }
}

static void rewound(struct mz_exploration *x, uint32_t k) { leave(x, k + 1); }
static void finished(struct mz_exploration *x) { leave(x, 0); }

static void cleared(struct mz_exploration *x)
{
    x->counters.sets = x->counters.set_sizes = x->counters.largest_set = 0;
}

const struct mz_frontier mz_frontier_counted = {
    .init = init,
    .release = release,
    .want_sequence = want_sequence,
    .take_branch = take_branch,
    .enter = enter,
    .rewound = rewound,
    .finished = finished,
    .cleared = cleared,
};
