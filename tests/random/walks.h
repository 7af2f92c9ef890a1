/* An execution of the engine, run again step by step in the oracle's interpreter: for check.c and check_sampling.c. */
#ifndef MZ_RANDOM_WALKS_H
#define MZ_RANDOM_WALKS_H

#include "check.h"
#include "model/system.h"

#define MZ_REPLAY_STEPS (MZ_MODEL_THREADS * MZ_MODEL_EVENTS)

struct mz_replay {
    struct mz_checker *c;
    struct mz_machine machine;
    struct mz_machine_state state;
    mz_lanes clocks[MZ_REPLAY_STEPS]; /* of each event */
};

/* Are the steps possible, and is no thread enabled at the end? If not, record the difference. */
bool mz_replay_steps(struct mz_replay *r, const struct mz_model_execution *e);

#endif
