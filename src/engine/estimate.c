/* How much of the search is done: an estimate of the size of its tree, in leaves (executions, also those that
 * were blocked or cut), from the path that is being explored. Nothing is computed until somebody asks.
 *
 * Bottom up, a node of the path has
 *
 *   branches that are explored     their leaves are counted: those since the node was entered, less the
 *                                  current branch's
 *   branches that are known to     each as large as the last one, times `later`: how much smaller than the mean
 *   be left                        of those before them branches turned out to be, in the whole search so far
 *   the current branch             the estimate for the node below; while little of it is explored, more of
 *                                  what it was taken for when it was left, if that is more
 *
 * Branches that are not known yet do not count: how many there will be cannot be told. All else is more than
 * Knuth (1975) and the recursive estimator of Kilby, Slaney, Thiebaux and Walsh (2006) have: what sleep sets
 * leave of a branch depends on those explored before it, and threads that do the same, whose branches are of
 * like size, tend to come one after the other. docs/PAPERS.md has what was measured. */
#include "engine/frontier.h"
#include "engine/reduction.h"

#define LEAST_LATER 0.3
#define MOST_LATER  1.0
#define MOST        1e18
#define DOUBT       50 /* leaves to see before `later` is believed */

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

/* A branch of node k has been explored, and is not its first. */
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

/* Leaves below node `top`, which is on the path, and of these the explored ones. At node `replay` a new
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
    if (x->stateful || x->path.live || x->path.replay < x->root) return;
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
