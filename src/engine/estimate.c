/* Progress of the search: estimates the size of its tree, in leaves (executions, also those that were blocked
 * or cut), from the path that is being explored. Nothing is computed until mz_explore_estimate() is called.
 *
 * Bottom up, the estimate for a node of the path is the sum of
 *
 *   explored branches    their leaves are counted: the leaves since the node was entered, less those of the
 *                        current branch
 *   the current branch   the estimate for the node below. If the size that was expected before the branch began is
 *                        larger, it counts too, the less the more of the branch is explored (current_size)
 *   branches known to    each as large as the current branch, times `later`. `later` says how much smaller than
 *   be left              the mean of the branches before them later branches were, in the whole search so far
 *
 * Branches that no race has asked for yet do not count: nothing tells how many there will be. `later` and the
 * expected size are additions to Knuth (1975) and to the recursive estimator of Kilby, Slaney, Thiebaux and
 * Walsh (2006). There are two reasons. How much sleep sets leave of a branch depends on the branches explored
 * before it. And threads that do the same work have branches of similar size, and tend to come one after the
 * other. docs/PAPERS.md has the measurements. */
#include "engine/frontier.h"
#include "engine/reduction.h"

#define LEAST_LATER 0.3
#define MOST_LATER  1.0
#define MOST        1e18
#define DOUBT       50 /* `later` stays near 1 until about this many leaves are seen */

static uint32_t explored(const struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    if (!x->options.sleep_sets) return (uint32_t)__builtin_popcountll(n->done);
    return n->sleep_count - n->inherited;
}

static uint32_t left(const struct mz_exploration *x, uint32_t k)
{
    if (x->reduction->uses_wakeup_trees) return mz_wakeup_branches(&x->trace, x->nodes[k].wakeup);
    return (uint32_t)(__builtin_popcountll(mz_choices_left(x, k)) +
                      __builtin_popcountll(mz_threads_left(x, k)));
}

/* The search has explored a branch of node k that is not the node's first: learn from its size. */
void mz_estimate_branch(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    uint64_t before = mz_tally_leaves(n->before), size = mz_leaves(&x->counters) - before;
    x->estimate.size += size;
    x->estimate.expected += (before - n->first) / (explored(x, k) - 1);
    n->last = size;
}

static double later(const struct mz_exploration *x)
{
    double ratio = ((double)x->estimate.size + DOUBT) / ((double)x->estimate.expected + DOUBT);
    return ratio < LEAST_LATER ? LEAST_LATER : ratio > MOST_LATER ? MOST_LATER : ratio;
}

/* The estimated size of the current branch, of which `seen` leaves have been explored. `guess`: the estimate before it
 * began. */
static double current_size(double size, double seen, double guess)
{
    return size < guess ? size + (guess - size) * guess / (guess + seen) : size;
}

/* The estimated number of leaves below node `top` of the path, explored ones included. At node `replay` a new
 * branch is about to begin. */
static double leaves_below(const struct mz_exploration *x, uint32_t top)
{
    uint64_t now = mz_leaves(&x->counters);
    double total = 1, ratio = later(x);
    for (uint32_t k = x->path.replay + 1; k-- > top;) {
        const struct mz_node *n = &x->nodes[k];
        uint32_t done = explored(x, k), todo = left(x, k);
        bool fresh = k == x->path.replay;
        uint64_t begun = fresh ? now : done ? mz_tally_leaves(n->before) : n->first;
        double before = (double)(begun - n->first), seen = (double)(now - begun);
        double guess = !done ? fresh : ratio * (n->last ? (double)n->last : before / done);
        double current = current_size(fresh ? 0 : seen < total ? total : seen, seen, guess);
        total = before + current + todo * ratio * current;
    }
    return total;
}

void mz_explore_estimate(struct mz_exploration *x)
{
    x->counters.work_done = x->counters.expected = 0;
    if (x->stateful || x->tours || x->path.live || x->path.replay < x->root) return;
    uint64_t now = mz_leaves(&x->counters);
    double total = leaves_below(x, x->root), done = (double)now;
    if (x->frontier->estimate) x->frontier->estimate(x, &total, &done);
    if (total < done) total = done;
    if (total > MOST) total = MOST;
    x->counters.work_done =
        total > done ? (uint64_t)(done / total * (double)MZ_ALL_WORK) : MZ_NEARLY_ALL_WORK;
    if (x->counters.work_done > MZ_NEARLY_ALL_WORK) x->counters.work_done = MZ_NEARLY_ALL_WORK;
    x->counters.expected = now + (uint64_t)(total - done);
}
