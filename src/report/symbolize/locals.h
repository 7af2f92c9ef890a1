/* Names of variables that are not static: on a stack, or thread-local. Private to the symbolizer. */
#ifndef MZ_REPORT_SYMBOLIZE_LOCALS_H
#define MZ_REPORT_SYMBOLIZE_LOCALS_H

#include "report/symbolize/symbolize_internal.h"

/* The variable at an address in the frame of the function that `pc` returns into; cfa is the end of that
 * frame. */
bool mz_locals_find(struct mz_symbols *s, uint64_t address, uint64_t pc, uint64_t cfa,
                    struct mz_variable *found);

#endif
