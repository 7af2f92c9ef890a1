/* How much of a shared search is done. The balancer does not know how large the parts are that have been
 * explored, so all branches of a node weigh the same (Knuth, 1975); of those that workers are on, each says
 * itself how much of what it has is done (src/engine/estimate.c). */
#include "balance_internal.h"

#include <stdlib.h>

static const struct mz_balance *sorted; /* by qsort() below */

/* The deepest first; the one above the root has the depth MZ_NONE, which is -1. */
static int compare(const void *a, const void *b)
{
    uint32_t p = sorted->nodes[*(const uint32_t *)a].depth + 1;
    uint32_t q = sorted->nodes[*(const uint32_t *)b].depth + 1;
    return p < q ? 1 : p > q ? -1 : 0;
}

static double value(const struct mz_branch *branch, const double *nodes, const double *workers)
{
    switch ((enum mz_branch_state)branch->state) {
    case MZ_BRANCH_DONE:
        return 1;
    case MZ_BRANCH_BUSY:
        return workers[branch->worker];
    case MZ_BRANCH_OPEN:
        return branch->node == MZ_NONE ? 0 : nodes[branch->node];
    case MZ_BRANCH_WAITING:
        break;
    }
    return 0;
}

double mz_balance_share(const struct mz_balance *b, const double *workers)
{
    uint32_t *order = mz_grow(NULL, (b->count + 1) * sizeof *order), used = 0;
    double *values = mz_grow(NULL, (b->count + 1) * sizeof *values);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->nodes[i].used) order[used++] = i;
    sorted = b;
    qsort(order, used, sizeof *order, compare);
    for (uint32_t i = 0; i < used; i++) {
        const struct mz_tree_node *n = &b->nodes[order[i]];
        double sum = 0;
        for (uint32_t j = 0; j < n->count; j++) sum += value(&n->branches[j], values, workers);
        values[order[i]] = n->count ? sum / n->count : 0;
    }
    double share = values[0];
    free(order);
    free(values);
    return share;
}
