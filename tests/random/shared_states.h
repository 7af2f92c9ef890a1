/* One stateful search shared by several explorations, without processes: executions of the workers are interleaved at
 * random, workers die, and the run is saved and resumed. Takes the place of mz_model_explore(). */
#ifndef MZ_RANDOM_SHARED_STATES_H
#define MZ_RANDOM_SHARED_STATES_H

#include "model/system.h"

struct mz_sharing;

struct mz_sharing *mz_sharing_new(const struct mz_model_settings *settings);
void mz_sharing_free(struct mz_sharing *s);
/* report->counters.states: the number of finished states. */
void mz_sharing_explore(struct mz_sharing *s, const struct mz_model *m, const struct mz_model_run *run,
                        struct mz_model_report *report, uint64_t seed);

#endif
