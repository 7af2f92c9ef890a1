/* A bound on loops that never have to end: see rounds.c. Used by spin.c, schedule.c and the operations. */
#ifndef MZ_RUNTIME_ROUNDS_H
#define MZ_RUNTIME_ROUNDS_H

#include "runtime.h"

extern bool mz_rounds_bounded;

bool mz_rounds_step_limit(void);
void mz_rounds_set(bool bounded);
void mz_rounds_reset(void);
bool mz_rounds_visit(uint64_t state);
void mz_spin_count(uint64_t key, const void *pc, const void *frame);

/* The running thread is about to post an operation by which no loop waits (a store, sem_post): only the bound looks at
 * it, so that a loop of nothing else has one too. */
static inline void mz_rounds_look(uint64_t key, const void *pc, const void *frame)
{
    if (mz_unlikely(mz_rounds_bounded)) mz_spin_count(key, pc, frame);
}

#endif
