/* Searches machine code for instructions that matter: atomic instructions without a hook, and instructions
 * that use a thread's own state (thread pointer, floating-point environment) without a call. Called by
 * load.c. */
#define _GNU_SOURCE
#include "runtime/core/load.h"
#include "runtime/core/runtime.h"
#include "runtime/state/decode.h"

#include <link.h>
#include <string.h>

static bool in_data(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W && address >= start && address < start + p->p_memsz)
            return true;
    }
    return false;
}

/* Is there a locked instruction at p? Instrumented code has none: its atomic operations are calls of hooks.
 * Other bytes can look like a locked instruction by chance. So only two kinds count: instructions with a
 * two-byte opcode, and instructions that access a variable of the module. */
static bool is_locked(const unsigned char *p, const struct dl_phdr_info *info)
{
    static const unsigned char two[] = {0xb0, 0xb1, 0xc0, 0xc1,
                                        0xab, 0xb3, 0xbb};                   /* cmpxchg, xadd, bts, ... */
    static const unsigned char one[] = {0x01, 0x09, 0x21, 0x29, 0x31, 0xff}; /* add, or, ..., inc, dec */
    int32_t distance;
    if (*p++ != 0xf0) return false;
    if ((*p & 0xf0) == 0x40) p++;
    if (*p == 0x0f) {
        for (size_t i = 0; i < sizeof two; i++)
            if (p[1] == two[i] && p[2] >> 6 != 3) return true;
        return p[1] == 0xc7 && (p[2] & 0x38) == 0x08 && p[2] >> 6 != 3;
    }
    if ((p[1] & 0xc7) != 0x05) return false; /* relative to the instruction pointer */
    mz_raw_memcpy(&distance, p + 2, sizeof distance);
    for (size_t i = 0; i < sizeof one; i++)
        if (*p == one[i] && in_data(info, (uintptr_t)p + 6 + (uintptr_t)(intptr_t)distance)) return true;
    return *p == 0x83 && in_data(info, (uintptr_t)p + 7 + (uintptr_t)(intptr_t)distance);
}

/* Does an instruction whose opcode is at p use the control register of SSE: ldmxcsr, stmxcsr, vldmxcsr,
 * vstmxcsr, fxrstor, xrstor? */
static bool names_mxcsr(const unsigned char *p)
{
    unsigned reg = p[2] >> 3 & 7;
    bool vex = p[0] == 0xf8 || p[0] == 0x78; /* the last byte of a VEX prefix */
    if (p[1] != 0xae || p[2] >> 6 == 3 || (p[0] != 0x0f && !vex)) return false;
    return reg == 2 || reg == 3 || (!vex && (reg == 1 || reg == 5));
}

/* Does the instruction load the control word of the x87: fldcw, fldenv, frstor? */
static bool loads_x87(const unsigned char *p)
{
    unsigned reg = p[1] >> 3 & 7;
    if (p[1] >> 6 == 3) return false;
    return (p[0] == 0xd9 && (reg == 4 || reg == 5)) || (p[0] == 0xdd && reg == 4);
}

/* Return the length of an instruction that decode.c does not know and that stands at the end of a function or
 * between functions: hlt, indirect jumps, nops with any number of prefixes. Return 0 if p is none of
 * these. */
static size_t padding(const unsigned char *p)
{
    size_t n = 0;
    if (p[0] == 0xf4) return 1;
    if (p[0] == 0xff && (p[1] & 0xf8) == 0xe0) return 2;
    if (p[0] == 0xff && p[1] == 0x25) return 6;                 /* in the procedure linkage table */
    if (p[0] == 0xf2 && p[1] == 0xff && p[2] == 0x25) return 7; /* the same with a prefix */
    while (n < 8 && (p[n] == 0x66 || p[n] == 0x2e)) n++;
    if (p[n] == 0x90) return n + 1;
    if (!n || p[n] != 0x0f || p[n + 1] != 0x1f) return 0;
    struct mz_instruction nop = mz_decode(p + n);
    return nop.known ? (size_t)(nop.next - (const uint8_t *)p) : 0;
}

/* Does the code load the control word of the x87? Any two bytes look like such an instruction too often, so
 * check only positions where an instruction can begin. After an unknown instruction, the next instruction can
 * begin anywhere. */
static bool any_loads_x87(const unsigned char *p, size_t size)
{
    const size_t longest = 16;
    for (size_t i = 0, anywhere = 0; i + longest < size;) {
        size_t skip = i >= anywhere ? padding(p + i) : 0;
        if (skip) {
            i += skip;
            continue;
        }
        if (loads_x87(p + i)) return true;
        struct mz_instruction next = mz_decode(p + i);
        if (!next.known) anywhere = i + longest;
        i = next.known && i >= anywhere ? (size_t)(next.next - p) : i + 1;
    }
    return false;
}

/* Look for atomic instructions without a hook (unless the plug-in's notes list them), for uses of the thread
 * pointer (mov %fs:0), and for uses of the floating-point environment. Bytes that look like one of the last
 * two by chance only make switches slower. */
void mz_scan_code(const struct dl_phdr_info *info, const unsigned char *p, size_t size, bool plugin)
{
    static const unsigned char at_zero[] = {0x25, 0, 0, 0, 0};
    for (size_t i = 0; i + 9 < size; i++) {
        if (!plugin && is_locked(p + i, info))
            mz_unseen(
                "the program has atomic instructions that are not seen (inline assembly, or a file that "
                "was not "
                "compiled with mazurka cc)");
        if (p[i] == 0x64 && (p[i + 1] & 0xfb) == 0x48 && (p[i + 3] & 0xc7) == 0x04 &&
            !memcmp(p + i + 4, at_zero, sizeof at_zero))
            rt.switch_fs = true;
        if (names_mxcsr(p + i)) rt.switch_fp = true;
    }
    if (!rt.switch_fp && any_loads_x87(p, size)) rt.switch_fp = true;
}
