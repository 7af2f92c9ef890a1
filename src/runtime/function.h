/* A function of the program, instruction by instruction: function.c. Private to liveness.c. */
#ifndef MZ_RUNTIME_FUNCTION_H
#define MZ_RUNTIME_FUNCTION_H

#include "decode.h"
#include "liveness.h"

#define MZ_NOWHERE  UINT32_MAX       /* no target */
#define MZ_OUTSIDE  (UINT32_MAX - 1) /* in another function */
#define MZ_NO_PLACE INT32_MAX        /* not in the frame */

struct mz_code { /* one instruction */
    struct mz_instruction i;
    uint32_t target; /* index of an instruction */
    int32_t sp; /* before it: from the frame pointer if there is a frame, else from where it was at entry */
    bool framed, reached;
};

struct mz_function {
    struct mz_code *code;
    uint32_t count;
    int32_t lowest; /* byte of the frame that is addressed from the frame pointer */
    bool escapes;   /* somebody else may read or write the frame */
};

void mz_function_init(void);
/* False: it is not understood. */
bool mz_function_read(struct mz_function *f, uint64_t start, uint64_t end);
/* Where the operand in memory is, from the frame pointer, or MZ_NO_PLACE. */
int32_t mz_code_place(const struct mz_code *c);

#endif
