/* Which registers and which bytes of the program's frames still matter: for the identity of states, and for
 * local states (loops/local.c). */
#ifndef MZ_RUNTIME_STATE_LIVENESS_H
#define MZ_RUNTIME_STATE_LIVENESS_H

#include "runtime/core/runtime.h"

#define MZ_SURVIVING   0xf008u /* rbx, r12 to r15: registers that survive calls */
#define MZ_LIVE_WORDS  128u    /* of a frame, below its frame pointer */
#define MZ_LIVE_FRAMES 16u     /* of one stack: the number of answers that are in use at a time */

struct mz_live { /* what matters where a call returns to pc */
    uint64_t pc;
    uint64_t walk;      /* the last walk along a stack that asked for this answer */
    uint32_t at_return; /* registers that matter to the function's caller */
    uint32_t registers; /* registers that survive calls and matter here, as bits */
    int64_t sp;         /* where the stack pointer must be, relative to the frame pointer */
    bool known;
    uint32_t words;               /* length of mask; nothing is known of the words further below */
    uint64_t mask[MZ_LIVE_WORDS]; /* the bits that matter of the word i + 1 below the frame pointer */
};

void mz_live_init(void);
/* A new walk along a stack begins: earlier answers are no longer in use, and their memory may be reused. */
void mz_live_walk(void);
/* Returns NULL if nothing is known: then everything matters. The answer depends only on the arguments and
 * the program's code. It stays valid until the next mz_live_walk(); ask at most MZ_LIVE_FRAMES times in one
 * walk. */
const struct mz_live *mz_live_at(uint64_t pc, int64_t sp, uint32_t at_return);

/* ---- frames.c ---- */

struct mz_frame { /* of a function of the program */
    const uint64_t *low, *base;
    const struct mz_live *live; /* or NULL */
};

struct mz_stack {
    const uint64_t *first;   /* frame of a function of the runtime: what is below does not matter */
    const uint64_t *entered; /* frame of the function of the runtime that the program called */
    const uint64_t *high;
    uint32_t registers; /* registers that matter, as bits */
    unsigned count;
    struct mz_frame frames[MZ_LIVE_FRAMES]; /* innermost first */
};

void mz_stack_init(void);
/* The answers in s->frames are valid until the next call. */
void mz_stack_of(struct mz_stack *s, int slot, const struct mz_parked *p);
/* The same for the running thread, above the frame of the hook that the thread has called. */
void mz_stack_above(struct mz_stack *s, int slot, const uint64_t *frame);
void mz_stack_poke(int slot);
void mz_stack_poke_running(const struct mz_stack *s);

#endif
