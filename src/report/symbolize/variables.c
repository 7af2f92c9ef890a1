/* Variables of a module and parts of types: see variables.h. */
#include "report/symbolize/variables.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MAX_DIMENSIONS 8

uint64_t mz_type_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise)
{
    Dwarf_Attribute a;
    Dwarf_Word value;
    if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &value) != 0) return otherwise;
    return value;
}

bool mz_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute a;
    return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, type);
}

static bool is_qualifier(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool mz_type_peel(Dwarf_Die *type)
{
    while (is_qualifier(dwarf_tag(type))) {
        Dwarf_Die inner;
        if (!mz_type_of(type, &inner)) return false;
        *type = inner;
    }
    return true;
}

/* ---- the variables of a module ---- */

/* The address that an operation of a location pushes; false for other operations. */
static bool static_address(Dwarf_Attribute *location, const Dwarf_Op *op, Dwarf_Addr *address)
{
    Dwarf_Attribute resolved;
    if (op->atom == DW_OP_addr) {
        *address = op->number;
        return true;
    }
    if (op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) return false;
    return dwarf_getlocation_attr(location, op, &resolved) == 0 && dwarf_formaddr(&resolved, address) == 0;
}

static void add_part(struct mz_variables *v, Dwarf_Die *die, uint64_t start, uint64_t size, uint64_t offset)
{
    MZ_GROW(v->items, v->count, v->capacity);
    v->items[v->count++] = (struct mz_variable){start, size ? size : 1, offset, *die};
}

struct lists {
    struct mz_variables *variables, *thread_local;
    uint64_t tls_offset;
};

static bool is_tls(const Dwarf_Op *op)
{
    return op->atom == DW_OP_GNU_push_tls_address || op->atom == DW_OP_form_tls_address;
}

static bool is_constant(const Dwarf_Op *op)
{
    return op->atom == DW_OP_const8u || op->atom == DW_OP_const4u || op->atom == DW_OP_addr ||
           op->atom == DW_OP_const1u || op->atom == DW_OP_const2u || op->atom == DW_OP_constu;
}

/* A location is one address, or a list of pieces: address, DW_OP_piece size, ... (a piece without an address
 * does not exist). */
static void add_variable(const struct lists *l, Dwarf_Die *die, Dwarf_Addr bias)
{
    struct mz_variables *v = l->variables;
    Dwarf_Attribute location;
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Addr address;
    Dwarf_Die type;
    Dwarf_Word size = 0;
    if (!dwarf_diename(die) || !dwarf_attr(die, DW_AT_location, &location)) return;
    if (dwarf_getlocation(&location, &ops, &count) != 0) return;
    if (!mz_type_of(die, &type) || dwarf_aggregate_size(&type, &size) != 0) size = 1;
    if (count == 1 && static_address(&location, &ops[0], &address)) add_part(v, die, address + bias, size, 0);
    if (count == 2 && l->tls_offset && is_tls(&ops[1]) && is_constant(&ops[0])) {
        add_part(l->thread_local, die, ops[0].number - l->tls_offset, size, 0);
        return;
    }
    uint64_t offset = 0;
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (ops[i].atom != DW_OP_piece) continue;
        if (i > 0 && static_address(&location, &ops[i - 1], &address))
            add_part(v, die, address + bias, ops[i].number, offset);
        offset += ops[i].number;
    }
}

static void walk(const struct lists *l, Dwarf_Die *parent, Dwarf_Addr bias)
{
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0) return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            add_variable(l, &die, bias);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
            walk(l, &die, bias);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void mz_variables_add_module(struct mz_variables *v, struct mz_variables *thread_local, uint64_t tls_offset,
                             Dwfl_Module *module)
{
    struct lists l = {v, thread_local, tls_offset};
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;
    while ((unit = dwfl_module_nextcu(module, unit, &bias))) walk(&l, unit, bias);
}

static int by_start(const void *a, const void *b)
{
    const struct mz_variable *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

void mz_variables_sort(struct mz_variables *v)
{
    if (v->count) qsort(v->items, v->count, sizeof *v->items, by_start);
}

const struct mz_variable *mz_variables_find(const struct mz_variables *v, uint64_t address)
{
    size_t low = 0, high = v->count; /* items[low - 1].start <= address < items[high].start */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const struct mz_variable *found = &v->items[low - 1];
    return address - found->start < found->size ? found : NULL;
}

void mz_variables_release(struct mz_variables *v)
{
    free(v->items);
    *v = (struct mz_variables){0};
}

/* ---- parts of a type ---- */

/* Synchronization objects are shown whole, whatever they look like inside. */
static bool is_sync_type(Dwarf_Die *type)
{
    static const char *const prefixes[] = {"pthread_", "sem_t", "mtx_t", "cnd_t"};
    const char *name = dwarf_tag(type) == DW_TAG_typedef ? dwarf_diename(type) : NULL;
    for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

/* Takes qualifiers off one by one, but stops at a synchronization object: then returns true. */
static bool peel_to_sync(Dwarf_Die *type)
{
    Dwarf_Die inner;
    while (is_qualifier(dwarf_tag(type))) {
        if (is_sync_type(type)) return true;
        if (!mz_type_of(type, &inner)) return false;
        *type = inner;
    }
    return false;
}

static uint64_t size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* Number of elements of each dimension; 0 for an unknown one. */
static size_t dimensions(Dwarf_Die *array, uint64_t counts[MAX_DIMENSIONS])
{
    size_t n = 0;
    Dwarf_Die child;
    if (dwarf_child(array, &child) != 0) return 0;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type || n == MAX_DIMENSIONS) continue;
        uint64_t last = mz_type_number(&child, DW_AT_upper_bound, UINT64_MAX);
        counts[n++] = mz_type_number(&child, DW_AT_count, last + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
    return n;
}

/* Array -> element. Returns false when the access is not within one element. */
static bool enter_array(Dwarf_Die *type, uint64_t *offset, uint64_t size, struct mz_strbuf *name)
{
    uint64_t counts[MAX_DIMENSIONS], stride;
    Dwarf_Die element;
    size_t n = dimensions(type, counts);
    if (n == 0 || !mz_type_of(type, &element) || (stride = size_of(&element)) == 0) return false;
    if (size > stride) {
        uint64_t first = *offset / stride, last = (*offset + size - 1) / stride;
        if (n == 1 && size < size_of(type)) mz_strbuf_addf(name, "[%" PRIu64 "..%" PRIu64 "]", first, last);
        return false;
    }
    for (size_t i = n; i-- > 1;) stride *= counts[i] ? counts[i] : 1;
    for (size_t i = 0; i < n; i++) {
        mz_strbuf_addf(name, "[%" PRIu64 "]", *offset / stride);
        *offset %= stride;
        if (i + 1 < n) stride /= counts[i + 1] ? counts[i + 1] : 1;
    }
    *type = element;
    return true;
}

static uint64_t member_offset(Dwarf_Die *member)
{
    uint64_t bits = mz_type_number(member, DW_AT_data_bit_offset, 0);
    return mz_type_number(member, DW_AT_data_member_location, bits / 8);
}

/* Struct or union -> the first member that contains the access. */
static bool enter_member(Dwarf_Die *type, uint64_t *offset, uint64_t size, struct mz_strbuf *name)
{
    Dwarf_Die member, inner;
    if (dwarf_child(type, &member) != 0) return false;
    do {
        if (dwarf_tag(&member) != DW_TAG_member || !mz_type_of(&member, &inner)) continue;
        uint64_t start = member_offset(&member), length = size_of(&inner);
        if (*offset < start || *offset + (size ? size : 1) > start + length) continue;
        if (dwarf_diename(&member)) mz_strbuf_addf(name, ".%s", dwarf_diename(&member));
        *offset -= start;
        *type = inner;
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

bool mz_type_descend(Dwarf_Die *type, uint64_t offset, uint64_t size, struct mz_strbuf *name)
{
    for (;;) {
        if (peel_to_sync(type)) {
            if (offset) mz_strbuf_addf(name, "+%" PRIu64, offset);
            return false;
        }
        int tag = dwarf_tag(type);
        bool inside;
        if (tag == DW_TAG_array_type)
            inside = enter_array(type, &offset, size, name);
        else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type)
            inside = enter_member(type, &offset, size, name);
        else
            break;
        if (!inside) return false;
    }
    if (offset) mz_strbuf_addf(name, "+%" PRIu64, offset);
    return offset == 0 && size_of(type) == size;
}
