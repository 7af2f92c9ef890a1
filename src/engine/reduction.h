/* What makes one algorithm differ from another. One file each, reduction_*.c, with one constant table at its
 * end; nothing else asks which algorithm is running. */
#ifndef MZ_ENGINE_REDUCTION_H
#define MZ_ENGINE_REDUCTION_H

#include "exploration.h"

struct mz_reduction {
    const char *name;
    bool sleep_sets; /* unless options.sleep_sets says no */

    /* First visit of node k, something is enabled: the step to take, or thread MZ_NOBODY if all is asleep. */
    struct mz_step (*enter)(struct mz_exploration *x, uint32_t k);
    /* Event n has just happened (live); its races are the last `races` entries of x->races. n is 0 for the
     * race of a timeout that can not happen any more. */
    void (*event)(struct mz_exploration *x, mz_number n, uint32_t races);
    /* Thread p has a new pending operation. May be NULL. */
    void (*pending)(struct mz_exploration *x, int thread);
    /* The execution has ended (maximal, or all asleep). */
    void (*end)(struct mz_exploration *x);
    /* Back at node k, whose current branch is explored: put the next one into nodes[k].step, or false. */
    bool (*next)(struct mz_exploration *x, uint32_t k);

    /* Stateful algorithms only (see stateful.h): the threads to be explored from node k, where those in
     * `done` have been. The node is complete when there is none but those. */
    uint64_t (*threads)(struct mz_exploration *x, uint32_t k);
    bool futures; /* they are needed */
};

/* reduction_dpor.c: without sleep sets */
void mz_dpor_pending(struct mz_exploration *x, int thread);
void mz_dpor_event(struct mz_exploration *x, mz_number n, uint32_t races);

/* reduction_none.c */
bool mz_next_in_backtrack(struct mz_exploration *x, uint32_t k);
/* May all that the thread could do at node k be asleep already? An operation with choices may have others. */
bool mz_all_asleep(const struct mz_exploration *x, uint32_t k, int thread);

extern const struct mz_reduction mz_reduction_none, mz_reduction_dpor, mz_reduction_source,
    mz_reduction_optimal, mz_reduction_stateful, mz_reduction_s_por, mz_reduction_de_s_por,
    mz_reduction_dl_s_por, mz_reduction_sdpor;

#endif
