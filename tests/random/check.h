/* One program, the oracle and the engine: do they agree?
 *
 * For every algorithm: each complete execution of the engine is replayed step by step in the oracle's
 * interpreter, which shows that the steps are legal, that nothing is left to do, that the outcome is the
 * model's, that the engine's happens-before relation is the oracle's, and which class it is in. At the end
 * the engine's classes, outcomes, deadlocks, failing assertions and counters are held against the oracle's.
 */
#ifndef MZ_RANDOM_CHECK_H
#define MZ_RANDOM_CHECK_H

#include "oracle.h"

struct mz_model_explorer;

enum mz_config { /* an algorithm as it is tested */
                 MZ_CONFIG_NONE,
                 MZ_CONFIG_SLEEP,      /* none, with sleep sets */
                 MZ_CONFIG_DPOR_PLAIN, /* dpor, without sleep sets */
                 MZ_CONFIG_DPOR,
                 MZ_CONFIG_SOURCE,
                 MZ_CONFIG_OPTIMAL,
                 MZ_CONFIGS,
                 MZ_CONFIG_ORACLE = MZ_CONFIGS /* the oracle's methods against each other */
};

const char *mz_config_name(enum mz_config config);

struct mz_limits {
    uint32_t prefixes;      /* of the oracle: larger programs are skipped */
    uint64_t interleavings; /* most for the algorithm `none`, the others that do not reduce, and the plain
                               oracle */
    uint64_t swaps;         /* most interleavings for counting classes by swaps (swap.h) */
    unsigned configs;       /* set of enum mz_config */
    bool order;             /* compare the happens-before relations */
};

struct mz_run_counts {
    uint64_t programs, executions, blocked; /* of one algorithm */
};

struct mz_checker {
    struct mz_limits limits;
    struct mz_oracle oracle;
    struct mz_findings engine, plain;
    struct mz_set sequences;                         /* of steps, of the engine's executions */
    struct mz_model_explorer *explorers[MZ_CONFIGS]; /* made when first needed */
    /* of the last program: */
    enum mz_config config;                   /* being tested, or that differs */
    char text[512];                          /* what differs */
    struct mz_run_counts counts[MZ_CONFIGS]; /* programs: 0 if the algorithm was left out */
};

enum mz_answer { MZ_SAME, MZ_DIFFERENT, MZ_TOO_LARGE };

/* The oracle's part, then the engine's; mz_check() is both. */
enum mz_answer mz_check_oracle(struct mz_checker *c, const struct mz_model *m);
enum mz_answer mz_check_engine(struct mz_checker *c, const struct mz_model *m);
enum mz_answer mz_check(struct mz_checker *c, const struct mz_model *m);
void mz_check_free(struct mz_checker *c);

#endif
