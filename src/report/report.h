/* What a run found, in the words of the user's program: names, files and lines instead of addresses.
 *
 * collect.c makes it from the channel; text.c, json_report.c and tracefile.c only read it, and
 * tracefile.c also reads it back. So whatever a report shows, `mazurka show` can show from the file alone.
 * Every pointer in here is owned by the struct that holds it, and may be NULL where something is unknown.
 */
#ifndef MZ_REPORT_REPORT_H
#define MZ_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event/channel.h"
#include "event/op.h"
#include "base/list.h"
#include "base/message.h"
#include "report/interval.h"

enum mz_verdict { MZ_VERIFIED, MZ_ERROR, MZ_INCOMPLETE, MZ_VACUOUS, MZ_FAILED };

struct mz_frame { /* one function of a call stack */
    char *function;
    char *file; /* NULL: no debug information */
    unsigned line;
};

struct mz_stack { /* innermost first */
    struct mz_frame *frames;
    size_t count, capacity;
};

struct mz_operation { /* one row of the schedule */
    uint32_t step;    /* number of the scheduling decision it belongs to, from 1 */
    uint8_t thread, op;
    int other; /* thread created, joined, woken; -1: none */
    bool failed, racing;
    char *object;
    char *value, *new_value; /* new_value: what RMW and CAS stored */
    char *file;
    unsigned line;
};

struct mz_thread_report { /* a thread and its state at the finding */
    uint8_t slot, state, op;
    int holder; /* thread that holds the mutex or is waited for; -1: nobody */
    char *name, *function;
    char *object;
    struct mz_stack stack;
};

struct mz_access_report { /* one side of a data race; of nondeterminism: [0] now, [1] before */
    uint8_t thread, op;
    char *object; /* nondeterminism; else NULL */
    uint32_t size;
    struct mz_stack stack;
};

struct mz_leak_report { /* blocks that were allocated in one place */
    uint64_t blocks, bytes;
    struct mz_access_report allocated;
};

struct mz_finding_report { /* a finding, explained */
    enum mz_kind kind;
    char *message;    /* what is wrong, without place and thread */
    char *expression; /* of a failed assertion */
    char *file;
    unsigned line;
    uint8_t thread;
    int code;                          /* signal number or exit status */
    uint64_t execution;                /* number of the execution that found it, from 1 */
    uint64_t hash;                     /* equal for the same error of the same program */
    uint64_t address, size;            /* data race: what to watch when replaying */
    uint64_t block;                    /* heap: start of the block that the finding is about; 0: none */
    char *object;                      /* data race: its name */
    struct mz_access_report access[2]; /* [0]: here; [1]: data race: the earlier access */
    struct mz_access_report allocated, freed; /* heap: history of the block; op is NONE if not known */
    struct mz_leak_report *leaks;
    size_t leak_count;
    struct mz_thread_report *threads;
    size_t thread_count;
    struct mz_operation *operations;
    size_t operation_count, operation_capacity;
    uint64_t operations_lost;     /* operations that could not be recorded */
    struct mz_thread_info *slots; /* MZ_MAX_THREADS of them: which thread is which slot; see thread_paths.h */
    struct mz_step *schedule;
    size_t schedule_length;
    struct mz_location *locations; /* --data-races=allow: accesses to these were operations */
    size_t location_count;
    char *trace;          /* file name, NULL if none was written */
    bool replayed;        /* replayed with the same result */
    char *replay_problem; /* otherwise: why not */
};

/* Where executions come from: the search put this operation off to reach them (event/hot_spot.h). */
struct mz_hot_spot_report {
    uint8_t op;
    char *object; /* NULL: several, or not known */
    char *file;   /* NULL: not known */
    unsigned line;
    double share;            /* part of the executions */
    unsigned threads, times; /* number of threads that do it in an execution; how often one thread does it */
};

/* A search by several workers: the cost of sharing. */
struct mz_sharing {
    uint32_t workers;    /* largest number at one time; 0: the search was not shared */
    uint32_t wanted;     /* number that the user asked for */
    uint32_t ranks;      /* ranks of mpirun that took part; 0: mpirun did not start us */
    uint32_t hosts;      /* hosts of these ranks */
    uint32_t lost_ranks; /* ranks that died; other ranks explored their parts */
    uint32_t lost;       /* workers that died and were replaced */
    uint64_t redundant;  /* executions that were explored again because of that */
    uint64_t tasks;      /* tasks handed out */
    uint64_t parts;      /* branches in these tasks */
    uint64_t splits;     /* nodes given up and branches given back */
    uint64_t updates;    /* races to be reversed at nodes of the balancer ... */
    uint64_t inserted;   /* ... and the new branches that they caused */
    uint64_t bytes;      /* bytes sent by all */
    double idle;         /* part of the time that workers waited for tasks */
    double processor;    /* processor seconds of the command and all workers */
    bool is_resumed;     /* continued a checkpoint ... */
    uint64_t resumed;    /* ... after this many executions, which count, too */
    bool is_saved;       /* a checkpoint of the rest has been written */
};

/* Another search that ran beside this one. */
struct mz_beside {
    const char *name; /* of its algorithm or strategy */
    uint64_t executions, states;
    uint64_t classes; /* of a sample: that were met */
    bool error;       /* it has found one */
};

struct mz_report {
    enum mz_verdict verdict;
    char *program;
    const char *algorithm; /* as in --algorithm */
    const char *strategy;  /* as in --strategy: a sampling one; NULL: exhaustive */
    unsigned depth;        /* D of pct:D */
    bool repeats;          /* mz_strategy_repeats() */
    struct mz_sample sample;
    struct {
        enum mz_bound kind;
        uint32_t limit;
        bool complete;    /* everything within the bound was explored, and something is beyond it */
        bool some_before; /* auto: everything with less than `limit` was explored before */
    } bound;
    const char *checkpoint; /* file of the checkpoint; NULL: none */
    char *reason;           /* incomplete, vacuous, failed: why */
    bool interrupted;       /* stopped before the whole space was explored (also at the first error) */
    bool replay;            /* one schedule was run, nothing was searched */
    struct mz_counters counters;
    struct mz_interval estimate; /* executions of the whole search, by a survey */
    bool only_estimate;          /* --estimate=only: nothing was searched */
    double seconds;
    struct mz_sharing sharing;
    double switch_ns; /* time of a thread switch and back, to compare machines */
    uint64_t peak_memory;
    double processor;      /* seconds of processor time, if the search was not shared */
    uint64_t memory_limit; /* 0: none */
    enum mz_end end;       /* how it ended */
    uint32_t lost_workers; /* the search started over with one worker instead of this many; 0: it did not */
    bool too_fine;         /* the reason was tiny tasks, not missing memory */
    struct mz_finding_report *findings;
    size_t finding_count;
    bool findings_lost;                   /* there are more */
    struct mz_hot_spot_report *hot_spots; /* the largest first */
    size_t hot_spot_count;
    struct mz_beside *beside;
    size_t beside_count;
    struct mz_list unreached; /* assertions that no execution has reached: "file.c:12: expression" */
    uint32_t assertions;      /* all that are known */
    struct mz_list unseen;    /* what the program does and the search did not see or model */
    char *unreplayed;         /* a finding that could not be replayed; NULL: none */
    bool strict;              /* if something was not seen, the verdict is not verified */
    struct mz_list notes;     /* remarks */
    char *hint;               /* advice how to search faster; NULL: none */
    struct mz_list warnings;
};

const char *mz_bound_unit(enum mz_bound bound); /* preemption, delay */
const char *mz_verdict_name(enum mz_verdict verdict);
enum mz_status mz_verdict_status(enum mz_verdict verdict);

const struct mz_thread_report *mz_finding_report_thread(const struct mz_finding_report *finding,
                                                        int slot); /* NULL: no such thread */
const char *mz_finding_report_thread_name(const struct mz_finding_report *finding,
                                          int slot); /* "0.1"; never NULL */

struct mz_frame *mz_stack_add(struct mz_stack *s, const char *function, const char *file, unsigned line);
void mz_stack_copy(struct mz_stack *to, const struct mz_stack *from);
void mz_stack_release(struct mz_stack *s);
void mz_finding_report_set_locations(struct mz_finding_report *finding, const struct mz_location *locations,
                                     size_t count);
struct mz_operation *mz_finding_report_add_operation(struct mz_finding_report *finding);
void mz_finding_report_release(struct mz_finding_report *finding);
void mz_hot_spot_report_release(struct mz_hot_spot_report *spot);
void mz_report_release(struct mz_report *report);

#endif
