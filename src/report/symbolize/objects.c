/* From data addresses to names of variables and their parts, and values as C writes them: the data half of
 * symbolize.h. */
#include "report/symbolize/symbolize_internal.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "report/symbolize/blocks.h"
#include "report/symbolize/locals.h"
#include "base/memory.h"

static void read_variables(struct mz_symbols *s)
{
    if (s->variables_read) return;
    for (size_t i = 0; i < s->instrumented_count; i++)
        mz_variables_add_module(&s->variables, &s->thread_local, s->tls_offset[i], s->instrumented[i]);
    mz_variables_sort(&s->variables);
    mz_variables_sort(&s->thread_local);
    s->variables_read = true;
}

static const char *given_name(const struct mz_channel *c, uint64_t address)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < c->name_count && i < MZ_MAX_NAMES; i++)
        if (c->names[i].address == address) name = c->names[i].name;
    return name;
}

/* The name of a variable, with the part at `address`. */
static void name_variable(const struct mz_variable *v, uint64_t address, uint32_t size, struct mz_object *out)
{
    struct mz_strbuf name = {0};
    Dwarf_Die die = v->die;
    mz_strbuf_add(&name, dwarf_diename(&die));
    if (mz_type_of(&die, &out->type))
        out->typed = mz_type_descend(&out->type, address - v->start + v->offset, size, &name);
    out->name = mz_strbuf_take(&name);
}

static bool name_by_debug_info(struct mz_symbols *s, uint64_t address, uint32_t size, struct mz_object *out)
{
    read_variables(s);
    const struct mz_variable *v = mz_variables_find(&s->variables, address);
    if (v) name_variable(v, address, size, out);
    return v != NULL;
}

static bool name_by_symbol(struct mz_symbols *s, uint64_t address, struct mz_object *out)
{
    GElf_Sym symbol;
    GElf_Off offset;
    Dwfl_Module *module = s->dwfl ? dwfl_addrmodule(s->dwfl, address) : NULL;
    if (!module) return false;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) return false;
    out->name = offset ? mz_format("%s+%" PRIu64, name, offset) : mz_memory_string(name);
    return true;
}

/* ---- memory of threads ---- */

static const struct mz_area *area_of(const struct mz_channel *c, uint64_t address)
{
    for (uint32_t i = 0; i < c->area_count && i < MZ_MAX_AREAS; i++)
        if (address >= c->areas[i].start && address < c->areas[i].end) return &c->areas[i];
    return NULL;
}

/* The frame that an object was in when it was recorded last. */
static void frame_of(const struct mz_symbols *s, uint64_t address, uint64_t *pc, uint64_t *cfa)
{
    const struct mz_channel *c = s->channel;
    const struct mz_record *records = (const void *)((const char *)c + c->records_offset);
    uint32_t count = c->record_count < s->moment ? c->record_count : s->moment;
    *pc = s->frame_pc, *cfa = s->frame_cfa;
    while (!*pc && count-- > 0)
        if (records[count].object == address) *pc = records[count].frame_pc, *cfa = records[count].frame_cfa;
}

static bool name_on_stack(struct mz_symbols *s, uint64_t address, uint32_t size, struct mz_object *out)
{
    struct mz_variable v;
    uint64_t pc, cfa;
    frame_of(s, address, &pc, &cfa);
    if (!pc || !mz_locals_find(s, address, pc, cfa, &v)) return false;
    name_variable(&v, address, size, out);
    return true;
}

static void name_by_area(struct mz_symbols *s, uint64_t address, uint32_t size, struct mz_object *out)
{
    const struct mz_channel *c = s->channel;
    const struct mz_area *a = area_of(c, address);
    const char *thread = a && a->thread < MZ_MAX_THREADS ? c->threads[a->thread].name : "?";
    const struct mz_variable *v;
    if (!a) {
        out->name = mz_format("0x%" PRIx64, address);
    } else if (a->kind == MZ_AREA_HEAP) {
        out->name = mz_block_name(s, address, s->moment);
        if (!out->name) out->name = mz_format("heap 0x%" PRIx64, address);
    } else if (a->kind == MZ_AREA_STACK) {
        if (!name_on_stack(s, address, size, out))
            out->name = mz_format("stack of %s (0x%" PRIx64 ")", thread, address);
    } else if ((v = mz_variables_find(&s->thread_local, address - a->end))) {
        name_variable(v, address - a->end, size, out);
        char *name = out->name;
        out->name = mz_format("%s of %s", name, thread);
        free(name);
    } else {
        out->name = mz_format("thread-local of %s (0x%" PRIx64 ")", thread, address);
    }
}

void mz_symbols_object(struct mz_symbols *s, uint64_t address, uint32_t size, struct mz_object *out)
{
    const char *given = given_name(s->channel, address);
    *out = (struct mz_object){0};
    if (!name_by_debug_info(s, address, size, out) && !name_by_symbol(s, address, out))
        name_by_area(s, address, size, out);
    if (!given) return;
    free(out->name);
    out->name = mz_memory_string(given);
}

/* ---- values ---- */

static uint64_t truncate_to(uint64_t value, uint32_t size)
{
    return size >= 8 ? value : value & ((1ull << 8 * size) - 1);
}

static int64_t sign_extend(uint64_t value, uint32_t size)
{
    if (size == 0 || size >= 8) return (int64_t)value;
    uint64_t sign = 1ull << (8 * size - 1);
    return (int64_t)((value ^ sign) - sign);
}

static char *enumerator(Dwarf_Die *type, uint64_t value, uint32_t size)
{
    Dwarf_Die child;
    if (dwarf_child(type, &child) != 0) return NULL;
    do {
        uint64_t v = mz_type_number(&child, DW_AT_const_value, UINT64_MAX);
        if (dwarf_tag(&child) == DW_TAG_enumerator && truncate_to(v, size) == value)
            return mz_memory_string(dwarf_diename(&child));
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static char *pointer(struct mz_symbols *s, uint64_t value)
{
    struct mz_object target;
    Dwfl_Module *module = s->dwfl ? dwfl_addrmodule(s->dwfl, value) : NULL;
    if (value == 0) return mz_memory_string("NULL");
    if (!module) return mz_format("0x%" PRIx64, value);
    mz_symbols_object(s, value, 0, &target);
    bool unnamed = !strncmp(target.name, "0x", 2);
    char *text = unnamed ? mz_symbols_function(s, value) : mz_format("&%s", target.name);
    free(target.name);
    return text ? text : mz_format("0x%" PRIx64, value);
}

static char *character(uint64_t value, uint32_t size)
{
    if (value >= 0x20 && value < 0x7f && value != '\'' && value != '\\')
        return mz_format("'%c'", (char)value);
    return mz_format("%" PRId64, sign_extend(value, size));
}

static char *floating(uint64_t value, uint32_t size)
{
    float f;
    double d;
    uint32_t low = (uint32_t)value;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &value, sizeof d);
    return mz_format("%g", size == 4 ? (double)f : d);
}

static char *base_value(Dwarf_Die *type, uint64_t value, uint32_t size)
{
    switch (mz_type_number(type, DW_AT_encoding, 0)) {
    case DW_ATE_signed:
        return mz_format("%" PRId64, sign_extend(value, size));
    case DW_ATE_boolean:
        return mz_memory_string(value == 0 ? "false" : "true");
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        return character(value, size);
    case DW_ATE_float:
        return size == 4 || size == 8 ? floating(value, size) : NULL;
    case DW_ATE_unsigned:
        return mz_format("%" PRIu64, value);
    default:
        return NULL;
    }
}

static char *untyped(uint64_t value)
{
    return value < 1ull << 31 ? mz_format("%" PRIu64, value) : mz_format("0x%" PRIx64, value);
}

char *mz_symbols_value(struct mz_symbols *s, const struct mz_object *object, uint64_t value, uint32_t size)
{
    char *text = NULL;
    Dwarf_Die type = object->type;
    value = truncate_to(value, size);
    if (object->typed && mz_type_peel(&type)) {
        int tag = dwarf_tag(&type);
        if (tag == DW_TAG_base_type) text = base_value(&type, value, size);
        if (tag == DW_TAG_pointer_type) text = pointer(s, value);
        if (tag == DW_TAG_enumeration_type) text = enumerator(&type, value, size);
    }
    return text ? text : untyped(value);
}
