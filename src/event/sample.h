/* Strategies, and what sampling has seen: the parts of it that command and target share. An execution of a sampling
 * strategy is a *walk*: it starts from the beginning, and nothing is kept of it but its class. */
#ifndef MZ_EVENT_SAMPLE_H
#define MZ_EVENT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum mz_strategy_kind {
#define STRATEGY(constant, name, sampler, repeats) MZ_STRATEGY_##constant,
#include "event/strategy.def"
#undef STRATEGY
    MZ_STRATEGY_COUNT
};

/* Are the walks of the strategy drawn independently of each other from one distribution? */
static inline bool mz_strategy_repeats(enum mz_strategy_kind strategy)
{
    static const bool repeats[MZ_STRATEGY_COUNT] = {
#define STRATEGY(constant, name, sampler, repeats) repeats,
#include "event/strategy.def"
#undef STRATEGY
    };
    return repeats[strategy];
}

/* What `mix` takes in turn. */
#define MZ_MIX_MEMBERS 5
static inline const char *mz_mix_member(unsigned member)
{
    static const char *const names[MZ_MIX_MEMBERS] = {"random", "pct:2", "pct:3", "pos", "surw"};
    return names[member];
}

#define MZ_PCT_DEPTH      3 /* of `pct` without a number */
#define MZ_PCT_MOST_DEPTH 32
#define MZ_STREAM_WALKS   256u /* of a task of a shared sample */
#define MZ_PILOTS         8u   /* random walks from which pct, surw and mix learn how long executions are */

/* Classes are counted exactly as long as there is room for them. From then on only those are counted whose hash ends in
 * `shift` zero bits: each number of classes stands for 2^shift times as many. */
struct mz_sample {
    uint64_t walks;                /* all, also those that were cut */
    uint64_t alike;                /* the last ones, drawn from one distribution; 0: they were not */
    uint64_t complete;             /* complete executions among those that are counted for the next three */
    uint64_t classes, once, twice; /* classes met; met exactly once, and twice */
    uint64_t seed;
    uint64_t exceeded; /* pct: walks with more steps than it expected */
    uint32_t shift;
    uint32_t threads, steps; /* the most that any walk had */
    uint32_t expected;       /* pct: steps that a walk is expected to have at most */
    uint32_t reserved;
    struct {
        uint64_t walks, classes; /* by each member of `mix`; classes: that it met first */
    } by[MZ_MIX_MEMBERS];
};

#endif
