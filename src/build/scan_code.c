/* The machine code of one function: see scan_code.h.
 *
 * It reads the instructions in their order in memory. A register holds an address of the function's own stack if the
 * last instruction that wrote it made such an address (lea, mov, add of such a register); compilers do this for
 * local arrays. An access counts as shared unless its address is based on rsp, rbp or such a register, or is
 * constant. */
#include "build/scan_code.h"

#ifdef MZ_ZYDIS
#include <Zydis/Zydis.h>

struct scan {
    bool on_stack[ZYDIS_REGISTER_MAX_VALUE + 1]; /* by the largest register that encloses it */
    bool (*is_constant)(void *data, uint64_t address);
    void *data;
    uint64_t at;
};

static ZydisRegister whole(ZydisRegister r)
{
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

static bool is_shared(const struct scan *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    ZyanU64 address;
    if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN) return false;
    if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
        return false; /* its own */
    if (i->meta.category == ZYDIS_CATEGORY_NOP || i->meta.category == ZYDIS_CATEGORY_WIDENOP) return false;
    if (s->on_stack[whole(o->mem.base)]) return false;
    bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (!writes && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(i, o, s->at, &address)))
        return !s->is_constant(s->data, address);
    return true;
}

/* Which register does the instruction write, and does the register then point into the stack? */
static void follow(struct scan *s, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    for (unsigned k = 0; k < i->operand_count; k++) {
        if (o[k].type != ZYDIS_OPERAND_TYPE_REGISTER || !(o[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        ZydisRegister to = whole(o[k].reg.value);
        if (to == ZYDIS_REGISTER_RSP) continue;
        bool from_stack = false;
        if (i->mnemonic == ZYDIS_MNEMONIC_LEA) from_stack = s->on_stack[whole(o[1].mem.base)];
        if (i->mnemonic == ZYDIS_MNEMONIC_MOV && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            from_stack = s->on_stack[whole(o[1].reg.value)];
        if (i->mnemonic == ZYDIS_MNEMONIC_ADD || i->mnemonic == ZYDIS_MNEMONIC_SUB ||
            i->mnemonic == ZYDIS_MNEMONIC_INC || i->mnemonic == ZYDIS_MNEMONIC_DEC ||
            i->mnemonic == ZYDIS_MNEMONIC_AND)
            from_stack = s->on_stack[to];
        s->on_stack[to] = from_stack;
    }
}

bool mz_scan_code(const uint8_t *code, size_t size, uint64_t address,
                  bool (*is_constant)(void *data, uint64_t address), void *data)
{
    struct scan s = {.is_constant = is_constant, .data = data, .at = address};
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    s.on_stack[ZYDIS_REGISTER_RSP] = true;
    while (size) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &i, operands))) return true;
        for (unsigned k = 0; k < i.operand_count; k++)
            if (is_shared(&s, &i, &operands[k])) return true;
        follow(&s, &i, operands);
        code += i.length;
        s.at += i.length;
        size -= i.length;
    }
    return false;
}

#else

bool mz_scan_code(const uint8_t *code, size_t size, uint64_t address,
                  bool (*is_constant)(void *data, uint64_t address), void *data)
{
    (void)code, (void)size, (void)address, (void)is_constant, (void)data;
    return true;
}

#endif
