/* Variables with static storage of a module: which one lies at an address, and which part of it.
 * Private to the symbolizer. */
#ifndef MZ_REPORT_SYMBOLIZE_VARIABLES_H
#define MZ_REPORT_SYMBOLIZE_VARIABLES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"

struct mz_variable { /* or a part of one, where the compiler has taken a struct apart */
    uint64_t start, size;
    uint64_t offset; /* of the part within the variable */
    Dwarf_Die die;
};

struct mz_variables { /* sorted by start once complete */
    struct mz_variable *items;
    size_t count, capacity;
};

/* Adds all variables of a module; thread-local ones to a list of their own, with addresses relative to the
 * thread pointer, tls_offset below which those of the module begin. */
void mz_variables_add_module(struct mz_variables *v, struct mz_variables *thread_local, uint64_t tls_offset,
                             Dwfl_Module *module);
void mz_variables_sort(struct mz_variables *v);
const struct mz_variable *mz_variables_find(const struct mz_variables *v, uint64_t address);
void mz_variables_release(struct mz_variables *v);

/* Appends the part at `offset` of something of this type: ".member", "[index]". Returns whether the part is
 * exactly `size` bytes of a scalar, and then sets `type`. size 0: stops at the first type that is a
 * synchronization object or no aggregate. */
bool mz_type_descend(Dwarf_Die *type, uint64_t offset, uint64_t size, struct mz_strbuf *name);
/* typedef, const, volatile, _Atomic taken off. Returns false for void. */
bool mz_type_peel(Dwarf_Die *type);
bool mz_type_of(Dwarf_Die *die, Dwarf_Die *type); /* DW_AT_type; false: void */
uint64_t mz_type_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise);

#endif
