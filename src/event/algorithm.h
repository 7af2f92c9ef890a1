/* The algorithms, from algorithm.def, as code outside of the engine knows them. The engine knows more of an algorithm:
 * its struct mz_reduction. */
#ifndef MZ_EVENT_ALGORITHM_H
#define MZ_EVENT_ALGORITHM_H

#include <stdbool.h>
#include <stdint.h>

enum mz_algorithm {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) MZ_ALG_##constant,
#include "event/algorithm.def"
#undef ALGORITHM
    MZ_ALG_COUNT
};

enum mz_keeps { MZ_KEEPS_BACKTRACK, MZ_KEEPS_WAKEUP, MZ_KEEPS_STATES }; /* what a node of the search keeps */

static inline enum mz_keeps mz_algorithm_keeps(enum mz_algorithm algorithm)
{
    static const uint8_t keeps[MZ_ALG_COUNT] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) MZ_KEEPS_##keeps,
#include "event/algorithm.def"
#undef ALGORITHM
    };
    return (enum mz_keeps)keeps[algorithm];
}

enum mz_sleep { MZ_SLEEP_ALWAYS, MZ_SLEEP_ON, MZ_SLEEP_OFF, MZ_SLEEP_NEVER };

static inline enum mz_sleep mz_algorithm_sleep(enum mz_algorithm algorithm)
{
    static const uint8_t sleep[MZ_ALG_COUNT] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) MZ_SLEEP_##sleep,
#include "event/algorithm.def"
#undef ALGORITHM
    };
    return (enum mz_sleep)sleep[algorithm];
}

enum mz_proves { MZ_PROVES_ALL, MZ_PROVES_AWAKE, MZ_PROVES_NOTHING };

/* Does a complete search with the algorithm reach all that can be reached? */
static inline bool mz_algorithm_is_sound(enum mz_algorithm algorithm, bool sleep_sets)
{
    static const uint8_t proves[MZ_ALG_COUNT] = {
#define ALGORITHM(constant, name, reduction, keeps, sleep, proves) MZ_PROVES_##proves,
#include "event/algorithm.def"
#undef ALGORITHM
    };
    return proves[algorithm] == MZ_PROVES_ALL || (proves[algorithm] == MZ_PROVES_AWAKE && !sleep_sets);
}

/* Does the algorithm store the states it has met, and explore none of them twice? */
static inline bool mz_algorithm_is_stateful(enum mz_algorithm algorithm)
{
    return mz_algorithm_keeps(algorithm) == MZ_KEEPS_STATES;
}

#endif
