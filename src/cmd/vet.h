/* What a trace asks for before its program can run: a trace may come from anybody, so it must not be able to run or write
 * anything by itself.
 *
 * Invariants, unless the user says --trust:
 * - the compiler is the user's own, or one of the usual names, looked up in the user's PATH;
 * - of flags only those are passed on that are known neither to run programs nor to write files nor to load code; what
 *   is not known is refused;
 * - directory, sources, objects and program belong to the user or to root.
 * Nothing of the program runs before its identity has been compared (replay.c). */
#ifndef MZ_CMD_VET_H
#define MZ_CMD_VET_H

#include "../report/tracefile.h"

/* 0, or MZ_STATUS_FAILED after one line. Called in the directory of the trace. */
int mz_vet_recipe(const char *trace, const struct mz_recipe *recipe);
/* The compiler to build with: what the trace says, or NULL for the user's. */
const char *mz_vet_compiler(const struct mz_recipe *recipe);

#endif
