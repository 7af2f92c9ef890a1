/* Check what a trace asks for before its program runs. A trace may come from anybody, so it must not be able to run
 * or write anything by itself.
 *
 * Invariants, unless the user says --trust:
 *
 *   - the compiler is the user's own, or has one of the usual names and is looked up in the user's PATH;
 *   - only flags are passed on that are known neither to run programs, nor to write files, nor to load code; unknown
 *     flags are refused;
 *   - directory, sources, objects and program belong to the user or to root.
 *
 * Nothing of the program runs before its identity has been compared (replay.c). */
#ifndef MZ_CMD_VET_H
#define MZ_CMD_VET_H

#include "report/tracefile.h"

/* Return 0, or MZ_STATUS_FAILED after one line. Call it in the directory of the trace. */
int mz_vet_recipe(const char *trace, const struct mz_recipe *recipe);
/* The compiler to build with: the one that the trace names, or NULL for the user's. */
const char *mz_vet_compiler(const struct mz_recipe *recipe);

#endif
