/* One search shared by several explorations, through the balancer, without processes: executions of the
 * workers, splits and hand-outs are interleaved at random. Takes the place of mz_model_explore(). */
#ifndef MZ_RANDOM_SHARED_H
#define MZ_RANDOM_SHARED_H

#include "model/system.h"

struct mz_shared;

void mz_shared_set_order(struct mz_shared *s, enum mz_order order, uint64_t seed);
struct mz_shared *mz_shared_new(const struct mz_model_settings *settings, bool lossy);
/* For settings.bound. */
void mz_shared_set_bound(struct mz_shared *s, uint32_t limit);
void mz_shared_free(struct mz_shared *s);
/* For a sampling strategy: some hundred walks; and the numbers of all of them. */
void mz_shared_sample(struct mz_shared *s, const struct mz_model *m, const struct mz_model_run *run,
                      struct mz_model_report *report, uint64_t seed, struct mz_sample *sample);
void mz_shared_explore(struct mz_shared *s, const struct mz_model *m, const struct mz_model_run *run,
                       struct mz_model_report *report, uint64_t seed);

#endif
