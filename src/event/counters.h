/* What the target counts while it searches: a part of the channel (event/channel.h). The command reads the counters at
 * any time; they are plain memory, so two of them need not be from the same moment. */
#ifndef MZ_EVENT_COUNTERS_H
#define MZ_EVENT_COUNTERS_H

#include <stdint.h>

#define MZ_ALL_WORK        1000000000000000000ull /* work_done when nothing is left */
#define MZ_NEARLY_ALL_WORK 999000000000000000ull  /* largest work_done while anything is left */
#define MZ_ROUNDS          3u /* rounds of an endless loop in a bounded search: runtime/loops/rounds.c */

struct mz_counters {
    /* Complete executions. In the channel of a stateful search, also those that end in a known state. */
    uint64_t executions;
    uint64_t blocked;          /* executions that ended early because every enabled thread was asleep */
    uint64_t cut;              /* executions that ended in a loop which waits for another execution's write */
    uint64_t transitions;      /* visible operations executed, without replayed prefixes */
    uint64_t operations;       /* visible operations executed, with replayed prefixes */
    uint64_t local_operations; /* spawns, joins, releases */
    uint64_t max_depth, threads; /* threads: largest number in one execution */
    uint64_t races;              /* reversible races analysed */
    uint64_t wakeup_nodes, wakeup_nodes_peak;
    /* With --count-sets: backtrack sets or wakeup trees; their sizes added up; the largest size (engine/count_sets.c). */
    uint64_t sets, set_sizes, largest_set;
    uint64_t states;    /* stateful algorithms: distinct states */
    uint64_t revisited; /* executions that ended in a known state */
    uint64_t matches;   /* lookups that found a known state */
    uint64_t peeks;     /* steps that were tried only to see whether they lead to a new state */
    uint64_t restarts;  /* how often the search started over, because a location or mutex needed more care */
    uint64_t hooks;     /* calls of hooks; 0: nothing was checked */
    uint64_t engine_bytes; /* memory of the engine */
    uint64_t unjoined;     /* executions that ended while threads were still running or waiting */
    uint64_t kept;         /* executions in which every assumption (mz_assume) held, in all searches */
    uint64_t bounded;      /* threads stopped after MZ_ROUNDS rounds of an endless loop */
    uint64_t uncreated;    /* threads stopped where they would create one more thread than there may be */
    uint64_t beyond;    /* branches that the bound of the search has left out; 0: it has excluded nothing */
    uint64_t fell_back; /* executions before optimal continued as source to save memory; 0: it did not */
    uint64_t work_done; /* estimated part of the search that is done, of MZ_ALL_WORK; 0: not known */
    uint64_t expected;  /* estimated executions, blocked and cut ones included, of this worker's whole task */
    uint64_t forgot;    /* states before the search forgot states to save memory; 0: it did not */
};

#endif
