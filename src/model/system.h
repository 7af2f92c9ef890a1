/* A model as a system under test: explores it with the engine (see ../engine/program.h). */
#ifndef MZ_MODEL_SYSTEM_H
#define MZ_MODEL_SYSTEM_H

#include <stdbool.h>
#include "../engine/program.h"
#include "model.h"

/* One complete execution: nothing is enabled any more. Or one that ends in a known state. */
struct mz_model_execution {
    const struct mz_step *steps;
    uint32_t length;
    struct mz_model_outcome outcome;
    bool revisits;                            /* not complete: it ends in a state that was there before */
    const struct mz_exploration *exploration; /* for mz_explore_steps() and mz_explore_happens_before() */
};

struct mz_model_run {
    uint64_t max_runs; /* executions and blocked ones together; 0: no limit */
    /* Called at the end of every complete execution, and of those that come to a state that was there before;
     * false stops the exploration. */
    bool (*visit)(void *arg, const struct mz_model_execution *execution);
    /* If given: see mz_explore_options. */
    void (*endless)(void *arg, uint64_t threads, uint64_t writers);
    void (*start_over)(void *arg); /* forget what was visited: it comes again */
    uint64_t asks;                 /* settings.limited: how often memory is asked for and there is some */
    void *arg;
};

enum mz_model_verdict {
    MZ_MODEL_EXPLORED,
    MZ_MODEL_STOPPED,     /* by visit */
    MZ_MODEL_TOO_MANY,    /* max_runs */
    MZ_MODEL_STEP_LIMIT,  /* the engine says so: never, for a model without loops */
    MZ_MODEL_ILLEGAL,     /* the engine asked for a step that is not enabled */
    MZ_MODEL_WRONG_ENDING /* the engine's reason to end does not fit what is enabled */
};

struct mz_model_report {
    enum mz_model_verdict verdict;
    uint64_t complete, asleep, revisiting; /* as the system saw them */
    struct mz_counters counters;           /* as the engine counted */
};

/* An exploration that can be used for one model after the other: what was explored is forgotten each time
 * (mz_explore_reuse), the memory is kept. */
struct mz_model_explorer;

struct mz_model_settings {
    enum mz_algorithm algorithm;
    bool sleep_sets;
    bool exact; /* stateful algorithms: states are compared whole */
    enum mz_order order;
    uint64_t order_seed;
    bool limited;                         /* memory comes to an end: see asks */
    const struct mz_share_options *share; /* the search is shared: its callbacks get the explorer */
    bool eager;                           /* these as in mz_explore_options */
    const struct mz_tree_log_options *tree_log;
};

struct mz_model_explorer *mz_model_explorer_new(const struct mz_model_settings *settings);
void mz_model_explorer_free(struct mz_model_explorer *explorer);
void mz_model_explore(struct mz_model_explorer *explorer, const struct mz_model *m,
                      const struct mz_model_run *run, struct mz_model_report *report);

/* The same in pieces, for searches that are shared: begin, then tasks for the exploration and executions one
 * by one, each of which says whether there are more of the task; end. */
struct mz_exploration *mz_model_begin(struct mz_model_explorer *explorer, const struct mz_model *m);
bool mz_model_next(struct mz_model_explorer *explorer, const struct mz_model_run *run,
                   struct mz_model_report *report);
void mz_model_end(struct mz_model_explorer *explorer, const struct mz_model_report *report);

#endif
