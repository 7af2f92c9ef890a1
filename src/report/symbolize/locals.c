/* Variables on the stack: see locals.h. Only certain answers: functions whose frame lies in the usual way below the
 * saved frame pointer, and variables with a fixed place in it. */
#include "report/symbolize/locals.h"

#include <dwarf.h>
#include <stdlib.h>

#define FRAME_POINTER 6 /* DWARF's number of rbp */

/* Is the canonical frame address where a walk along frame pointers takes it to be: at rbp + 16? */
static bool has_usual_frame(Dwfl_Module *module, Dwarf_Addr pc)
{
    Dwarf_Addr bias;
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0) return false;
    bool usual = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
                 ((ops[0].atom == DW_OP_bregx && ops[0].number == FRAME_POINTER && ops[0].number2 == 16) ||
                  (ops[0].atom == DW_OP_breg0 + FRAME_POINTER && ops[0].number == 16));
    free(frame);
    return usual;
}

/* What DW_OP_fbreg counts from. */
static bool frame_base(Dwarf_Die *function, Dwarf_Addr pc, uint64_t cfa, uint64_t *base)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &a)) return false;
    if (dwarf_getlocation_addr(&a, pc, &ops, &count, 1) < 1 || count != 1) return false;
    *base = ops[0].atom == DW_OP_call_frame_cfa ? cfa : cfa - 16;
    return ops[0].atom == DW_OP_call_frame_cfa || ops[0].atom == DW_OP_reg0 + FRAME_POINTER;
}

struct search {
    uint64_t address, base;
    Dwarf_Addr pc; /* in the file */
    struct mz_variable *found;
};

static bool is_it(const struct search *q, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Die type;
    Dwarf_Word size = 0;
    if (!dwarf_diename(die) || !dwarf_attr_integrate(die, DW_AT_location, &a)) return false;
    if (dwarf_getlocation_addr(&a, q->pc, &ops, &count, 1) < 1) return false;
    if (count != 1 || ops[0].atom != DW_OP_fbreg) return false;
    if (!mz_type_of(die, &type) || dwarf_aggregate_size(&type, &size) != 0) return false;
    uint64_t start = q->base + ops[0].number;
    if (q->address < start || q->address - start >= size) return false;
    *q->found = (struct mz_variable){start, size, 0, *die};
    return true;
}

/* Innermost scopes first: compilers put variables of scopes that do not overlap into the same place. */
static bool search_scope(const struct search *q, Dwarf_Die *scope)
{
    Dwarf_Die die;
    if (dwarf_child(scope, &die) != 0) return false;
    Dwarf_Die first = die;
    do {
        int tag = dwarf_tag(&die);
        bool inner = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
        if (inner && dwarf_haspc(&die, q->pc) > 0 && search_scope(q, &die)) return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    die = first;
    do {
        int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && is_it(q, &die)) return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool mz_locals_find(struct mz_symbols *s, uint64_t address, uint64_t pc, uint64_t cfa,
                    struct mz_variable *found)
{
    Dwarf_Addr bias = 0;
    Dwfl_Module *module = s->dwfl && pc ? dwfl_addrmodule(s->dwfl, pc - 1) : NULL;
    Dwarf_Die *unit = module ? mz_unit_at(module, pc - 1, &bias) : NULL, function;
    if (!unit || !has_usual_frame(module, pc - 1) || dwarf_child(unit, &function) != 0) return false;
    struct search q = {.address = address, .pc = pc - 1 - bias, .found = found};
    do {
        if (dwarf_tag(&function) != DW_TAG_subprogram || dwarf_haspc(&function, q.pc) <= 0) continue;
        return frame_base(&function, q.pc, cfa, &q.base) && search_scope(&q, &function);
    } while (dwarf_siblingof(&function, &function) == 0);
    return false;
}
