/* A function of the program, instruction by instruction (function.c). Private to liveness.c. */
#ifndef MZ_RUNTIME_STATE_FUNCTION_H
#define MZ_RUNTIME_STATE_FUNCTION_H

#include "runtime/state/decode.h"
#include "runtime/state/liveness.h"

#define MZ_NOWHERE  UINT32_MAX       /* no target */
#define MZ_OUTSIDE  (UINT32_MAX - 1) /* in another function */
#define MZ_NO_PLACE INT32_MAX        /* not in the frame */

struct mz_code { /* one instruction */
    struct mz_instruction i;
    uint32_t target; /* index of an instruction */
    /* The stack pointer before it: relative to the frame pointer if there is a frame, else to its value at
     * entry. */
    int32_t sp;
    bool framed, reached; /* there is a frame; some path from the entry leads here */
};

struct mz_function {
    struct mz_code *code;
    uint32_t count;
    int32_t lowest; /* offset of the lowest byte that is addressed through the frame pointer */
    bool escapes;   /* other code may read or write the frame */
};

void mz_function_init(void);
/* Returns false if the function is not understood. */
bool mz_function_read(struct mz_function *f, uint64_t start, uint64_t end);
/* Offset of the memory operand from the frame pointer, or MZ_NO_PLACE. */
int32_t mz_code_place(const struct mz_code *c);

#endif
