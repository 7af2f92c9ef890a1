/* Trace files: everything needed to run a schedule again, and everything a report says about it.
 *
 * Text, one record a line, fields separated by tabs; in a field \t \n \r \\ stand for those characters and \-
 * for "nothing". The first line is "mazurka-trace<TAB>1" (the format's number), the last one "checksum<TAB>"
 * and the SHA-256 of every byte before it. Unknown records are skipped, so that records may be added.
 */
#ifndef MZ_REPORT_TRACEFILE_H
#define MZ_REPORT_TRACEFILE_H

#include "report.h"

struct mz_recipe {            /* what was run, and how */
    char *version;            /* of the mazurka that wrote it */
    char *directory;          /* where `mazurka check` ran */
    char *program;            /* its name in reports */
    char *binary;             /* a program given as such; NULL if it was built from `build` */
    char *compiler;           /* MAZURKA_CC */
    struct mz_list build;     /* words for the compiler, sources among them */
    struct mz_list arguments; /* of the program, without its name */
    char identity[65];        /* SHA-256 of what was built or given */
    char *algorithm;
    bool allow_races, heap_reuse, leaks, keep_going, spurious_wakeups;
    bool nondet_given;
    int64_t nondet_low, nondet_high;
    uint64_t max_steps;
};

/* Writes the file under a temporary name, then renames. Returns 0, or -1 with errno. */
int mz_trace_write(const char *path, const struct mz_recipe *recipe, const struct mz_bug *bug);
/* Returns 0, or says in one line what is wrong and returns MZ_STATUS_FAILED. */
int mz_trace_read(const char *path, struct mz_recipe *recipe, struct mz_bug *bug);
void mz_recipe_release(struct mz_recipe *recipe);

#endif
