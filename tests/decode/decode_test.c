/* Compares the decoder of the runtime (runtime/state/decode.c) with Zydis, instruction by instruction.
 *
 *   build/mz-decode-test FILE...     the section .text of ELF files, and generated encodings
 *
 * The decoder may know less than Zydis: an instruction that is not `known` makes liveness.c answer "alive". What the
 * decoder does claim must be true or careful:
 *
 *   - the length is right, also of an indirect jump (`anywhere`), as function.c decodes on behind it;
 *   - every register that is read and survives calls is in `read` or `address`; a register that is written in part, or
 *     only sometimes, counts as read;
 *   - `written` names only registers that are overwritten as a whole in any case;
 *   - `loads` is not less, `stores` is not more than what the instruction loads and stores; base and offset are right;
 *   - rsp and rbp change only as `stack` says, or are named in `read` or `written`;
 *   - jumps, calls and returns are what they are.
 *
 * The generated encodings are all opcodes of one byte and of two bytes (0f ..) with all ModRM bytes and a choice of
 * prefixes and SIB bytes, most of which no compiler emits. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "runtime/state/decode.h"
#include "runtime/state/liveness.h"

#define BIT(r)   (1u << (r))
#define POINTERS (BIT(MZ_RSP) | BIT(MZ_RBP))
#define MATTERS  (MZ_SURVIVING | POINTERS)
#define READS    (ZYDIS_OPERAND_ACTION_MASK_READ)
#define WRITES   (ZYDIS_OPERAND_ACTION_MASK_WRITE)

void *mz_raw_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }

struct facts { /* what Zydis says of the instruction */
    const uint8_t *at;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    uint32_t read, touched, overwritten; /* registers; touched: written, perhaps in part */
    const ZydisDecodedOperand *memory;   /* the operand that the encoding names, or NULL */
    bool names;                          /* it is only an address (lea) */
};

static struct {
    ZydisDecoder decoder;
    unsigned long instructions, known, wrong;
} test;

/* ---- what Zydis says ---- */

/* As a bit; 0: not a general register. */
static uint32_t general(ZydisRegister r)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    bool is = whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15;
    return is ? BIT((unsigned)ZydisRegisterGetId(whole)) : 0;
}

static void add_register(struct facts *f, const ZydisDecodedOperand *o)
{
    uint32_t r = general(o->reg.value);
    bool whole = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) >= 32;
    if (o->actions & READS) f->read |= r;
    if (!(o->actions & WRITES)) return;
    f->touched |= r;
    if (whole && (o->actions & ZYDIS_OPERAND_ACTION_WRITE))
        f->overwritten |= r;
    else
        f->read |= r;
}

/* xor and sub of a register and itself: the result does not depend on the register. */
static bool is_zero_idiom(const struct facts *f)
{
    bool clears = f->z.mnemonic == ZYDIS_MNEMONIC_XOR || f->z.mnemonic == ZYDIS_MNEMONIC_SUB;
    return clears && f->o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           f->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && f->o[0].reg.value == f->o[1].reg.value &&
           f->o[0].size >= 32;
}

static bool get_facts(struct facts *f, const uint8_t *p, size_t size)
{
    *f = (struct facts){.at = p};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&test.decoder, p, size, &f->z, f->o))) return false;
    for (unsigned k = 0; k < f->z.operand_count; k++) {
        const ZydisDecodedOperand *o = &f->o[k];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(f, o);
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
        if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || o->encoding == ZYDIS_OPERAND_ENCODING_NONE)
            f->read |= general(o->mem.base);
        else
            f->memory = o;
    }
    f->names = f->memory && f->memory->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    if (is_zero_idiom(f)) f->read = 0;
    f->overwritten &= ~f->read;
    return true;
}

static bool is_register(const ZydisDecodedOperand *o, ZydisRegister r)
{
    return o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == r;
}

/* ---- the stack ---- */

static bool moves_by(const struct facts *f, int32_t offset)
{
    bool adds = f->z.mnemonic == ZYDIS_MNEMONIC_ADD, subtracts = f->z.mnemonic == ZYDIS_MNEMONIC_SUB;
    if (!adds && !subtracts) return false;
    if (!is_register(&f->o[0], ZYDIS_REGISTER_RSP) || f->o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    return f->o[1].imm.value.s == (adds ? offset : -(int64_t)offset);
}

static bool loads_stack(const struct facts *f, int32_t offset)
{
    if (!is_register(&f->o[0], ZYDIS_REGISTER_RSP)) return false;
    if (f->z.mnemonic == ZYDIS_MNEMONIC_MOV) return is_register(&f->o[1], ZYDIS_REGISTER_RBP) && !offset;
    return f->z.mnemonic == ZYDIS_MNEMONIC_LEA && f->o[1].mem.base == ZYDIS_REGISTER_RBP &&
           f->o[1].mem.index == ZYDIS_REGISTER_NONE && f->o[1].mem.disp.value == offset;
}

/* Is the change of the stack the one that the instruction makes? */
static bool stack_is_right(const struct facts *f, const struct mz_instruction *i)
{
    switch (i->stack) {
    case MZ_STACK_SAME:
        return true;
    case MZ_STACK_PUSH:
        return f->z.mnemonic == ZYDIS_MNEMONIC_PUSH && f->z.operand_width == 64;
    case MZ_STACK_POP:
        return f->z.mnemonic == ZYDIS_MNEMONIC_POP && f->z.operand_width == 64 && !f->memory;
    case MZ_STACK_MOVE:
        return moves_by(f, i->offset);
    case MZ_STACK_LOAD:
        return loads_stack(f, i->offset);
    case MZ_STACK_FRAME:
        return f->z.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&f->o[0], ZYDIS_REGISTER_RBP) &&
               is_register(&f->o[1], ZYDIS_REGISTER_RSP);
    default:
        return f->z.mnemonic == ZYDIS_MNEMONIC_LEAVE && f->z.operand_width == 64;
    }
}

/* The pointers that may change or be read without being named: `stack` says how, or a call and its return cancel out. */
static uint32_t excused(const struct facts *f, const struct mz_instruction *i)
{
    bool balanced = f->z.meta.category == ZYDIS_CATEGORY_CALL || f->z.meta.category == ZYDIS_CATEGORY_RET;
    switch (i->stack) {
    case MZ_STACK_SAME:
        return balanced && !(f->memory && general(f->memory->mem.base) & BIT(MZ_RSP)) ? BIT(MZ_RSP) : 0;
    case MZ_STACK_PUSH:
    case MZ_STACK_POP:
    case MZ_STACK_MOVE:
        return BIT(MZ_RSP);
    default:
        return POINTERS;
    }
}

/* ---- registers ---- */

/* The instruction names an operand and does not access it. */
static bool is_hint(const struct facts *f)
{
    return f->z.meta.category == ZYDIS_CATEGORY_NOP || f->z.meta.category == ZYDIS_CATEGORY_WIDENOP ||
           f->z.meta.category == ZYDIS_CATEGORY_PREFETCH || f->z.mnemonic == ZYDIS_MNEMONIC_PREFETCHWT1;
}

static const char *compare_registers(const struct facts *f, const struct mz_instruction *i)
{
    uint32_t named = i->read | i->address | excused(f, i);
    if (!is_hint(f) && f->read & MATTERS & ~named) return "a register is read";
    if (i->written & ~POINTERS & ~f->overwritten) return "a register is not overwritten";
    if (f->touched & POINTERS & ~(named | i->written)) return "rsp or rbp changes";
    return NULL;
}

/* What `copies` reads may be forgotten when what it writes is dead: so all it writes must be known. */
static const char *compare_copy(const struct facts *f, const struct mz_instruction *i)
{
    const ZydisDecodedOperand *to = &f->o[0];
    if (!i->copies) return NULL;
    switch (f->z.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        return i->stack == MZ_STACK_PUSH ? NULL : "no copy";
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        break;
    default:
        return "no copy";
    }
    if (to->type == ZYDIS_OPERAND_TYPE_MEMORY) return i->stores ? NULL : "a copy to an unknown place";
    uint32_t reg = general(to->reg.value);
    bool onto_itself = f->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && general(f->o[1].reg.value) == reg;
    bool from_itself = f->memory && (general(f->memory->mem.base) | general(f->memory->mem.index)) & reg;
    if (to->size < 32 || !reg) return "a copy to a part of a register";
    return i->written == reg || onto_itself || from_itself ? NULL : "a copy to an unknown register";
}

/* ---- memory ---- */

static bool has_segment(const ZydisDecodedOperand *m)
{
    return m->mem.segment == ZYDIS_REGISTER_FS || m->mem.segment == ZYDIS_REGISTER_GS;
}

static const char *compare_address(const ZydisDecodedOperand *m, const struct mz_instruction *i)
{
    uint32_t base = general(m->mem.base), index = general(m->mem.index);
    if ((base | index) & ~i->address && i->stack != MZ_STACK_LOAD)
        return "an operand's address needs a register";
    if (i->base == MZ_NO_BASE)
        return NULL; /* then it is nowhere in the frame; function.c looks at `address` */
    if (has_segment(m) || base != BIT(i->base)) return "base";
    if (i->offset != m->mem.disp.value) return "offset";
    return index && !i->indexed ? "index" : NULL;
}

static bool reaches_far(const struct facts *f) /* the bit may lie far beyond the operand */
{
    bool bits = f->z.mnemonic == ZYDIS_MNEMONIC_BT || f->z.mnemonic == ZYDIS_MNEMONIC_BTS ||
                f->z.mnemonic == ZYDIS_MNEMONIC_BTR || f->z.mnemonic == ZYDIS_MNEMONIC_BTC;
    return bits && f->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static const char *compare_memory(const struct facts *f, const struct mz_instruction *i)
{
    const ZydisDecodedOperand *m = f->memory;
    if (!m) return i->stores ? "nothing is stored" : NULL;
    const char *wrong = compare_address(m, i);
    if (wrong) return wrong;
    if (f->names) return i->names || i->stack == MZ_STACK_LOAD ? i->stores ? "stores" : NULL : "names";
    if (m->actions & READS && !is_hint(f) && 8u * i->loads < m->size) return "loads";
    if (i->stores && (!(m->actions & ZYDIS_OPERAND_ACTION_WRITE) || 8u * i->stores > m->size))
        return "stores";
    return reaches_far(f) && !i->indexed ? "reaches beyond the operand" : NULL;
}

/* ---- control flow ---- */

static const char *compare_jump(const struct facts *f, const struct mz_instruction *i, bool always)
{
    ZyanU64 target = 0;
    ZydisCalcAbsoluteAddress(&f->z, &f->o[0], (uintptr_t)f->at, &target);
    if ((uintptr_t)i->target != target) return "target";
    return i->ends && !always ? "goes on" : NULL;
}

static const char *compare_flow(const struct facts *f, const struct mz_instruction *i)
{
    ZydisMnemonic m = f->z.mnemonic;
    switch (f->z.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return compare_jump(f, i, false);
    case ZYDIS_CATEGORY_UNCOND_BR:
        return compare_jump(f, i, true);
    case ZYDIS_CATEGORY_CALL:
        return i->calls && !i->ends && !i->target ? NULL : "call";
    case ZYDIS_CATEGORY_RET:
        return i->returns && i->ends ? NULL : "return";
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        return "may do anything";
    default:
        if (i->calls || i->returns || i->target) return "neither jump nor call";
        return i->ends && m != ZYDIS_MNEMONIC_UD0 && m != ZYDIS_MNEMONIC_UD1 && m != ZYDIS_MNEMONIC_UD2
                   ? "goes on"
                   : NULL;
    }
}

/* ---- instructions ---- */

static const char *compare(const struct facts *f, const struct mz_instruction *i)
{
    const char *wrong = NULL;
    if (!i->known && !i->anywhere) return NULL;
    if (i->next != f->at + f->z.length) return "length";
    if (!i->known) return f->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR ? NULL : "no jump";
    if (!stack_is_right(f, i)) return "stack";
    if (!(wrong = compare_registers(f, i)) && !(wrong = compare_copy(f, i)) &&
        !(wrong = compare_memory(f, i)))
        wrong = compare_flow(f, i);
    return wrong;
}

static void complain(const struct facts *f, const char *where, const char *what)
{
    if (++test.wrong > 40) return;
    printf("FAIL %s: %s: %s:", where, ZydisMnemonicGetString(f->z.mnemonic), what);
    for (unsigned k = 0; k < f->z.length; k++) printf(" %02x", f->at[k]);
    printf("\n");
}

/* Returns the length. */
static size_t look_at(const uint8_t *p, size_t size, const char *where)
{
    struct facts f;
    if (!get_facts(&f, p, size)) return 0;
    struct mz_instruction i = mz_decode(p);
    const char *wrong = compare(&f, &i);
    test.instructions++;
    test.known += i.known || i.anywhere;
    if (wrong) complain(&f, where, wrong);
    return f.z.length;
}

/* ---- files ---- */

/* The decoder may read some bytes beyond an instruction that it does not know: leave room for them at the end. */
enum { LONGEST = 16 };

static void sweep(const uint8_t *p, size_t size, const char *where)
{
    size_t n = 0;
    while (n + LONGEST < size) {
        size_t length = look_at(p + n, size - n, where);
        n += length ? length : 1;
    }
}

static bool sweep_text(const uint8_t *file, size_t size, const char *path)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)file;
    if (size < sizeof *e || memcmp(file, ELFMAG, SELFMAG) != 0 || e->e_machine != EM_X86_64) return false;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(file + e->e_shoff);
    const char *names = (const char *)file + s[e->e_shstrndx].sh_offset;
    for (unsigned k = 0; k < e->e_shnum; k++) {
        if (strcmp(names + s[k].sh_name, ".text") != 0) continue;
        sweep(file + s[k].sh_offset, s[k].sh_size, path);
        return true;
    }
    return false;
}

static bool sweep_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0) return false;
    uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) return false;
    bool done = sweep_text(file, (size_t)st.st_size, path);
    munmap(file, (size_t)st.st_size);
    return done;
}

/* ---- generated encodings ---- */

static const char *const prefixes[] = {"",         "\x66",         "\xf2", "\xf3", "\x64",
                                       "\x66\xf2", "\x66\xf3",     "\x48", "\x41", "\x66\x48",
                                       "\xf3\x4f", "\x66\xf2\x44", "\x67", "\xf0"};
static const uint8_t scaled[] = {0x24, 0x1d, 0x65,
                                 0xec}; /* SIB bytes: rsp; rbx, none; base rbp; index and base r12 */

static void generate_operands(uint8_t *p, size_t n)
{
    static const uint8_t tail[] = {0x88, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 0x20, 0, 0, 0};
    for (unsigned modrm = 0; modrm < 256; modrm++)
        for (unsigned s = 0; s < sizeof scaled; s++) {
            bool has_sib = (modrm & 7) == 4 && modrm < 0xc0;
            if (s && !has_sib) break;
            p[n] = (uint8_t)modrm;
            p[n + 1] = has_sib ? scaled[s] : tail[0];
            memcpy(p + n + 2, tail, sizeof tail);
            look_at(p, n + 2 + sizeof tail, "generated");
        }
}

static void generate(void)
{
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        for (unsigned op = 0; op < 512; op++) {
            uint8_t p[32] = {0};
            size_t n = strlen(prefixes[k]);
            memcpy(p, prefixes[k], n);
            if (op >= 256) p[n++] = 0x0f;
            p[n++] = (uint8_t)op;
            generate_operands(p, n);
        }
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    ZydisDecoderInit(&test.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (int k = 0; k < argc; k++) {
        test.instructions = test.known = test.wrong = 0;
        bool done = k ? sweep_file(argv[k]) : (generate(), true);
        /* A decoder that knows nothing is never wrong: most of what compilers emit must be known. */
        bool enough = !k || 10 * test.known > 8 * test.instructions;
        bool good = done && enough && !test.wrong;
        printf("%s %s: %lu instructions, %lu known, %lu wrong\n", good ? "ok" : "FAIL",
               k ? argv[k] : "generated", test.instructions, test.known, test.wrong);
        if (good)
            passed++;
        else
            failed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
