/* Sampling: executions drawn at random, where there are too many to explore all. Private to this folder; the engine sees
 * only mz_strategy_sampling and the functions of engine/strategy.h.
 *
 * sampling.c is the strategy: it begins and ends walks, counts classes and draws choices. A sampler draws threads: one
 * file with one constant table each.
 *
 *   random.c   uniform over the enabled threads
 *   pct.c      random priorities, lowered at a few random steps (Burckhardt et al. 2010)
 *   pos.c      random priorities of operations, drawn again after a conflict (Yuan et al. 2018)
 *   surw.c     uniform over the orders of the events on one object (Zhao et al. 2025)
 *   mix.c      one of these for each walk, more often those that meet new classes
 *
 * stream.c is the side of a worker in a shared sample.
 *
 * Invariants
 *  W1  A walk depends only on the seed, its number, and on what the sampler learned from the walks before it. So the same
 *      seed repeats a search by one worker. Walks of random and pos depend on the seed and the number alone.
 *  W2  A walk keeps nothing of the search: no sleep sets, wakeup trees, backtrack sets; races are not looked for. */
#ifndef MZ_ENGINE_SAMPLING_SAMPLING_H
#define MZ_ENGINE_SAMPLING_SAMPLING_H

#include "engine/exploration.h"
#include "event/sample.h"
#include "trace/class_set.h"

struct mz_sampler {
    bool learns; /* needs the profile: MZ_PILOTS random walks come first */
    /* A walk begins. May be NULL, as `event` and `end`. It may put another sampler into sampling.now, for this walk. */
    void (*begin)(struct mz_exploration *x);
    /* One of the enabled threads of the new node k, of which there are several. Of sampling.now. */
    int (*choose)(struct mz_exploration *x, uint32_t k);
    /* Event n has happened. Of sampling.now. */
    void (*event)(struct mz_exploration *x, mz_number n);
    /* A walk has ended that was no pilot. */
    void (*end)(struct mz_exploration *x, bool is_new_class);
};

#define MZ_PROFILED 256u /* objects of the profile */

/* What the pilots did: events of each thread on each object. Sums over all pilots. */
struct mz_profile {
    uint32_t walks;
    uint32_t objects;
    uint32_t object[MZ_PROFILED];  /* their numbers in the trace */
    uint64_t threads[MZ_PROFILED]; /* those with events on it */
    bool written[MZ_PROFILED];
    uint32_t events[MZ_PROFILED][MZ_MAX_THREADS];
    uint8_t parent[MZ_MAX_THREADS]; /* the thread that has created it */
    uint64_t started;               /* set: in some walk */
};

struct mz_pct {
    unsigned depth;
    uint64_t priority[MZ_MAX_THREADS], known; /* known: set of threads that have one */
    uint32_t change[MZ_PCT_MOST_DEPTH]; /* steps after which the thread that ran gets priority 0, 1, ... */
};

struct mz_pos {
    uint64_t priority[MZ_MAX_THREADS], known;
};

struct mz_surw {
    uint32_t interest;             /* number in the profile of the object; MZ_PROFILED: none */
    uint32_t done[MZ_MAX_THREADS]; /* events of each thread on it in this walk */
    uint64_t started;
    int intended; /* the only thread that may access it now; -1: to be drawn */
};

struct mz_mix {
    unsigned member;
    uint64_t turns;
    double walks[MZ_MIX_MEMBERS], classes[MZ_MIX_MEMBERS]; /* of late */
};

struct mz_sampling {
    const struct mz_sampler *sampler; /* of the option */
    const struct mz_sampler *now;     /* of this walk: a pilot, or what mix has drawn */
    bool repeats;                     /* walks are alike, except for pilots */
    bool begun;
    uint64_t random; /* state of the generator */
    uint64_t number; /* of the walk */
    struct {         /* stream.c: a task of a shared sample */
        bool has_task;
        uint32_t left;      /* walks */
        uint32_t met_count; /* complete walks, and their classes */
        struct mz_class met[MZ_STREAM_WALKS];
    };
    struct mz_class_hash hash;
    struct mz_class_set set;
    struct mz_sample sample;
    struct mz_profile profile;
    struct mz_pct pct;
    struct mz_pos pos;
    struct mz_surw surw;
    struct mz_mix mix;
};

#define STRATEGY(constant, name, sampler, repeats) extern const struct mz_sampler mz_sampler_##sampler;
#include "event/strategy.def"
#undef STRATEGY

/* stream.c: a walk of the task has ended; class: NULL if it was cut. Is there another one? */
bool mz_sampling_goes_on(struct mz_exploration *x, const struct mz_class *class);

/* profile.c */
void mz_profile_event(struct mz_exploration *x, mz_number n);
void mz_profile_end(struct mz_exploration *x);

/* ---- random numbers (splitmix64) ---- */

__extension__ typedef unsigned __int128 mz_wide;

static inline uint64_t mz_draw_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint64_t mz_draw(struct mz_sampling *s)
{
    return mz_draw_mix(s->random += 0x9e3779b97f4a7c15u);
}
/* 0 to n - 1 */
static inline uint64_t mz_draw_below(struct mz_sampling *s, uint64_t n)
{
    return (uint64_t)((mz_wide)mz_draw(s) * n >> 64);
}
/* A member of the set, which is not empty. */
static inline int mz_draw_member(struct mz_sampling *s, uint64_t set)
{
    uint64_t n = set & (set - 1) ? mz_draw_below(s, (uint64_t)__builtin_popcountll(set)) : 0;
    for (; n; n--) set &= set - 1;
    return __builtin_ctzll(set);
}

#endif
