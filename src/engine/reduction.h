/* What makes one algorithm differ from another: a table of flags and functions, one file each in src/engine/reduction.
 * Nothing else asks which algorithm runs. Code that needs to know something about it asks a flag.
 *
 * A reduction finds out what has to be explored, and says so with mz_want() or mz_want_sequence(). The frontier
 * (frontier.h) decides what becomes of the wish: it goes to the node, to the balancer, into a recorded tree.
 *
 * How to add one: docs/adding/reduction.md. */
#ifndef MZ_ENGINE_REDUCTION_H
#define MZ_ENGINE_REDUCTION_H

#include "engine/frontier.h"

struct mz_reduction {
    /* What a node keeps, as in event/algorithm.def: exactly one of these is true. */
    bool uses_backtrack_sets; /* node.backtrack, a set of threads; wishes: mz_want() */
    bool uses_wakeup_trees;   /* node.wakeup, sequences of steps; wishes: mz_want_sequence() */
    bool stateful;            /* the state; see stateful/stateful.h */

    bool explores_sources; /* takes all choices of every operation, so all sources of a read (program.h) */

    bool sleeps_with_states; /* can use sleep sets although it is stateful: stateful/stateful.h */

    /* Stateful: what is kept with the states, or beside them. */
    bool uses_later_accesses;   /* for each state, what happens from there on (later_accesses.c) */
    bool uses_operation_graph;  /* operation_graph.c */
    bool notes_conflicts_early; /* conflicts go into mark.raw as events happen; else they are found later */

    /* Explores a persistent set from each node, and nothing else (options.persistent). */
    bool only_persistent_sets;

    bool uses_races; /* looks at the races of all events. Without it, those of awaits are not searched for */

    bool ignores_races; /* looks at no races at all: they are not searched for */

    /* All accesses to an object conflict: there are no reads, every event writes. */
    bool all_accesses_conflict;

    /* Goes on with the search when memory for wakeup trees runs out (fall_back.c); NULL: nothing can. */
    const struct mz_reduction *fall_back;

    /* First visit of node k, something is enabled: the step to take, or thread MZ_NOBODY if all is asleep. */
    struct mz_step (*enter)(struct mz_exploration *x, uint32_t k);
    /* Event n has just happened (live); its races are the last `races` entries of x->trace.races. n is 0 for the
     * race of a timeout that cannot happen any more, and for all races of the path in mz_fall_back(). */
    void (*event)(struct mz_exploration *x, mz_number n, uint32_t races);
    /* The thread has a new pending operation. May be NULL. */
    void (*pending)(struct mz_exploration *x, int thread);
    /* The execution has ended, and was not cut short (mz_is_cut_short). */
    void (*end)(struct mz_exploration *x);
    /* Back at node k, whose current branch is explored: put the next one into nodes[k].step, or false. */
    bool (*next)(struct mz_exploration *x, uint32_t k);
    /* Stateful: the threads to explore from node k. Those in `done` have been explored; the node is complete
     * when there are no others. */
    uint64_t (*threads)(struct mz_exploration *x, uint32_t k);
};

/* reductions.c */
const struct mz_reduction *mz_reduction_of(enum mz_algorithm algorithm);

/* A race asks for one of the threads `wanted` to be explored from node k. If none of them is in the node's
 * backtrack set, `add` joins it. wanted 0: all of `add` are asked for. */
static inline void mz_want(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add)
{
    if (mz_unlikely(x->frontier->want != NULL))
        x->frontier->want(x, k, wanted, add);
    else if (!(wanted & x->nodes[k].backtrack))
        x->nodes[k].backtrack |= add;
}
/* A race asks for trace.sequence to be explored from node k, where nothing asleep covers it: insert it into the node's
 * wakeup tree. */
static inline enum mz_cover mz_want_sequence(struct mz_exploration *x, uint32_t k)
{
    if (mz_unlikely(x->frontier->want_sequence != NULL)) return x->frontier->want_sequence(x, k);
    return mz_wakeup_insert(&x->trace, &x->nodes[k].wakeup, &x->trace.sequence);
}
/* Take the first branch of node k's wakeup tree: its step into nodes[k].step, its subtree to node k + 1. False if
 * there is none. */
bool mz_take_own_branch(struct mz_exploration *x, uint32_t k); /* frontier.c */
static inline bool mz_take_branch(struct mz_exploration *x, uint32_t k)
{
    if (mz_unlikely(x->frontier->take_branch != NULL)) return x->frontier->take_branch(x, k);
    return mz_take_own_branch(x, k);
}

/* Find the races of the operation that a blocked thread waits to do; see mz_dependence_blocked(). */
static inline uint32_t mz_blocked_races(struct mz_exploration *x, int thread)
{
    uint32_t races = mz_dependence_blocked(&x->trace, thread, mz_pending_of(x, thread));
    if (mz_unlikely(x->trace.crowded)) x->ending = MZ_ENDING_MEMORY;
    return races;
}

/* backtrack_set.c */
/* With options.marks, the second optimization of 2005, end of section 3, instead of mz_want: one of the threads `wanted` is
 * asked for, or another thread if there is none. */
void mz_want_marked(struct mz_exploration *x, uint32_t k, uint64_t wanted);
/* Initials of v (2017, Definition 4.3) whose first event happens before the second event of the race, or is that event. There
 * is at least one. */
uint64_t mz_persistent_initials(struct mz_exploration *x, const struct mz_race *race);
/* enter() with the first step alone: more is explored when a race wants it. */
struct mz_step mz_enter_alone(struct mz_exploration *x, uint32_t k);
/* next(): the next choice of the current thread, or the next thread of the set that is neither done nor asleep. */
bool mz_next_in_backtrack(struct mz_exploration *x, uint32_t k);
/* Is everything that the thread could do at node k asleep? No if its operation has choices: other choices may
 * be awake. */
bool mz_all_asleep(const struct mz_exploration *x, uint32_t k, int thread);
/* The branches that node k has left: threads of its set; choices of the current thread. */
uint64_t mz_threads_left(const struct mz_exploration *x, uint32_t k);
uint64_t mz_choices_left(const struct mz_exploration *x, uint32_t k);

/* reduction/bounded.c: called if x->options.bound is given. It is no algorithm of algorithm.def: the option asks for it. */
extern const struct mz_reduction mz_reduction_bounded;
void mz_bounded_init(struct mz_exploration *x);
void mz_bounded_release(struct mz_exploration *x);
void mz_bounded_clear(struct mz_exploration *x);
uint64_t mz_bounded_memory(const struct mz_exploration *x);

/* reduction/dpor.c; SDPOR uses them, too */
void mz_dpor_pending(struct mz_exploration *x, int thread);
void mz_dpor_event(struct mz_exploration *x, mz_number n, uint32_t races);

#define ALGORITHM(constant, name, reduction, keeps, sleep, proves)                                           \
    extern const struct mz_reduction mz_reduction_##reduction;
#include "event/algorithm.def"
#undef ALGORITHM

#endif
