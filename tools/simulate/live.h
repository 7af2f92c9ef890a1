/* The balancer itself (src/balance) and workers that explore a model with the engine, in simulated time.
 * ours.c should have the same result on the tree of that model. Also measures the balancer's time for a message. */
#ifndef MZ_SIMULATE_LIVE_H
#define MZ_SIMULATE_LIVE_H

#include "model/model.h"
#include "simulate.h"

#define LIVE_WORKERS 256

struct measured { /* nanoseconds of the balancer's, for a message of each kind, on average */
    double task, split, update, done;
};

/* False after a line on stderr. */
bool live_run(const char *file, const struct mz_model *model, const struct parameters *p, struct result *r,
              struct measured *m);

#endif
