/* The brute-force oracle: everything that a model can do, found without the engine.
 *
 * Two methods that share only the interpreter (machine.h):
 *  - by prefixes: depth-first over the canonical forms of prefixes, each visited once. Exact: every maximal
 *    execution is a path in that graph, equivalent ones end at the same vertex, and the number of
 *    interleavings is the number of paths.
 *  - plainly: all interleavings one after the other; only for tiny programs, to check the first method.
 */
#ifndef MZ_RANDOM_ORACLE_H
#define MZ_RANDOM_ORACLE_H

#include "machine.h"

/* The results of a set of complete executions: the oracle's or the engine's. */
struct mz_findings {
    uint64_t executions;                 /* added; the plain method: interleavings */
    uint64_t deadlocked, failing;        /* executions that end in a deadlock, or with a failing assertion */
    struct mz_set classes;               /* canonical forms */
    struct mz_set outcomes;              /* hashes of struct mz_model_outcome */
    struct mz_set deadlocks;             /* hashes of the blocked threads and their operations */
    uint32_t failures[MZ_MODEL_THREADS]; /* set of operations of each thread whose assertion fails */
};

void mz_findings_clear(struct mz_findings *f);
void mz_findings_free(struct mz_findings *f);
void mz_findings_add(struct mz_findings *f, struct mz_hash form, const struct mz_model_outcome *o);
/* What differs besides the number of executions, in words; NULL if nothing does. */
const char *mz_findings_differ(const struct mz_findings *p, const struct mz_findings *q);

struct mz_oracle {
    uint32_t max_prefixes;
    struct mz_set prefixes; /* form -> number of interleavings from there on, check of the state */
    struct mz_findings found;
    uint64_t interleavings; /* UINT64_MAX: that many or more */
    uint64_t features;
    bool sections; /* some execution has an atomic section */
};

enum mz_oracle_answer {
    MZ_ORACLE_DONE,
    MZ_ORACLE_TOO_LARGE,    /* max_prefixes */
    MZ_ORACLE_INCONSISTENT, /* equivalent prefixes led to different states: the relation is wrong */
    MZ_ORACLE_SECTIONS      /* within oracle.c only: there is a section, so another relation holds */
};

enum mz_oracle_answer mz_oracle_run(struct mz_oracle *o, const struct mz_model *m);
void mz_oracle_free(struct mz_oracle *o);

/* All interleavings; false if there are more than `max`. */
bool mz_oracle_plain(const struct mz_model *m, bool sections, uint64_t max, struct mz_findings *found);

#endif
