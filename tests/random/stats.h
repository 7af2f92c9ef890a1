/* What the programs of a run were like: shows whether the generator makes what it is meant to make. */
#ifndef MZ_RANDOM_STATS_H
#define MZ_RANDOM_STATS_H

#include <stdio.h>
#include "check.h"

#define MZ_STATS_SIZES 6 /* 1, 2-3, 4-9, 10-99, 100-999, more classes */

enum mz_trait {                          /* of a program as a whole, beyond enum mz_feature */
                MZ_TRAIT_CLASSES,        /* more than one */
                MZ_TRAIT_OUTCOMES,       /* more than one */
                MZ_TRAIT_DEADLOCK,       /* some execution ends with blocked threads */
                MZ_TRAIT_DEADLOCK_SOME,  /* ... and some does not */
                MZ_TRAIT_FAILING,        /* an assertion fails in some execution */
                MZ_TRAIT_FAILING_SOME,   /* ... but not in all */
                MZ_TRAIT_LOOPS,          /* may run for ever */
                MZ_TRAIT_BLOCKED_SOURCE, /* source explores something that it has to cut short */
                MZ_TRAITS
};

struct mz_stats {
    uint64_t programs, smaller; /* smaller: programs that were made smaller to be within the limits */
    uint64_t classes, states;   /* states: of all programs */
    uint64_t sizes[MZ_STATS_SIZES];
    uint64_t features[MZ_FEATURE_MACHINE], traits[MZ_TRAITS];
    struct mz_run_counts counts[MZ_CONFIGS];
};

void mz_stats_count(struct mz_stats *s, const struct mz_checker *c);
void mz_stats_add(struct mz_stats *s, const struct mz_stats *other);
void mz_stats_print(const struct mz_stats *s, FILE *f);

#endif
