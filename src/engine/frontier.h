/* The frontier: the branches that are still to be explored. A reduction says which branches the races ask
 * for, with mz_want() and mz_want_sequence() (reduction.h). The frontier decides where these requests are
 * kept, and what else is done with them:
 *
 *   own        frontier.c      the nodes of the path keep them: all functions are NULL
 *   recorded   record_tree.c   the same, and everything is written to a file
 *   classes    record_classes.c  the same, and the class of each complete execution is written to a file
 *   counted    count_sets.c    the same, and the sizes of backtrack sets and wakeup trees are counted
 *   shared     worker_part.c   nodes near the root belong to the balancer: it is asked by messages
 *   states     stateful/shared_states.c  stateful algorithms: workers share the states that they have finished
 *
 * It is chosen once, when the search begins. Reductions do not know which one it is. */
#ifndef MZ_ENGINE_FRONTIER_H
#define MZ_ENGINE_FRONTIER_H

#include "engine/exploration.h"

struct mz_frontier {
    bool may_fall_back; /* the reduction may change in the middle of the search (fall_back.c) */
    bool needs_leaves;  /* every sequence must come to want_sequence(), also those that are covered already */

    /* All functions may be NULL. */
    void (*init)(struct mz_exploration *x);
    void (*release)(struct mz_exploration *x);

    /* Called instead of the defaults of mz_want(), mz_want_sequence() and mz_take_branch() (reduction.h): */
    void (*want)(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add);
    enum mz_cover (*want_sequence)(struct mz_exploration *x, uint32_t k);
    bool (*take_branch)(struct mz_exploration *x, uint32_t k);

    void (*enter)(struct mz_exploration *x, uint32_t k); /* node k is new */
    /* The step at node k, which lies before x->top. */
    struct mz_step (*step)(struct mz_exploration *x, uint32_t k);
    void (*executed)(
        struct mz_exploration *x); /* the races have been looked at; the search has not gone back yet */
    void (*rewound)(struct mz_exploration *x, uint32_t k); /* the search has gone back to node k */
    void (*finished)(struct mz_exploration *x);            /* everything is explored */
    void (*cleared)(struct mz_exploration *x);   /* all that was explored and counted is forgotten */
    void (*restarted)(struct mz_exploration *x); /* after cleared(): the same search starts over */
    void (*reused)(struct mz_exploration *x);    /* after cleared(): another program follows */
    /* *total and *done are estimates from the path: the leaves of the tree, and those of them that are
     * explored. Leave out the leaves that have been reported to the balancer. */
    void (*estimate)(const struct mz_exploration *x, double *total, double *done);
};

extern const struct mz_frontier mz_frontier_own, mz_frontier_recorded, mz_frontier_classes,
    mz_frontier_counted, mz_frontier_shared, mz_frontier_states;

#endif
