/* What an instruction does to registers and to memory: decode.h.
 *
 * The decoder knows the instructions that compilers emit for C. For many of them it knows only the length and
 * what they may read: in doubt, an operand is read and nothing is overwritten. An unknown instruction makes
 * everything in its function alive. tests/decode compares the decoder with Zydis.
 *
 * Why not Zydis itself? This code lives inside the tested program, and the program must neither see nor need another
 * library (laws in runtime.h). Measured with Zydis 4.0 of Debian 12:
 *
 *  - libzydis-dev has no static archive, only libZydis.so. If libmazurka.so depends on libZydis.so, the program loads a
 *    library that is not instrumented, and the verdict changes from "verified" to "no error in what was seen".
 *  - memcpy, memset and strlen of libZydis.so bind to our hooks: decoding would call the code that asks for it.
 *  - dlopen() instead would allocate from the program's heap, and the states would depend on whether the machine has
 *    the library.
 *  - Zydis takes 117 ns for an instruction of libc, this decoder takes 21 ns. */
#include "runtime/state/decode.h"

#define ANY_SIZE 64u /* bytes: the largest vector, for operands whose exact size is not decoded */

struct decoder {
    const uint8_t *p;
    uint8_t rex, repeat; /* prefixes; repeat: f2, f3 or 0 */
    bool small;          /* prefix 66: 16 bits */
    bool segment;
    uint8_t mod, reg, rm;
    struct mz_instruction i;
};

static uint32_t set(unsigned reg) { return 1u << reg; }

static int32_t immediate(const uint8_t *p)
{
    int32_t value;
    mz_raw_memcpy(&value, p, sizeof value);
    return value;
}

static uint8_t width(const struct decoder *d, bool byte)
{
    return byte ? 1 : d->rex & 8 ? 8 : d->small ? 2 : 4;
}

/* The SIB byte: base and index. */
static void scaled(struct decoder *d)
{
    uint8_t s = *d->p++, base = s & 7, index = (uint8_t)((s >> 3 & 7) | (d->rex & 2) << 2);
    if (index != 4) {
        d->i.address |= set(index);
        d->i.indexed = true;
    }
    if (base == 5 && d->mod == 0) {
        d->p += 4;
        return;
    }
    d->i.base = (uint8_t)(base | (d->rex & 1u) << 3);
    d->i.address |= set(d->i.base);
}

/* ModRM, SIB and displacement. An operand in memory counts as read, unless the caller knows better. */
static void operands(struct decoder *d)
{
    uint8_t m = *d->p++;
    d->mod = m >> 6;
    d->reg = (uint8_t)((m >> 3 & 7) | (d->rex & 4) << 1);
    d->rm = (uint8_t)((m & 7) | (d->rex & 1) << 3);
    if (d->mod == 3) return;
    d->i.loads = ANY_SIZE;
    if ((m & 7) == 4) {
        scaled(d);
    } else if ((m & 7) == 5 && d->mod == 0) {
        d->p += 4; /* relative to the instruction pointer */
    } else {
        d->i.base = d->rm;
        d->i.address |= set(d->rm);
    }
    if (d->mod == 1) d->i.offset = (int8_t)*d->p;
    if (d->mod == 2) d->i.offset = immediate(d->p);
    d->p += d->mod == 1 ? 1 : d->mod == 2 ? 4 : 0;
    if (d->segment) d->i.base = MZ_NO_BASE;
}

/* Byte registers without REX: 4 to 7 are ah, ch, dh and bh. */
static uint32_t byte_register(const struct decoder *d, unsigned reg)
{
    return set(!d->rex && reg >= 4 && reg < 8 ? reg - 4 : reg);
}

static bool in_memory(const struct decoder *d) { return d->mod != 3; }

static uint32_t general(const struct decoder *d, unsigned reg, bool byte)
{
    return byte ? byte_register(d, reg) : set(reg);
}

static void read_rm(struct decoder *d, bool byte)
{
    if (in_memory(d))
        d->i.loads = width(d, byte);
    else
        d->i.read |= general(d, d->rm, byte);
}

/* Both operands are read. A result goes to one of them, which then stays alive. */
static void reads_both(struct decoder *d, bool byte)
{
    operands(d);
    read_rm(d, byte);
    d->i.read |= general(d, d->reg, byte);
}

/* The register is overwritten; with 16 bits only a part of it, so the rest is read. */
static void writes(struct decoder *d, unsigned reg)
{
    if (d->small)
        d->i.read |= set(reg);
    else
        d->i.written |= set(reg);
}

static bool is_alu(uint8_t op) { return op < 0x40 && (op & 7) < 6; }

static void alu(struct decoder *d, uint8_t op)
{
    if ((op & 7) == 4) {
        d->p += 1;
    } else if ((op & 7) == 5) {
        d->p += d->small ? 2 : 4;
    } else {
        reads_both(d, !(op & 1));
        bool clears = (op & 0xf8) == 0x30 || (op & 0xf8) == 0x28; /* xor, sub */
        if (clears && (op & 1) && !in_memory(d) && d->rm == d->reg && !d->small)
            d->i.read = 0, d->i.written = set(d->reg);
    }
}

static void jump(struct decoder *d, const uint8_t *target, bool always)
{
    d->i.target = target;
    d->i.ends = always;
}

/* An immediate of the size of the operands, but never of 64 bits. */
static void skip_immediate(struct decoder *d) { d->p += d->small ? 2 : 4; }

/* Each of the following functions handles one group of opcodes, and returns false for an opcode of another group.
 *
 * Here the register or the condition is part of the opcode. */
static bool by_code(struct decoder *d, uint8_t op)
{
    unsigned low = (op & 7u) | (d->rex & 1u) << 3;
    if (is_alu(op)) {
        alu(d, op);
    } else if (op >= 0x50 && op <= 0x57) { /* push */
        d->i.read = set(low);
        d->i.stack = MZ_STACK_PUSH;
        d->i.copies = true;
        d->i.known = !d->small;
    } else if (op >= 0x58 && op <= 0x5f) { /* pop */
        d->i.written = set(low);
        d->i.stack = MZ_STACK_POP;
        d->i.copies = true;
        d->i.known = !d->small;
    } else if (op >= 0x70 && op <= 0x7f) { /* jcc */
        jump(d, d->p + 1 + (int8_t)*d->p, false);
        d->p += 1;
    } else if (op >= 0xb0 && op <= 0xb7) { /* mov byte */
        d->i.read = byte_register(d, low);
        d->p += 1;
    } else if (op >= 0xb8 && op <= 0xbf) { /* mov */
        writes(d, low);
        d->p += d->rex & 8 ? 8 : d->small ? 2 : 4;
    } else {
        return false;
    }
    return true;
}

/* The whole register is loaded, from `bytes` bytes if the source is in memory. */
static void load(struct decoder *d, bool byte_source, uint8_t bytes)
{
    operands(d);
    read_rm(d, byte_source);
    if (in_memory(d)) d->i.loads = bytes;
    d->i.copies = !d->small;
    writes(d, d->reg);
}

/* mov %rsp,%rbp makes the frame of the function, mov %rbp,%rsp takes it away. */
static bool between_pointers(struct decoder *d, unsigned from, unsigned to)
{
    if (in_memory(d) || !(d->rex & 8)) return false;
    bool frame = from == MZ_RSP && to == MZ_RBP, back = from == MZ_RBP && to == MZ_RSP;
    if (!frame && !back) return false;
    d->i.read = d->i.written = 0;
    d->i.copies = false;
    d->i.stack = frame ? MZ_STACK_FRAME : MZ_STACK_LOAD;
    d->i.offset = 0;
    return true;
}

static void store(struct decoder *d, bool byte)
{
    operands(d);
    d->i.read |= general(d, d->reg, byte);
    if (in_memory(d)) {
        d->i.loads = 0;
        d->i.stores = width(d, byte);
        d->i.copies = true;
    } else if (byte || d->small) {
        d->i.read |= general(d, d->rm, byte);
    } else if (!between_pointers(d, d->reg, d->rm)) {
        d->i.copies = true;
        if (d->rm != d->reg) d->i.written = set(d->rm);
    }
}

static void store_immediate(struct decoder *d, bool byte)
{
    operands(d);
    if (d->reg & 7) d->i.known = false; /* xbegin: jumps when the transaction fails */
    if (in_memory(d)) {
        d->i.loads = 0;
        d->i.stores = width(d, byte);
    } else if (byte) {
        d->i.read |= byte_register(d, d->rm);
    } else {
        writes(d, d->rm);
    }
    if (byte)
        d->p += 1;
    else
        skip_immediate(d);
}

static void lea(struct decoder *d)
{
    operands(d);
    d->i.loads = 0;
    if (d->reg == MZ_RSP && d->i.base == MZ_RBP && !d->i.indexed && (d->rex & 8)) {
        d->i.stack = MZ_STACK_LOAD;
        return;
    }
    d->i.names = true;
    if (!(d->rex & 8)) d->i.indexed = true; /* the low half of a pointer */
    writes(d, d->reg);
}

static bool move(struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x63: /* movsxd */
        load(d, false, 4);
        return true;
    case 0x88:
    case 0x89:
        store(d, op == 0x88);
        return true;
    case 0x8a:
        reads_both(d, true);
        return true;
    case 0x8b:
        load(d, false, width(d, false));
        if (!in_memory(d)) between_pointers(d, d->rm, d->reg);
        return true;
    case 0x8d:
        lea(d);
        return true;
    case 0xc6:
    case 0xc7:
        store_immediate(d, op == 0xc6);
        return true;
    default:
        return false;
    }
}

static bool two_operands(struct decoder *d, uint8_t op)
{
    bool multiplies = op == 0x69 || op == 0x6b; /* imul with an immediate; the others: test, xchg */
    if (!multiplies && (op & 0xfc) != 0x84) return false;
    reads_both(d, !(op & 1));
    if (op == 0x69) skip_immediate(d);
    if (op == 0x6b) d->p += 1;
    return true;
}

/* add and sub of an immediate to the stack pointer. */
static void moves_stack(struct decoder *d, uint8_t op)
{
    bool by_constant = (op == 0x81 || op == 0x83) && (d->rex & 8) && ((d->reg & 7) == 0 || (d->reg & 7) == 5);
    if (in_memory(d) || d->rm != MZ_RSP || !by_constant) return;
    int32_t by = op == 0x83 ? (int8_t)*d->p : immediate(d->p);
    d->i.read = 0;
    d->i.stack = MZ_STACK_MOVE;
    d->i.offset = d->reg & 7 ? -by : by;
}

static void indirect(struct decoder *d) /* ff: inc, dec, call, jmp, push */
{
    switch (d->reg & 7) {
    case 0:
    case 1:
        return;
    case 2:
        d->i.loads = in_memory(d) ? 8 : 0;
        d->i.calls = true;
        return;
    case 6:
        d->i.loads = in_memory(d) ? 8 : 0;
        d->i.stack = MZ_STACK_PUSH;
        d->i.known = !d->small;
        return;
    default:
        d->i.known = false;
        d->i.anywhere = (d->reg & 7) == 4;
    }
}

static bool has_one_operand(uint8_t op)
{
    bool arithmetic = op == 0x80 || op == 0x81 || op == 0x83,
         shift = (op & 0xfe) == 0xc0 || (op & 0xfc) == 0xd0;
    return arithmetic || shift ||
           (op & 0xf6) == 0xf6; /* f6, f7: test, not, mul, ...; fe, ff: inc, dec, ... */
}

/* One operand, which is read, and perhaps an immediate. Even opcodes have byte operands. */
static bool one_operand(struct decoder *d, uint8_t op)
{
    if (!has_one_operand(op)) return false;
    operands(d);
    read_rm(d, !(op & 1));
    moves_stack(d, op);
    bool is_test = (d->reg & 7) < 2; /* of f6 and f7 */
    if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || (op == 0xf6 && is_test)) d->p += 1;
    if (op == 0x81 || (op == 0xf7 && is_test)) skip_immediate(d);
    if (op == 0xff) indirect(d);
    bool more = op == 0xd2 || op == 0xd3 || ((op == 0xf6 || op == 0xf7) && (d->reg & 7) > 3);
    if (more) d->i.read |= set(0) | set(1) | set(2); /* shifts, products: read or written */
    return true;
}

static bool flow(struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0xc3:
    case 0xc2:
        d->i.returns = d->i.ends = true;
        d->p += op == 0xc2 ? 2 : 0;
        return true;
    case 0xc9:
        d->i.stack = MZ_STACK_LEAVE;
        d->i.known = !d->small;
        return true;
    case 0xe8: /* call: the callee preserves the registers that survive calls */
        d->i.calls = true;
        d->i.callee = d->p + 4 + immediate(d->p);
        d->p += 4;
        return true;
    case 0xe9:
        jump(d, d->p + 4 + immediate(d->p), true);
        d->p += 4;
        return true;
    case 0xeb:
        jump(d, d->p + 1 + (int8_t)*d->p, true);
        d->p += 1;
        return true;
    default:
        return false;
    }
}

/* Instructions without operands of interest. */
static void rest(struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x90: /* nop, sign extensions, string operations */
    case 0x98:
    case 0x99:
    case 0xa4:
    case 0xa5:
    case 0xaa:
    case 0xab:
        /* registers that are read or written; some instructions use fewer */
        d->i.read = set(0) | set(1) | set(2) | set(6) | set(7);
        break;
    case 0x6a: /* push */
    case 0x68:
        d->i.stack = MZ_STACK_PUSH;
        d->i.known = !d->small;
        d->p += op == 0x6a ? 1 : 4;
        break;
    case 0xa8: /* test al */
        d->p += 1;
        break;
    case 0xa9:
        skip_immediate(d);
        break;
    default:
        d->i.known = op >= 0xd8 && op <= 0xdf; /* floating point */
        if (!d->i.known) return;
        operands(d);
        d->i.read |= set(0);                                                     /* read or written */
        if (in_memory(d) && op == 0xdd && (d->reg & 7) == 4) d->i.known = false; /* frstor: more bytes */
    }
}

static void one_byte(struct decoder *d, uint8_t op)
{
    if (!by_code(d, op) && !move(d, op) && !two_operands(d, op) && !one_operand(d, op) && !flow(d, op))
        rest(d, op);
}

static bool is_vector(uint8_t op)
{
    if (op == 0x78 || op == 0x79 || op == 0xff) return false; /* vmread, vmwrite, extrq, insertq, ud0 */
    return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x50 && op <= 0x7f) ||
           op == 0xc2 || op == 0xc6 || op >= 0xd0;
}

/* How many bytes a vector instruction stores in memory; 0: nothing is known to be overwritten. */
static uint8_t stored_by(const struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x11:
        return d->repeat == 0xf3 ? 4 : d->repeat == 0xf2 ? 8 : 16;
    case 0x29:
        return 16;
    case 0x7f:
        return d->repeat || d->small ? 16 : 8;
    case 0x13:
    case 0x17:
        return 8;
    case 0xd6:
        return d->small ? 8 : 0;
    default:
        return 0;
    }
}

/* Moves between vector and general registers: the general register counts as read. */
static void transfer(struct decoder *d, uint8_t op)
{
    bool to_vector = op == 0x2a || op == 0x6e || (op == 0x7e && d->repeat != 0xf3);
    bool from_vector = op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7;
    if (to_vector && !in_memory(d)) d->i.read |= set(d->rm);
    if (from_vector) d->i.read |= set(d->reg);
}

static void vector(struct decoder *d, uint8_t op)
{
    operands(d);
    transfer(d, op);
    if ((op >= 0x70 && op <= 0x73) || op == 0xc2 || op == 0xc6) d->p += 1;
    if (!in_memory(d)) return;
    d->i.stores = stored_by(d, op);
    if (d->i.stores) d->i.loads = 0;
}

static bool two_bytes_vector(struct decoder *d, uint8_t op)
{
    if (op == 0x77) return true; /* emms: no operands */
    if (!is_vector(op)) return false;
    vector(d, op);
    return true;
}

static bool conditional(struct decoder *d, uint8_t op)
{
    if (op >= 0x80 && op <= 0x8f) { /* jcc */
        jump(d, d->p + 4 + immediate(d->p), false);
        d->p += 4;
    } else if (op >= 0x40 && op <= 0x4f) { /* cmov */
        reads_both(d, false);
    } else if (op >= 0x90 && op <= 0x9f) { /* setcc */
        operands(d);
        if (in_memory(d))
            d->i.loads = 0, d->i.stores = 1;
        else
            d->i.read |= byte_register(d, d->rm);
    } else {
        return false;
    }
    return true;
}

/* 0f ae: fences, ldmxcsr and stmxcsr are known. The others load or store more bytes, or use a general register
 * (wrfsbase, incssp, umonitor). */
static void state_or_fence(struct decoder *d)
{
    operands(d);
    unsigned reg = d->reg & 7;
    d->i.known = in_memory(d) ? reg == 2 || reg == 3 : reg >= 5 && !d->repeat && !d->small && !d->rex;
}

/* Hints and nops: they do not access their operand. Exception: rdssp writes a register. */
static void hint(struct decoder *d, uint8_t op)
{
    operands(d);
    d->i.loads = 0;
    if (op == 0x1e && d->repeat && !in_memory(d) && (d->reg & 7) == 1) d->i.known = false;
}

static void two_bytes_rest(struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x0b: /* ud2: the program crashes */
        d->i.ends = true;
        break;
    case 0xb6: /* movzx, movsx */
    case 0xbe:
        load(d, true, 1);
        break;
    case 0xb7:
    case 0xbf:
        load(d, false, 2);
        break;
    case 0x0d:
    case 0x18:
    case 0x1e:
    case 0x1f:
        hint(d, op);
        break;
    case 0xae:
        state_or_fence(d);
        break;
    case 0xa3: /* bt, bts, btr, btc: the bit may lie far beyond the operand */
    case 0xab:
    case 0xb3:
    case 0xbb:
        reads_both(d, false);
        if (in_memory(d)) d->i.indexed = true;
        break;
    case 0xa5:
    case 0xad:
    case 0xaf:
    case 0xbc:
    case 0xbd:
        reads_both(d, false);
        break;
    case 0xa4:
    case 0xac:
        reads_both(d, false);
        d->p += 1;
        break;
    case 0xba:
        operands(d);
        read_rm(d, false);
        d->p += 1;
        break;
    default:
        if (op >= 0xc8 && op <= 0xcf) /* bswap */
            d->i.read = set((op & 7u) | (d->rex & 1u) << 3);
        else
            d->i.known = false;
    }
}

static void two_bytes(struct decoder *d)
{
    uint8_t op = *d->p++;
    if (!conditional(d, op) && !two_bytes_vector(d, op)) two_bytes_rest(d, op);
}

static void prefixes(struct decoder *d)
{
    for (;; d->p++) {
        uint8_t p = *d->p;
        if (p == 0x66)
            d->small = true;
        else if (p == 0xf2 || p == 0xf3)
            d->repeat = p;
        else if (p == 0x64 || p == 0x65)
            d->segment = true;
        else if (p != 0x2e && p != 0x3e)
            break;
    }
    if ((*d->p & 0xf0) == 0x40) d->rex = *d->p++;
    if (d->rex & 8) d->small = false;
}

struct mz_instruction mz_decode(const uint8_t *p)
{
    struct decoder d = {.p = p, .i = {.known = true, .base = MZ_NO_BASE}};
    prefixes(&d);
    uint8_t op = *d.p++;
    if (op == 0x0f)
        two_bytes(&d);
    else
        one_byte(&d, op);
    d.i.written &= ~(d.i.read | d.i.address);
    d.i.next = d.p;
    return d.i;
}
