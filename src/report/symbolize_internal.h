/* Shared by symbolize.c (code) and objects.c (data) only. */
#ifndef MZ_REPORT_SYMBOLIZE_INTERNAL_H
#define MZ_REPORT_SYMBOLIZE_INTERNAL_H

#include "symbolize.h"
#include "variables.h"

struct mz_known_pc {
    uint64_t pc; /* 0: free slot */
    struct mz_stack stack;
};

struct mz_symbols {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    Dwfl_Module *own; /* libmazurka.so: its frames are not shown */
    Dwfl_Module *instrumented[MZ_MAX_MODULES];
    size_t instrumented_count;
    const struct mz_channel *channel;
    char *directory;           /* where the command runs */
    struct mz_known_pc *known; /* hash table: places repeat a lot */
    size_t known_count, known_capacity;
    struct mz_variables variables; /* of all instrumented modules, read when first asked for */
    bool variables_read;
};

#endif
