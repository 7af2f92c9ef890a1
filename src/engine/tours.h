/* A survey: how many executions will the search have? See tours.c. */
#ifndef MZ_ENGINE_TOURS_H
#define MZ_ENGINE_TOURS_H

#include "engine/exploration.h"

void mz_tours_init(struct mz_exploration *x);
void mz_tours_release(struct mz_exploration *x);
void mz_tours_reuse(struct mz_exploration *x); /* forget all tours */

#endif
