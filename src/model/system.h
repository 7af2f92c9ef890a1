/* A model as a system under test: explores it with the engine (engine/program.h). For the tests. */
#ifndef MZ_MODEL_SYSTEM_H
#define MZ_MODEL_SYSTEM_H

#include <stdbool.h>
#include "engine/program.h"
#include "model/model.h"

/* A complete execution, at whose end no thread is enabled; or one that ends in a known state. */
struct mz_model_execution {
    const struct mz_step *steps;
    uint32_t length;
    struct mz_model_outcome outcome;
    bool asleep;                              /* not complete, of a stateful search: all is asleep */
    bool revisits;                            /* not complete: it ends in a state that the search has seen */
    const struct mz_exploration *exploration; /* for mz_explore_steps() and mz_explore_happens_before() */
};

struct mz_model_run {
    uint64_t max_runs; /* complete and blocked executions together; 0: no limit */
    /* Called at the end of every complete execution, and of every execution that ends in a known state. If it
     * returns false, the exploration stops. */
    bool (*visit)(void *arg, const struct mz_model_execution *execution);
    /* If given: see mz_explore_options. */
    void (*endless)(void *arg, uint64_t threads, uint64_t writers);
    /* Forget the executions so far: they come again. `sections`: the engine knows now that there are atomic sections. */
    void (*start_over)(void *arg, bool sections);
    /* settings.limited: how often the engine may ask for memory before memory counts as full */
    uint64_t asks;
    void *arg;
};

enum mz_model_verdict {
    MZ_MODEL_EXPLORED,
    MZ_MODEL_STOPPED,     /* by visit */
    MZ_MODEL_TOO_MANY,    /* max_runs */
    MZ_MODEL_STEP_LIMIT,  /* the engine reports it; never for a model without loops */
    MZ_MODEL_ILLEGAL,     /* the engine asked for a step that is not enabled */
    MZ_MODEL_WRONG_ENDING /* the engine's reason to end an execution contradicts what is enabled */
};

struct mz_model_report {
    enum mz_model_verdict verdict;
    uint64_t complete, asleep, revisiting; /* counted here */
    struct mz_counters counters;           /* counted by the engine */
};

/* An exploration that can be used for several models, one after the other: mz_explore_reuse forgets what was
 * explored and keeps the memory. */
struct mz_model_explorer;

struct mz_model_settings {
    enum mz_algorithm algorithm;
    enum mz_strategy_kind strategy; /* strategy, strategy_depth: as in mz_explore_options */
    unsigned strategy_depth;
    enum mz_bound bound; /* with mz_explore_set_bound() */
    bool sleep_sets;
    bool exact; /* stateful algorithms: compare whole states, not only hashes */
    enum mz_order order;
    uint64_t order_seed;
    bool limited;                         /* memory is limited: see asks */
    const struct mz_share_options *share; /* the search is shared: its callbacks get the explorer */
    bool marks;                           /* as in mz_explore_options */
    bool persistent;                      /* as in mz_explore_options */
    bool eager;                           /* eager and tree_log: as in mz_explore_options */
    const struct mz_tree_log_options *tree_log;
    uint64_t survey; /* as in mz_explore_options */
};

struct mz_model_explorer *mz_model_explorer_new(const struct mz_model_settings *settings);
void mz_model_explorer_free(struct mz_model_explorer *explorer);
/* The order of threads for the models that follow: a stateless algorithm has to find the same in every order. */
void mz_model_set_order(struct mz_model_explorer *explorer, enum mz_order order, uint64_t seed);
/* The bound for the models that follow, of an explorer with settings.bound. */
void mz_model_set_bound(struct mz_model_explorer *explorer, uint32_t limit);
void mz_model_explore(struct mz_model_explorer *explorer, const struct mz_model *m,
                      const struct mz_model_run *run, struct mz_model_report *report);

/* The same in steps, for searches that are shared: begin; then give tasks to the exploration, and run
 * executions one by one, each of which returns whether the task has more; then end. */
struct mz_exploration *mz_model_begin(struct mz_model_explorer *explorer, const struct mz_model *m);
bool mz_model_next(struct mz_model_explorer *explorer, const struct mz_model_run *run,
                   struct mz_model_report *report);
void mz_model_end(struct mz_model_explorer *explorer, const struct mz_model_report *report);

#endif
