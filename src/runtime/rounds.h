/* A bound on loops that never have to end: see rounds.c. Used by spin.c and schedule.c. */
#ifndef MZ_RUNTIME_ROUNDS_H
#define MZ_RUNTIME_ROUNDS_H

#include "runtime.h"

extern bool mz_rounds_bounded;

bool mz_rounds_step_limit(void);
void mz_rounds_set(bool bounded);
void mz_rounds_reset(void);
bool mz_rounds_visit(uint64_t state);

#endif
