/* What a template of inline assembly (AT&T syntax) does to memory, as far as its text tells. No header of a
 * compiler is needed here, so that the tests can call it. */
#ifndef MZ_COMPILER_ASM_TEXT_H
#define MZ_COMPILER_ASM_TEXT_H

struct mz_asm_text {
    bool full_fence;       /* mfence, or a locked instruction on the thread's own stack */
    bool load_fence;       /* lfence */
    bool store_fence;      /* sfence */
    bool locked;           /* a locked instruction, or xchg, on memory that is not the own stack */
    bool writes_operands;  /* an operand %0, %[name] is written: it may be a place in memory */
    bool reads_operands;   /* likewise */
    bool writes_elsewhere; /* writes through an address in a register, or calls, or is not understood */
    bool reads_elsewhere;  /* reads through an address in a register */
};

struct mz_asm_text mz_asm_text_read(const char *text);

#endif
