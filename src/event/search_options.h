/* What the command asks the target to do: the part of the channel (event/channel.h) that the command writes. */
#ifndef MZ_EVENT_SEARCH_OPTIONS_H
#define MZ_EVENT_SEARCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum mz_mode {
    MZ_MODE_EXPLORE = 1, /* explore all executions, write counters and findings */
    MZ_MODE_REPLAY = 2   /* run options.schedule once, and record every operation into `records` */
};

/* Which thread is tried first at a new node, and which branch of a backtrack set comes next. */
enum mz_order {
    MZ_ORDER_LAST_THREAD, /* stateless: the thread of the step before while it can go on, else the lowest number */
    MZ_ORDER_NAMES,       /* stateless: the same, but else the first name as text: 0.10 comes before 0.2 */
    MZ_ORDER_ROUND_ROBIN,   /* stateless: the number after that of the step before */
    MZ_ORDER_DESCENDING,    /* stateless: the highest number */
    MZ_ORDER_SEQUENTIAL,    /* the lowest number */
    MZ_ORDER_RANDOM,        /* with order_seed */
    MZ_ORDER_VISITED_FIRST, /* stateful */
    MZ_ORDER_LEARNED        /* stateful */
};
static inline bool mz_order_is_stateless(enum mz_order order) { return order <= MZ_ORDER_RANDOM; }
static inline bool mz_order_is_stateful(enum mz_order order) { return order >= MZ_ORDER_SEQUENTIAL; }

enum mz_capture {
    MZ_CAPTURE_EXACT,
    MZ_CAPTURE_DELTA, /* a local state is identified by the changes that led to it (2008) */
    MZ_CAPTURE_ALWAYS /* exact, also with stateless algorithms: to measure what it costs */
};

enum mz_backtrack { /* how to get back to the node of the next branch */
                    MZ_BACKTRACK_AUTO,
                    MZ_BACKTRACK_UNDO,       /* undo the writes since that node */
                    MZ_BACKTRACK_CHECKPOINT, /* the same, but find the writes by comparing memory */
                    MZ_BACKTRACK_RERUN       /* run the program again from its start */
};

enum mz_safe {                /* how far the search trusts the hooks */
               MZ_SAFE_OFF,   /* hooks show all writes, and going back is exact */
               MZ_SAFE_PAGES, /* hooks may miss writes: compare memory */
               MZ_SAFE_RERUN /* going back may be inexact, too: run every execution from the start if possible */
};

enum mz_bound { /* of the executions that are explored: engine/reduction/bounded.c */
                MZ_BOUND_NONE,
                MZ_BOUND_PREEMPTIONS,
                MZ_BOUND_DELAYS
};
#define MZ_MOST_BOUND 1000000u

struct mz_options_block {
    uint32_t mode, algorithm;
    uint32_t strategy;       /* enum mz_strategy_kind */
    uint32_t strategy_depth; /* D of pct:D */
    uint64_t seed;           /* of a sampling strategy */
    uint32_t bound;          /* enum mz_bound */
    uint32_t bound_limit;    /* K */
    uint32_t order;          /* enum mz_order */
    uint32_t exact_match;    /* compare whole states, not only their hashes */
    uint64_t order_seed;
    uint8_t sleep_sets, allow_races, keep_going, heap_reuse;
    uint8_t show_output; /* leave the program's standard output and error alone */
    uint8_t spurious_wakeups;
    uint8_t leaks;
    uint8_t nondet_given;
    uint8_t backtrack;   /* enum mz_backtrack */
    uint8_t unseen_code; /* the program has functions that access memory without hooks */
    /* MZ_MODE_REPLAY: the schedule ends where threads loop for ever: check that they do */
    uint8_t goes_round;
    uint8_t state_capture; /* enum mz_capture */
    uint8_t poke_dead;     /* for tests: overwrite memory that is not part of the state */
    uint8_t shared;       /* this is a worker that gets its tasks through link.h; 2: share even small tasks */
    uint8_t eager;        /* dpor: 2007, Fig. 9 */
    uint8_t keep;         /* a worker: give back the rest of the task before a limit ends the worker */
    uint8_t strict;       /* for tests: an event without the access that the wakeup tree foresaw is MZ_BUG */
    uint8_t check_states; /* for tests: from a known state, try all steps up to this depth */
    uint8_t safe;         /* enum mz_safe */
    uint8_t trusting;     /* for tests: trust code without hooks until memory shows that it writes */
    uint8_t fences_are_events;       /* for memory models, and for tests: a fence is a visible operation */
    uint8_t classes;                 /* the channel's tree_file is for classes */
    uint8_t persistent;              /* explore persistent sets only: engine/persistent.c */
    uint8_t marks;                   /* dpor, classic: engine/backtrack_set.c */
    uint8_t count_sets;              /* engine/count_sets.c */
    int64_t nondet_low, nondet_high; /* range of __VERIFIER_nondet_int and the like */
    uint64_t max_steps, max_executions, memory_limit; /* 0: none */
    volatile uint32_t stop;                           /* the command asks to stop (time limit, SIGINT) */
    uint32_t schedule_length;                         /* MZ_MODE_REPLAY */
    uint64_t schedule_offset;
    /* Replaying a data race: record plain accesses to these bytes. */
    uint64_t race_address, race_size;
    uint64_t survey;        /* estimate the number of executions (engine/tours.c): a seed; 0: search */
    uint64_t block_address; /* replaying a finding about a heap block: record the history of this block */
};

#endif
