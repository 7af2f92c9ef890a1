/* The identity of the program's state, for the stateful algorithms: see state.c. */
#ifndef MZ_RUNTIME_STATE_STATE_H
#define MZ_RUNTIME_STATE_STATE_H

#include "runtime/core/runtime.h"

/* state.c: the identity of states */
void mz_state_init(void);
void mz_state_of(void *system, struct mz_state *out);
size_t mz_state_bytes(void *system, const void **bytes);
bool mz_state_is_unique(void *system);
void mz_state_outline(void *system, struct mz_state *out);
void mz_state_memory_of(void *system, struct mz_state *out);
void mz_state_differs(void *system, const struct mz_step *one, uint32_t length, const struct mz_step *other,
                      uint32_t other_length); /* state/kept.c */
void mz_state_allocated(const void *p, size_t size, int with);
void mz_state_freed(const void *p, size_t size, int with);
void mz_delta_call(void); /* delta.c: the running thread calls an unknown function */

/* The running thread is about to stop at a point where its continuation depends only on its pending operation
 * and on a, b and c. The rest of the frame of the function of the runtime that it called is not part of the
 * state. */
static inline void mz_simple(uint64_t a, uint64_t b, uint64_t c)
{
    if (mz_likely(!rt.hashing)) return;
    struct mz_thread *t = &rt.run.threads[rt.self];
    t->simple = 1;
    t->operands[0] = a;
    t->operands[1] = b;
    t->operands[2] = c;
}

#endif
