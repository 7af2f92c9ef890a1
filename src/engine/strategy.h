/* A strategy: which execution comes next. It chooses the steps of an execution, and decides when one has ended whether
 * and where the search goes on. explore.c asks it; a strategy is one file with one constant table.
 *
 *   exhaustive.c          depth first, until nothing is left that the reduction wants
 *   sampling/sampling.c   executions drawn at random, until a limit is reached
 *   tours.c               a survey: random executions, to estimate how many the search will have
 *
 * A strategy and a reduction are different things. A reduction (reduction.h) finds out what *has* to be explored, which
 * only a strategy that explores everything needs to know. A strategy that samples executions has no use for it: it
 * chooses among view->enabled, drops the races in event(), and in end() goes back with mz_rewind_all() for another
 * execution from the start, or with mz_rewind_to() for one that branches off at a node of the path. It keeps neither
 * wakeup trees nor sleep sets, and nothing else asks for them. */
#ifndef MZ_ENGINE_STRATEGY_H
#define MZ_ENGINE_STRATEGY_H

#include "engine/exploration.h"

struct mz_strategy {
    /* The execution has come to node k, which is new: the step to take; or mz_nobody(), with the reason why the
     * execution ends. Nothing may be enabled: that is MZ_ENDING_MAXIMAL. */
    struct mz_step (*choose)(struct mz_exploration *x, uint32_t k);
    /* Event n has just happened; its races are the last `races` entries of trace.races, and stay there unless they are
     * dropped here. n is 0 for the race of a timeout that cannot happen any more. */
    void (*event)(struct mz_exploration *x, mz_number n, uint32_t races);
    /* The execution has ended: x->ending. Count it (mz_count_execution), and go back to where the next one branches
     * off. Return false if there is none. */
    bool (*end)(struct mz_exploration *x);
};

extern const struct mz_strategy mz_strategy_exhaustive, mz_strategy_sampling, mz_strategy_tours;

/* sampling/sampling.c: called if x->options.strategy is not exhaustive. */
void mz_sampling_init(struct mz_exploration *x);
void mz_sampling_release(struct mz_exploration *x);
void mz_sampling_abandon(struct mz_exploration *x); /* count the walk that ends the search */
/* sampling/stream.c: of a shared sample. Read a task, after the knowledge; false if it makes no sense. Tell the balancer
 * what the walks of the task so far have met: the task is done. */
bool mz_sampling_task(struct mz_exploration *x, struct mz_message *m);
void mz_sampling_report(struct mz_exploration *x);
void mz_sampling_clear(struct mz_exploration *x); /* what was sampled is void */

#endif
