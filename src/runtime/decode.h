/* Machine code, as far as it must be understood to know what of a frame still matters: liveness.c. */
#ifndef MZ_RUNTIME_DECODE_H
#define MZ_RUNTIME_DECODE_H

#include "runtime.h"

enum { MZ_RBX = 3, MZ_RSP = 4, MZ_RBP = 5, MZ_R12 = 12, MZ_R15 = 15, MZ_NO_BASE = 16 };

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
    const uint8_t *next, *target; /* target: of a jump, or NULL */
    uint32_t read, written;       /* sets of registers; written: without having been read */
    uint32_t address;             /* those that the operand in memory is made of; they are read, too */
    int32_t offset;               /* of that operand, from base */
    uint8_t base;                 /* register, or MZ_NO_BASE */
    bool indexed;                 /* and something is added that is not known */
    uint8_t loads, stores;        /* bytes of it, from there on: at most, at least */
    uint8_t stack;                /* enum mz_stack_change */
    bool copies;                  /* what it reads only goes to what it overwrites */
    bool names;                   /* makes a pointer of the operand's address */
    bool calls, returns;
    bool anywhere; /* jumps to what a register or memory says; it is not known */
    bool ends;     /* does not go on to the next one */
    bool known;    /* else nothing of the above is said */
};

struct mz_instruction mz_decode(const uint8_t *p);

#endif
