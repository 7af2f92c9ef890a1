/* A decoder of machine code, for liveness.c, which finds out which parts of a frame still matter. core/scan.c
 * also uses it at the start, to look for instructions that change the floating-point environment. It calls
 * nothing and keeps nothing. */
#ifndef MZ_RUNTIME_STATE_DECODE_H
#define MZ_RUNTIME_STATE_DECODE_H

#include "runtime/core/runtime.h"

enum {
    MZ_RAX = 0,
    MZ_RBX = 3,
    MZ_RSP = 4,
    MZ_RBP = 5,
    MZ_RDI = 7,
    MZ_R12 = 12,
    MZ_R15 = 15,
    MZ_NO_BASE = 16
};

enum mz_stack_change {
    MZ_STACK_SAME,
    MZ_STACK_PUSH,
    MZ_STACK_POP,
    MZ_STACK_MOVE,  /* rsp += offset */
    MZ_STACK_LOAD,  /* rsp = rbp + offset */
    MZ_STACK_FRAME, /* rbp = rsp */
    MZ_STACK_LEAVE  /* rsp = rbp, pop rbp */
};

struct mz_instruction {
    const uint8_t *next, *target; /* the next instruction; the target of a jump, or NULL */
    const uint8_t *callee;        /* of a direct call, else NULL */
    uint32_t read, written;       /* sets of registers; written: overwritten as a whole and not read */
    uint32_t address;             /* registers in the address of the memory operand; they are read, too */
    int32_t offset;               /* of the memory operand, relative to base */
    uint8_t base;                 /* register, or MZ_NO_BASE */
    bool indexed;                 /* the address has a further part, which is not known */
    uint8_t loads,
        stores;    /* bytes of the memory operand: at most `loads` are loaded, at least `stores` are stored */
    uint8_t stack; /* enum mz_stack_change */
    bool copies;   /* what the instruction reads affects only what it overwrites */
    bool names;    /* makes a pointer of the operand's address */
    bool calls, returns;
    bool anywhere; /* an indirect jump: of such an instruction only `next` is known */
    bool ends;     /* execution does not continue at next */
    bool known;    /* false: of the above, only `anywhere` has a meaning */
};

struct mz_instruction mz_decode(const uint8_t *p);

#endif
