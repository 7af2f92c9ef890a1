/* What a template of inline assembly (AT&T syntax) does to memory, as far as its text tells. No header of a
 * compiler is needed here, so that the tests can call it. */
#ifndef MZ_COMPILER_ASM_TEXT_H
#define MZ_COMPILER_ASM_TEXT_H

#include <stdint.h>

#define MZ_ASM_MANY 64

struct mz_asm_text {
    bool full_fence;       /* mfence, or a locked instruction on the thread's own stack */
    bool load_fence;       /* lfence */
    bool store_fence;      /* sfence */
    bool locked;           /* a locked instruction, or xchg, on memory that is not the own stack */
    bool writes_operands;  /* an operand %0 is written: it may be a place in memory */
    bool reads_operands;   /* likewise */
    bool one_mov;          /* nothing but one mov, with an operand: atomic, if it is volatile and aligned */
    bool any_bit;          /* bts and the like: the number of the bit may lead beyond the operand */
    uint64_t written;      /* a bit for each operand that is written; MZ_ASM_MANY - 1: all from there on */
    bool writes_elsewhere; /* writes through an address in a register, or calls, or is not understood */
    bool reads_elsewhere;  /* reads through an address in a register */
};

/* As gcc has it: %0, %k1, %%eax, $1, {att|intel}; operands have numbers. */
struct mz_asm_text mz_asm_text_read(const char *text);

/* Assembly that stands outside of functions: what it does to memory, for a note; NULL: nothing. */
const char *mz_asm_outside(const char *text, bool *writes);

static inline bool mz_asm_writes(const struct mz_asm_text *t, unsigned operand)
{
    return t->written >> (operand < MZ_ASM_MANY ? operand : MZ_ASM_MANY - 1) & 1;
}

#endif
