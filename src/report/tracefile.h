/* Trace files: everything needed to run a schedule again, and everything a report says about it.
 *
 * Text, one record a line, fields separated by tabs; in a field \t \n \r \\ stand for those characters and \-
 * for "nothing". The first line is "mazurka-trace<TAB>N" (N is the number of the format), the last one "checksum<TAB>"
 * and the SHA-256 of every byte before it. Unknown records are skipped, so that records may be added.
 *
 * Formats: 2; and 3, where a step may name in its last field the event whose value it reads. A file is written in format
 * 3 only if a step does so. Both are read; others are refused with one line.
 */
#ifndef MZ_REPORT_TRACEFILE_H
#define MZ_REPORT_TRACEFILE_H

#include "report/report.h"

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

/* Write a temporary file, then rename it. Return 0, or -1 with errno. */
int mz_trace_write(const char *path, const struct mz_recipe *recipe, const struct mz_finding_report *finding);
/* Return 0, or MZ_STATUS_FAILED after one line that says what is wrong. */
int mz_trace_read(const char *path, struct mz_recipe *recipe, struct mz_finding_report *finding);
void mz_recipe_release(struct mz_recipe *recipe);

#endif
