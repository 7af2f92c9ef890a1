/* A recorded exploration in memory. Executions are numbered in the order of the search, which is depth first:
 * execution i shares its first node[i] steps with the one before it and then branches off, so the executions
 * below a node are a range of numbers, and so is every part of the search that is handed out. */
#ifndef MZ_SIMULATE_TREE_H
#define MZ_SIMULATE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event/channel.h"

struct tree {
    enum mz_algorithm algorithm;
    bool eager;
    uint32_t count;  /* executions, blocked ones and all */
    uint32_t *node;  /* where it branches off; the first one: 0 */
    uint32_t *steps; /* new ones */
    uint32_t *led;   /* new steps that follow the wakeup tree; with backtrack sets: 1. The first one: 0 */
    uint32_t *jump;  /* the first one after it that branches off nearer to the root, or count */
    uint16_t *place; /* which branch of its node it is, from 0; MANY: that or more */
    /* Who asks for whom: ask[ask_start[j]] up to ask_start[j + 1] are the executions whose branches the races
     * of j call for. */
    uint64_t *ask_start;
    uint32_t *ask;
    uint64_t blocked, cut, transitions;
    uint32_t max_depth, most_branches;
};
#define MANY UINT16_MAX

/* NULL after a line on stderr. */
struct tree *tree_read(const char *file);
/* From arrays: who asks for whom as pairs (two words each), in any order. For tests; the arrays stay the
 * caller's. */
struct tree *tree_make(uint32_t count, const uint32_t *node, const uint32_t *steps, const uint32_t *asks,
                       size_t ask_count);
void tree_free(struct tree *t);

/* Return the first execution after i that branches off at a node before `depth`. The executions from i up to it
 * share the first `depth` steps of i. */
static inline uint32_t tree_end(const struct tree *t, uint32_t i, uint32_t depth)
{
    for (i++; i < t->count && t->node[i] >= depth;) i = t->jump[i];
    return i;
}

/* How many steps two executions have in common. */
static inline uint32_t tree_parting(const struct tree *t, uint32_t i, uint32_t j)
{
    uint32_t last = i < j ? j : i, node = 0;
    for (uint32_t e = (i < j ? i : j) + 1; e <= last; e = t->jump[e]) node = t->node[e];
    return node;
}

/* Does execution j pass the node where i branches off? */
static inline bool tree_passes(const struct tree *t, uint32_t i, uint32_t j)
{
    return i <= j ? tree_end(t, i, t->node[i]) > j : tree_end(t, j, t->node[i]) > i;
}

/* Depth of the task that hands out execution i: the task is all that is below the leaf of the wakeup tree. */
static inline uint32_t tree_root(const struct tree *t, uint32_t i) { return t->node[i] + t->led[i]; }

#endif
