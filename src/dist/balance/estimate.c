/* Progress of a shared search. Bottom up, the estimate for a node of the balancer's tree is the sum over its
 * branches of
 *
 *   a branch of known size     DONE: its leaves are counted; OPEN: the estimate for its node; BUSY: the estimate of
 *                              its worker (src/engine/estimate.c)
 *   a branch of unknown size   the size of the last branch of known size before it; if there is none, the mean of the
 *                              branches of known size
 *
 * The estimate for a branch that is not DONE is also moved towards the size of the last branch of known size
 * before it, by much while little of the branch is explored, by less later. The reason is that wakeup trees which no
 * worker has begun may have many leaves, most of which turn out to be small. */
#include "dist/balance/balance_internal.h"

#include <stdlib.h>
#include <string.h>

/* Sort the nodes in use, the deepest first; return their number. This is a counting sort, as the tree may be
 * large. The node above the root has the depth MZ_NONE, which is -1. */
static uint32_t sort_nodes(const struct mz_balance *b, uint32_t *order)
{
    uint32_t most = 0, used = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->nodes[i].used && b->nodes[i].depth + 1 > most) most = b->nodes[i].depth + 1;
    uint32_t *at = mz_grow(NULL, (most + 1) * sizeof *at);
    memset(at, 0, (most + 1) * sizeof *at);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->nodes[i].used) at[b->nodes[i].depth + 1]++;
    for (uint32_t depth = most + 1; depth-- > 0;) {
        uint32_t count = at[depth];
        at[depth] = used;
        used += count;
    }
    for (uint32_t i = 0; i < b->count; i++)
        if (b->nodes[i].used) order[at[b->nodes[i].depth + 1]++] = i;
    free(at);
    return used;
}

/* Of `leaves` of a worker, those that it has not reported, divided evenly among the parts that it still has to do. */
static double untold(const struct mz_held *h, uint64_t leaves)
{
    return leaves > h->leaves ? (double)(leaves - h->leaves) / (h->count - h->done) : 0;
}

/* The leaves below a branch; 0: not known. */
static double size_of(const struct mz_balance *b, const struct mz_branch *branch, const double *nodes,
                      const struct mz_worker_leaves *workers)
{
    const struct mz_worker_leaves *w;
    switch ((enum mz_branch_state)branch->state) {
    case MZ_BRANCH_DONE:
        return (double)branch->leaves;
    case MZ_BRANCH_BUSY:
        w = &workers[branch->worker];
        return w->expected <= w->now ? 0
                                     : (double)branch->leaves + untold(&b->held[branch->worker], w->expected);
    case MZ_BRANCH_OPEN:
        return branch->node == MZ_NONE ? 0 : nodes[branch->node];
    case MZ_BRANCH_WAITING:
        break;
    }
    return 0;
}

/* The leaves below a branch that have been explored, as far as is known. */
static double seen_of(const struct mz_balance *b, const struct mz_branch *branch,
                      const struct mz_worker_leaves *workers)
{
    double told = (double)branch->leaves;
    if (branch->state != MZ_BRANCH_BUSY) return told;
    return told + untold(&b->held[branch->worker], workers[branch->worker].now);
}

static double leaves_of_node(const struct mz_balance *b, const struct mz_tree_node *n, const double *nodes,
                             const struct mz_worker_leaves *workers)
{
    double sum = 0, last = 0, like_last = 0;
    uint32_t known = 0, unknown = 0;
    for (uint32_t j = 0; j < n->count; j++) {
        const struct mz_branch *branch = &n->branches[j];
        double size = size_of(b, branch, nodes, workers);
        if (size > 0) {
            if (branch->state != MZ_BRANCH_DONE && known)
                size += (last - size) * last / (last + seen_of(b, branch, workers));
            sum += last = size;
            known++;
        } else if (known) {
            like_last += last;
        } else {
            unknown++;
        }
    }
    return known ? sum + like_last + sum / known * unknown : 0;
}

double mz_balance_share(const struct mz_balance *b, const struct mz_worker_leaves *workers)
{
    if (b->samples) return 0; /* there is always another walk */
    if (b->whole) return 0;
    uint32_t *order = mz_grow(NULL, (b->count + 1) * sizeof *order), used = sort_nodes(b, order);
    double *nodes = mz_grow(NULL, (b->count + 1) * sizeof *nodes);
    for (uint32_t i = 0; i < used; i++)
        nodes[order[i]] = leaves_of_node(b, &b->nodes[order[i]], nodes, workers);
    double all = nodes[0], done = (double)b->nodes[0].branches[0].leaves;
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++)
        if (b->held[w].count > b->held[w].done)
            done += untold(&b->held[w], workers[w].now) * (b->held[w].count - b->held[w].done);
    free(order);
    free(nodes);
    const double most = (double)MZ_NEARLY_ALL_WORK / (double)MZ_ALL_WORK;
    return all <= 0 ? 0 : done < most * all ? done / all : most;
}
