/* The table of reductions, from event/algorithm.def. Only explore.c calls mz_reduction_of(), when a search
 * begins. */
#include "engine/reduction.h"

static enum mz_keeps keeps_of(const struct mz_reduction *r)
{
    MZ_ASSERT(r->uses_backtrack_sets + r->uses_wakeup_trees + r->stateful == 1);
    return r->stateful ? MZ_KEEPS_STATES : r->uses_wakeup_trees ? MZ_KEEPS_WAKEUP : MZ_KEEPS_BACKTRACK;
}

const struct mz_reduction *mz_reduction_of(enum mz_algorithm algorithm)
{
    static const struct mz_reduction *const table[MZ_ALG_COUNT] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves)                                           \
    [MZ_ALG_##constant] = &mz_reduction_##reduction,
#include "event/algorithm.def"
#undef ALGORITHM
    };
    MZ_ASSERT(algorithm < MZ_ALG_COUNT);
    MZ_ASSERT(keeps_of(table[algorithm]) == mz_algorithm_keeps(algorithm));
    return table[algorithm];
}
