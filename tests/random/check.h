/* One program, the oracle and the engine: do they agree?
 *
 * For every algorithm, each complete execution of the engine is replayed step by step in the oracle's
 * interpreter. This checks that the steps are legal, that no thread is enabled at the end, that the outcome is
 * the model's, and that the engine's happens-before relation is the oracle's; and it gives the class of the
 * execution. At the end the engine's classes, outcomes, deadlocks, failing assertions and counters are compared
 * with the oracle's.
 */
#ifndef MZ_RANDOM_CHECK_H
#define MZ_RANDOM_CHECK_H

#include "event/sample.h"
#include "event/search_options.h"
#include "oracle.h"
#include "states.h"

struct mz_model_explorer;
struct mz_shared;
struct mz_sharing;

__extension__ typedef unsigned __int128 mz_configs; /* a set of enum mz_config */

enum mz_config { /* an algorithm as it is tested */
                 MZ_CONFIG_NONE,
                 MZ_CONFIG_SLEEP,      /* none, with sleep sets */
                 MZ_CONFIG_DPOR_PLAIN, /* dpor, without sleep sets */
                 MZ_CONFIG_DPOR,
                 MZ_CONFIG_DPOR_EAGER, /* --update=all */
                 MZ_CONFIG_SOURCE,
                 MZ_CONFIG_OPTIMAL,
                 MZ_CONFIG_OPTIMAL_SOURCE, /* falls back to source at some time */
                 MZ_CONFIG_CLASSIC,
                 MZ_CONFIG_CLASSIC_SLEEP, /* may miss classes */
                 MZ_CONFIG_STATIC,
                 MZ_CONFIG_STATIC_SLEEP,
                 MZ_CONFIG_DPOR_STATIC,    /* without sleep sets, within persistent sets */
                 MZ_CONFIG_CLASSIC_STATIC, /* the same */
                 MZ_CONFIG_DPOR_MARKS,
                 MZ_CONFIG_DPOR_STATIC_MARKS,
                 MZ_CONFIG_CLASSIC_MARKS,
                 MZ_CONFIG_PERSISTENT, /* dpor-plain explores persistent sets: see check_persistent.c */
                 MZ_CONFIG_LITERAL,    /* optimal against literal.c: see check_literal.c */
                 MZ_CONFIG_RANDOM,     /* sampling: see check_sampling.c */
                 MZ_CONFIG_PCT,
                 MZ_CONFIG_POS,
                 MZ_CONFIG_SURW,
                 MZ_CONFIG_MIX,
                 MZ_CONFIG_PREEMPTIONS, /* bounds: see check_bounds.c */
                 MZ_CONFIG_DELAYS,
                 MZ_CONFIG_SHARED, /* from here on: see shared.c */
                 MZ_CONFIG_NONE_SHARED = MZ_CONFIG_SHARED,
                 MZ_CONFIG_SLEEP_SHARED,
                 MZ_CONFIG_DPOR_PLAIN_SHARED,
                 MZ_CONFIG_DPOR_SHARED,
                 MZ_CONFIG_SOURCE_SHARED,
                 MZ_CONFIG_SOURCE_LOST, /* workers die */
                 MZ_CONFIG_OPTIMAL_SHARED,
                 MZ_CONFIG_OPTIMAL_LOST,
                 MZ_CONFIG_RANDOM_SHARED,
                 MZ_CONFIG_SURW_SHARED,
                 MZ_CONFIG_PREEMPTIONS_SHARED,
                 MZ_CONFIG_DELAYS_SHARED,
                 MZ_CONFIG_STATEFUL, /* from here on: see check_states.c */
                 MZ_CONFIG_EXACT,    /* the same, states compared whole */
                 MZ_CONFIG_S_POR,
                 MZ_CONFIG_S_POR_RANDOM,
                 MZ_CONFIG_DE_S_POR,
                 MZ_CONFIG_DE_S_POR_VISITED,
                 MZ_CONFIG_DL_S_POR,
                 MZ_CONFIG_DL_S_POR_RANDOM, /* the order of threads */
                 MZ_CONFIG_DL_S_POR_VISITED,
                 MZ_CONFIG_DL_S_POR_LEARNED,
                 MZ_CONFIG_SDPOR,
                 MZ_CONFIG_SDPOR_RANDOM,
                 MZ_CONFIG_SDPOR_NAIVE, /* may miss states */
                 MZ_CONFIG_SDPOR_INITIAL,
                 MZ_CONFIG_SDPOR_INITIAL_RANDOM,
                 MZ_CONFIG_STATIC_STATEFUL,
                 MZ_CONFIG_STATEFUL_SLEEP,
                 MZ_CONFIG_STATIC_STATEFUL_SLEEP,
                 MZ_CONFIG_SHARES, /* from here on: see shared_states.c */
                 MZ_CONFIG_STATEFUL_SHARES = MZ_CONFIG_SHARES,
                 MZ_CONFIG_S_POR_SHARES,
                 MZ_CONFIG_DE_S_POR_SHARES,
                 MZ_CONFIG_DL_S_POR_SHARES,
                 MZ_CONFIG_DL_S_POR_LEARNED_SHARES,
                 MZ_CONFIG_SDPOR_SHARES,
                 MZ_CONFIG_FORGETS, /* from here on: states are forgotten from some time on */
                 MZ_CONFIG_S_POR_FORGETS,
                 MZ_CONFIG_DE_S_POR_FORGETS,
                 MZ_CONFIG_DL_S_POR_FORGETS,
                 MZ_CONFIG_SDPOR_FORGETS,
                 MZ_CONFIGS,
                 MZ_CONFIG_ORACLE = MZ_CONFIGS /* the oracle's methods against each other */
};

static inline mz_configs mz_config_bit(int config) { return (mz_configs)1 << config; }

const char *mz_config_name(enum mz_config config);
const char *mz_stateful_name(enum mz_config config); /* check_states.c */

struct mz_limits {
    uint32_t prefixes;      /* of the oracle: larger programs are skipped */
    uint64_t interleavings; /* most for the algorithm `none`, the others that do not reduce, and the plain
                               oracle */
    uint64_t swaps;         /* most interleavings for counting classes by swaps (swap.h) */
    mz_configs configs;
    bool order;       /* compare the happens-before relations */
    uint32_t states;  /* programs with more are skipped, if they have loops */
    int thread_order; /* enum mz_order; -1: each program has another one, by its seed */
    uint64_t literal; /* most sequences that literal.c may look at: larger programs are left out */
};

struct mz_run_counts {
    uint64_t programs, executions, blocked;            /* of one algorithm */
    uint64_t states, transitions, revisited, outcomes; /* of a stateful one */
    uint64_t near,
        far; /* literal: races that the engine looks at by sets of events, and by clocks (redundant_race.c) */
};

struct mz_checker {
    struct mz_limits limits;
    struct mz_oracle oracle;
    struct mz_findings engine, plain;
    bool loops;                     /* endless executions are possible: there are no classes */
    struct mz_reached all, reached; /* by the oracle; by a stateful algorithm */
    struct mz_set sequences;        /* of steps, of the engine's executions */
    struct mz_model_explorer *explorers[MZ_CONFIGS]; /* made when first needed */
    struct mz_shared *shared[MZ_CONFIGS];
    struct mz_sharing *sharing[MZ_CONFIGS];
    struct mz_set literal; /* classes that literal.c has explored */
    uint64_t shared_seed;  /* of the random events in a shared search, and of when memory is short */
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
void mz_checker_free(struct mz_checker *c);
/* Return all the ways in which the program can end. */
static inline const struct mz_findings *mz_check_ends(const struct mz_checker *c)
{
    return c->loops ? &c->all.finals : &c->oracle.found;
}

/* For check.c and check_states.c: record a difference, in words. Returns false, for the caller to return. */
bool mz_differ(struct mz_checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For configurations whose memory is short: how many requests for memory succeed. */
static inline uint64_t mz_check_asks(const struct mz_checker *c)
{
    uint64_t z = (c->shared_seed + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (z >> 32) % (1u << (z >> 8) % 9);
}
/* The order of threads for the stateless configurations. */
static inline enum mz_order mz_check_order(const struct mz_checker *c)
{
    if (c->limits.thread_order >= 0) return (enum mz_order)c->limits.thread_order;
    return (enum mz_order)(c->shared_seed % (MZ_ORDER_RANDOM + 1));
}
/* check_literal.c: optimal against the paper's algorithm, tree by tree. */
bool mz_check_literal(struct mz_checker *c, const struct mz_model *m);
bool mz_check_persistent(struct mz_checker *c, const struct mz_model *m);
/* check_bounds.c */
bool mz_check_bounds(struct mz_checker *c, const struct mz_model *m, enum mz_bound bound);
/* check_sampling.c */
bool mz_check_sampling(struct mz_checker *c, const struct mz_model *m, enum mz_strategy_kind strategy);
/* check_states.c: one stateful algorithm, and the oracle for all of them. */
bool mz_check_stateful(struct mz_checker *c, const struct mz_model *m);
enum mz_answer mz_check_states_oracle(struct mz_checker *c, const struct mz_model *m);

#endif
