/* What a template of inline assembly (AT&T syntax) does to memory, as far as its text tells. This header
 * needs no header of a compiler, so that the tests can call it. Both plugins call it. */
#ifndef MZ_COMPILER_ASM_TEXT_H
#define MZ_COMPILER_ASM_TEXT_H

#include <stdint.h>

#define MZ_ASM_MANY 64

struct mz_asm_text {
    bool full_fence;       /* mfence, or a locked instruction on the thread's own stack */
    bool load_fence;       /* lfence */
    bool store_fence;      /* sfence */
    bool locked;           /* a locked instruction, or xchg, on memory that is not the thread's own stack */
    bool writes_operands;  /* an operand %0, which may be in memory, is written */
    bool reads_operands;   /* an operand %0, which may be in memory, is read */
    bool one_mov;          /* only one mov, with an operand: atomic, if it is volatile and aligned */
    bool any_bit;          /* bts and the like: the bit may lie beyond the operand */
    uint64_t written;      /* a bit for each operand that is written; MZ_ASM_MANY - 1: all further operands */
    bool writes_elsewhere; /* writes through an address in a register, or calls, or is not understood */
    bool reads_elsewhere;  /* reads through an address in a register */
};

/* Reads a template in gcc's form: %0, %k1, %%eax, $1, {att|intel}; operands have numbers. */
struct mz_asm_text mz_asm_text_read(const char *text);

/* Reads assembly outside of functions. Returns what it does to memory, for a note; NULL: nothing. */
const char *mz_asm_outside(const char *text, bool *writes);

static inline bool mz_asm_writes(const struct mz_asm_text *t, unsigned operand)
{
    return t->written >> (operand < MZ_ASM_MANY ? operand : MZ_ASM_MANY - 1) & 1;
}

#endif
