/* Which of the registers that survive calls still matter where the program has called us?
 *
 * A compiler leaves old values in registers that it will not read again. They would tell states apart that
 * are the same (state.c). So the code after the call is read, all ways that it can go: a register that is
 * overwritten on each of them before it is read is dead. Whatever is not understood counts as a read, and so
 * does the return from the function: the answer "live" is always right.
 *
 * Only the instructions that compilers make of C are known. Where functions can be left in other ways than by
 * returning (exceptions, longjmp), nothing is said to be dead. */
#include "runtime.h"

#define CACHE 4096u
#define PATHS 64u
#define MOST  512u /* instructions looked at */

enum { RBX = 3, RBP = 5, R12 = 12, R15 = 15 };
#define ALL 0xf008u /* rbx, r12 to r15 */

struct instruction {
    const uint8_t *next, *target; /* target: of a jump, or NULL */
    uint32_t read, written;       /* sets of registers; written: without having been read */
    bool ends;                    /* does not go on to the next one */
    bool known;
};

struct decoder {
    const uint8_t *p;
    uint8_t rex;
    bool small; /* prefix 66: 16 bits */
    uint8_t mod, reg, rm;
    uint32_t address; /* registers that the operand in memory is made of */
};

static uint32_t set(unsigned reg) { return 1u << reg; }

static int32_t immediate(const uint8_t *p)
{
    int32_t value;
    mz_raw_memcpy(&value, p, sizeof value);
    return value;
}

/* ModRM, SIB and displacement. */
static void operands(struct decoder *d)
{
    uint8_t m = *d->p++;
    d->mod = m >> 6;
    d->reg = (uint8_t)((m >> 3 & 7) | (d->rex & 4) << 1);
    d->rm = (uint8_t)((m & 7) | (d->rex & 1) << 3);
    d->address = 0;
    if (d->mod == 3) return;
    if ((m & 7) == 4) {
        uint8_t s = *d->p++, base = s & 7, index = (uint8_t)((s >> 3 & 7) | (d->rex & 2) << 2);
        if (index != 4) d->address |= set(index);
        if (base == 5 && d->mod == 0)
            d->p += 4;
        else
            d->address |= set(base | (d->rex & 1u) << 3);
    } else if ((m & 7) == 5 && d->mod == 0) {
        d->p += 4; /* relative to the instruction pointer */
    } else {
        d->address |= set(d->rm);
    }
    d->p += d->mod == 1 ? 1 : d->mod == 2 ? 4 : 0;
}

/* A byte register without REX: 4 to 7 are the second bytes of the first four. */
static uint32_t byte_register(const struct decoder *d, unsigned reg)
{
    return set(reg) | (!d->rex && reg >= 4 && reg < 8 ? set(reg - 4) : 0);
}

static uint32_t rm_set(const struct decoder *d, bool byte)
{
    if (d->mod != 3) return d->address;
    return byte ? byte_register(d, d->rm) : set(d->rm);
}

/* Both operands are read, and what is written is not more. */
static void reads_both(struct instruction *i, struct decoder *d, bool byte)
{
    operands(d);
    i->read = rm_set(d, byte) | (byte ? byte_register(d, d->reg) : set(d->reg));
}

/* The register operand is overwritten, if all of it is. */
static void writes_reg(struct instruction *i, struct decoder *d, bool byte_source)
{
    operands(d);
    i->read = rm_set(d, byte_source);
    if (d->small)
        i->read |= set(d->reg);
    else
        i->written = set(d->reg);
}

static bool is_alu(uint8_t op) { return op < 0x40 && (op & 7) < 6; }

static void alu(struct instruction *i, struct decoder *d, uint8_t op)
{
    if ((op & 7) == 4) {
        d->p += 1;
    } else if ((op & 7) == 5) {
        d->p += d->small ? 2 : 4;
    } else {
        reads_both(i, d, !(op & 1));
        bool clears = (op & 0xf8) == 0x30 || (op & 0xf8) == 0x28; /* xor, sub */
        if (clears && (op & 1) && d->mod == 3 && d->rm == d->reg && !d->small)
            i->read = 0, i->written = set(d->reg);
    }
}

static void jump(struct instruction *i, const uint8_t *target, bool always)
{
    i->target = target;
    i->ends = always;
}

/* An immediate of the size of the operands, but never of 64 bits. */
static void skip_immediate(struct decoder *d) { d->p += d->small ? 2 : 4; }

/* All of a register is overwritten, or a part of it. */
static void writes(struct instruction *i, const struct decoder *d, unsigned reg)
{
    if (d->small)
        i->read = set(reg);
    else
        i->written = set(reg);
}

/* The register, or the condition, is part of the operation's code. Each of these says whether it was one of
 * its own. */
static bool by_code(struct instruction *i, struct decoder *d, uint8_t op)
{
    unsigned low = (op & 7u) | (d->rex & 1u) << 3;
    if (is_alu(op)) {
        alu(i, d, op);
    } else if (op >= 0x50 && op <= 0x57) { /* push */
        i->read = set(low);
    } else if (op >= 0x58 && op <= 0x5f) { /* pop */
        writes(i, d, low);
    } else if (op >= 0x70 && op <= 0x7f) { /* jcc */
        jump(i, d->p + 1 + (int8_t)*d->p, false);
        d->p += 1;
    } else if (op >= 0xb0 && op <= 0xb7) { /* mov byte */
        i->read = byte_register(d, low);
        d->p += 1;
    } else if (op >= 0xb8 && op <= 0xbf) { /* mov */
        writes(i, d, low);
        d->p += d->rex & 8 ? 8 : d->small ? 2 : 4;
    } else {
        return false;
    }
    return true;
}

static bool move(struct instruction *i, struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x63: /* movsxd */
    case 0x8b:
    case 0x8d: /* lea */
        writes_reg(i, d, false);
        return true;
    case 0x89:
        operands(d);
        i->read = set(d->reg) | d->address;
        if (d->mod == 3 && d->small) i->read |= set(d->rm);
        if (d->mod == 3 && !d->small && d->rm != d->reg) i->written = set(d->rm);
        return true;
    case 0xc7:
        operands(d);
        if (d->reg & 7) i->known = false; /* xbegin: jumps when it fails */
        i->read = d->mod == 3 && !d->small ? 0 : rm_set(d, false);
        if (d->mod == 3 && !d->small) i->written = set(d->rm);
        skip_immediate(d);
        return true;
    default:
        return false;
    }
}

static bool two_operands(struct instruction *i, struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x84: /* test, xchg, mov byte */
    case 0x86:
    case 0x88:
    case 0x8a:
        reads_both(i, d, true);
        return true;
    case 0x85:
    case 0x87:
        reads_both(i, d, false);
        return true;
    case 0x69: /* imul */
        reads_both(i, d, false);
        skip_immediate(d);
        return true;
    case 0x6b:
        reads_both(i, d, false);
        d->p += 1;
        return true;
    default:
        return false;
    }
}

/* One operand, which is read, and perhaps an immediate. Even codes are for bytes. */
static bool one_operand(struct instruction *i, struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x80: /* arithmetic */
    case 0x81:
    case 0x83:
    case 0xc0: /* shifts */
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xc6: /* mov byte */
    case 0xf6: /* test, not, mul, ... */
    case 0xf7:
    case 0xfe: /* inc, dec, call, jmp, push */
    case 0xff:
        break;
    default:
        return false;
    }
    operands(d);
    i->read = rm_set(d, !(op & 1));
    bool is_test = (d->reg & 7) < 2; /* of f6 and f7 */
    if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 || (op == 0xf6 && is_test))
        d->p += 1;
    if (op == 0x81 || (op == 0xf7 && is_test)) skip_immediate(d);
    if (op == 0xff && (d->reg & 7) > 2 && (d->reg & 7) != 6) i->known = false; /* jumps, far calls */
    return true;
}

/* Those without operands of interest. Of `ret`, among others, nothing is known: the registers are the
 * caller's. */
static void rest(struct instruction *i, struct decoder *d, uint8_t op)
{
    switch (op) {
    case 0x90: /* nop, sign extensions, string operations */
    case 0x98:
    case 0x99:
    case 0xa4:
    case 0xa5:
    case 0xaa:
    case 0xab:
        break;
    case 0x6a: /* push */
    case 0xa8: /* test al */
        d->p += 1;
        break;
    case 0x68:
    case 0xa9:
        skip_immediate(d);
        break;
    case 0xe8: /* call: what it calls leaves these registers alone */
        d->p += 4;
        break;
    case 0xe9:
        jump(i, d->p + 4 + immediate(d->p), true);
        d->p += 4;
        break;
    case 0xeb:
        jump(i, d->p + 1 + (int8_t)*d->p, true);
        d->p += 1;
        break;
    default:
        i->known = false;
    }
}

static void one_byte(struct instruction *i, struct decoder *d, uint8_t op)
{
    if (!by_code(i, d, op) && !move(i, d, op) && !two_operands(i, d, op) && !one_operand(i, d, op))
        rest(i, d, op);
}

static bool is_vector(uint8_t op)
{
    return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x50 && op <= 0x7f) ||
           op == 0xc2 || op == 0xc6 || op >= 0xd0;
}

/* Between vector and general registers, or general ones only by their numbers. */
static bool is_transfer(uint8_t op)
{
    return op == 0x2a || op == 0x2c || op == 0x2d || op == 0x50 || op == 0x6e || op == 0x7e || op == 0xd7;
}

static void two_bytes(struct instruction *i, struct decoder *d)
{
    uint8_t op = *d->p++;
    if (op >= 0x80 && op <= 0x8f) { /* jcc */
        jump(i, d->p + 4 + immediate(d->p), false);
        d->p += 4;
    } else if (op == 0x0b) { /* ud2: it ends here */
        i->ends = true;
    } else if (op == 0x77) { /* emms: no operands */
    } else if (is_vector(op)) {
        operands(d);
        i->read = d->address;
        if (is_transfer(op)) i->read |= set(d->reg) | set(d->rm);
        if ((op >= 0x70 && op <= 0x73) || op == 0xc2 || op == 0xc6) d->p += 1;
    } else if (op >= 0x40 && op <= 0x4f) { /* cmov */
        reads_both(i, d, false);
    } else if (op >= 0x90 && op <= 0x9f) { /* setcc */
        operands(d);
        i->read = rm_set(d, true);
    } else if (op >= 0xc8 && op <= 0xcf) { /* bswap */
        i->read = set((op & 7u) | (d->rex & 1u) << 3);
    } else {
        switch (op) {
        case 0xb6: /* movzx, movsx */
        case 0xbe:
            writes_reg(i, d, true);
            break;
        case 0xb7:
        case 0xbf:
            writes_reg(i, d, false);
            break;
        case 0x18: /* hints and nops */
        case 0x1e:
        case 0x1f:
            operands(d);
            i->read = d->address;
            break;
        case 0xa3:
        case 0xa5:
        case 0xab:
        case 0xad:
        case 0xaf:
        case 0xb3:
        case 0xbb:
        case 0xbc:
        case 0xbd:
            reads_both(i, d, false);
            break;
        case 0xa4:
        case 0xac:
        case 0xba:
            reads_both(i, d, false);
            d->p += 1;
            break;
        default:
            i->known = false;
        }
    }
}

static struct instruction decode(const uint8_t *p)
{
    struct instruction i = {.known = true};
    struct decoder d = {.p = p};
    for (;; d.p++) {
        if (*d.p == 0x66)
            d.small = true;
        else if (*d.p != 0xf2 && *d.p != 0xf3 && *d.p != 0x2e && *d.p != 0x3e)
            break;
    }
    if ((*d.p & 0xf0) == 0x40) d.rex = *d.p++;
    if (d.rex & 8) d.small = false;
    uint8_t op = *d.p++;
    if (op == 0x0f)
        two_bytes(&i, &d);
    else
        one_byte(&i, &d, op);
    i.written &= ~i.read;
    i.next = d.p;
    return i;
}

struct path {
    const uint8_t *at;
    uint32_t open; /* registers that have been neither read nor overwritten on the way */
};

static bool is_seen(const struct path *seen, unsigned count, const struct path *p)
{
    for (unsigned i = 0; i < count; i++)
        if (seen[i].at == p->at && !(p->open & ~seen[i].open)) return true;
    return false;
}

static uint32_t live_after(const uint8_t *pc)
{
    static struct path todo[PATHS], seen[PATHS * 4];
    unsigned todo_count = 1, seen_count = 0, instructions = 0;
    uint32_t live = 0;
    todo[0] = (struct path){pc, ALL};
    while (todo_count) {
        struct path p = todo[--todo_count];
        if (is_seen(seen, seen_count, &p)) continue;
        if (seen_count == PATHS * 4) return ALL;
        seen[seen_count++] = p;
        for (bool ends = false; !ends && (p.open & ~live);) {
            if (++instructions > MOST || !mz_is_instrumented((uintptr_t)p.at)) return ALL;
            struct instruction i = decode(p.at);
            if (!i.known) {
                live |= p.open;
                break;
            }
            live |= p.open & i.read;
            p.open &= ~(i.read | i.written);
            if (i.target) {
                if (todo_count == PATHS) return ALL;
                todo[todo_count++] = (struct path){i.target, p.open};
            }
            ends = i.ends;
            p.at = i.next;
        }
    }
    return live;
}

/* Bit n: the register with the number n matters to the code that we return to at pc. Of rbx, r12 to r15. */
uint32_t mz_live_registers(const void *pc)
{
    static struct {
        const void *pc;
        uint32_t live;
    } cache[CACHE];
    uint32_t i = (uint32_t)((uintptr_t)pc * 0x9e3779b97f4a7c15ull >> 52);
    if (rt.unwinds || !mz_is_instrumented((uintptr_t)pc)) return ALL;
    if (mz_likely(cache[i].pc == pc)) return cache[i].live;
    cache[i].pc = pc;
    return cache[i].live = live_after(pc);
}
