/* What of the frames of the program still matters. Private to the identity of states. */
#ifndef MZ_RUNTIME_LIVENESS_H
#define MZ_RUNTIME_LIVENESS_H

#include "runtime.h"

#define MZ_SURVIVING  0xf008u /* rbx, r12 to r15: registers that survive calls */
#define MZ_LIVE_WORDS 32u     /* of a frame, below its frame pointer */

struct mz_live { /* where a call returns to pc */
    uint64_t pc;
    uint32_t at_return; /* registers that matter to the function's caller */
    uint32_t registers; /* that survive calls and matter here, as bits */
    int64_t sp;         /* where the stack pointer must be, from the frame pointer */
    bool known;
    uint32_t words;               /* of which something is known */
    uint64_t mask[MZ_LIVE_WORDS]; /* of the word i + 1 below the frame pointer: what of it matters */
};

void mz_live_init(void);
/* NULL: nothing is known, all matters. */
const struct mz_live *mz_live_at(uint64_t pc, int64_t sp, uint32_t at_return);

/* ---- frames.c ---- */

struct mz_frame { /* of a function of the program */
    const uint64_t *low, *base;
    const struct mz_live *live; /* or NULL */
};

struct mz_stack {
    const uint64_t *first;   /* frame of a function of ours: what is below does not matter */
    const uint64_t *entered; /* frame of the one that the program has called */
    const uint64_t *high;
    uint32_t registers; /* those that matter */
    unsigned count;
    struct mz_frame frames[16]; /* from the innermost on */
};

void mz_stack_init(void);
void mz_stack_of(struct mz_stack *s, int slot, const struct mz_parked *p);
void mz_stack_poke(int slot);

#endif
