/* Shared by symbolize.c (code) and objects.c (data) only. */
#ifndef MZ_REPORT_SYMBOLIZE_SYMBOLIZE_INTERNAL_H
#define MZ_REPORT_SYMBOLIZE_SYMBOLIZE_INTERNAL_H

#include "report/symbolize/symbolize.h"
#include "report/symbolize/variables.h"

struct mz_known_pc {
    uint64_t pc; /* 0: free slot */
    struct mz_stack stack;
};

struct mz_symbols {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    Dwfl_Module *own; /* libmazurka.so: its frames are not shown */
    Dwfl_Module *instrumented[MZ_MAX_MODULES];
    uint32_t tls_offset[MZ_MAX_MODULES];
    size_t instrumented_count;
    const struct mz_channel *channel;
    char *directory;           /* where the command runs */
    struct mz_known_pc *known; /* hash table: places repeat a lot */
    size_t known_count, known_capacity;
    struct mz_variables variables;    /* of all instrumented modules, read when first asked for */
    struct mz_variables thread_local; /* relative to the thread pointer */
    bool variables_read;
    uint32_t moment; /* see mz_symbols_at_moment */
    uint64_t frame_pc, frame_cfa;
};

/* The compilation unit of an address, or NULL. */
Dwarf_Die *mz_unit_at(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias);

#endif
