/* What a run found, in the words of the user's program: names, files and lines instead of addresses.
 *
 * collect.c makes it from the channel; text.c, report_json.c and tracefile.c only read it, and
 * tracefile.c also reads it back. So whatever a report shows, `mazurka show` can show from the file alone.
 * Every pointer in here is owned by the struct that holds it, and may be NULL where something is unknown.
 */
#ifndef MZ_REPORT_REPORT_H
#define MZ_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../event/channel.h"
#include "../event/op.h"
#include "list.h"
#include "message.h"

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

struct mz_thread_report { /* a thread and its state when the bug struck */
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

struct mz_bug { /* a finding, explained */
    enum mz_kind kind;
    char *message;    /* what is wrong, without place and thread */
    char *expression; /* of a failed assertion */
    char *file;
    unsigned line;
    uint8_t thread;
    int code;                                 /* signal number or exit status */
    uint64_t execution;                       /* that found it, from 1 */
    uint64_t hash;                            /* the same for the same bug of the same program */
    uint64_t address, size;                   /* data race: what to watch when replaying */
    uint64_t block;                           /* heap: the start of the block that it is about; 0: none */
    char *object;                             /* data race: its name */
    struct mz_access_report access[2];        /* [0]: here; [1]: data race: the earlier access */
    struct mz_access_report allocated, freed; /* heap: history of the block; op is NONE if not known */
    struct mz_leak_report *leaks;
    size_t leak_count;
    struct mz_thread_report *threads;
    size_t thread_count;
    struct mz_operation *operations;
    size_t operation_count, operation_capacity;
    uint64_t operations_lost;     /* more than could be recorded */
    struct mz_thread_info *slots; /* MZ_MAX_THREADS of them: which thread is which slot; see thread_paths.h */
    struct mz_step *schedule;
    size_t schedule_length;
    struct mz_location *locations; /* --data-races=allow: accesses to these were operations */
    size_t location_count;
    char *trace;          /* file name, NULL if none was written */
    bool replayed;        /* run again, same outcome */
    char *replay_problem; /* else: why not */
};

/* Of a search by several workers: what sharing it took. */
struct mz_sharing {
    uint32_t workers;    /* how many at once, at most; 0: the search was not shared */
    uint32_t wanted;     /* as many were asked for */
    uint32_t ranks;      /* of mpirun, that took part; 0: it did not start us */
    uint32_t hosts;      /* that they are on */
    uint32_t lost_ranks; /* that died, and whose parts others explored */
    uint32_t lost;       /* workers that died, and were replaced */
    uint64_t redundant;  /* executions that were explored again because of that */
    uint64_t tasks;      /* handed out */
    uint64_t parts;      /* branches in them */
    uint64_t splits;     /* nodes given up, branches given back */
    uint64_t updates;    /* races to be reversed at nodes of the balancer's ... */
    uint64_t inserted;   /* ... and new branches there because of them */
    uint64_t bytes;      /* sent, by all */
    double idle;         /* share of the time that workers waited for something to do */
    double processor;    /* seconds of it, of the command and all workers */
    bool is_resumed;     /* went on with a checkpoint, ... */
    uint64_t resumed;    /* ... after so many executions, which count, too */
    bool is_saved;       /* a checkpoint of what is left has been written */
};

struct mz_report {
    enum mz_verdict verdict;
    char *program;
    const char *algorithm;  /* as in --algorithm */
    const char *checkpoint; /* where one is written; NULL: nowhere */
    char *reason;           /* incomplete, vacuous, failed: why */
    bool interrupted;       /* stopped before the whole space was explored (also at the first bug) */
    bool replay;            /* one schedule was run, nothing was searched */
    struct mz_counters counters;
    double seconds;
    struct mz_sharing sharing;
    double switch_ns; /* a switch of threads and back, as a yardstick */
    uint64_t peak_memory;
    double processor;      /* seconds of processor time, if the search was not shared */
    uint64_t memory_limit; /* 0: none */
    enum mz_end end;       /* how it ended */
    uint32_t lost_workers; /* it started over with one instead of so many; 0: it did not */
    bool too_fine;         /* as each execution was handed out by itself, not for want of memory */
    struct mz_bug *bugs;
    size_t bug_count;
    bool bugs_lost;        /* there are more */
    struct mz_list unseen; /* what the program does and the search did not see or model */
    char *unreplayed;      /* a finding that could not be replayed; NULL: none */
    bool strict;           /* with anything unseen, nothing is verified */
    struct mz_list notes;  /* remarks */
    char *hint;            /* what would be faster; NULL: nothing */
    struct mz_list warnings;
};

const char *mz_verdict_name(enum mz_verdict verdict);
enum mz_status mz_verdict_status(enum mz_verdict verdict);

const struct mz_thread_report *mz_bug_thread(const struct mz_bug *bug, int slot); /* NULL: no such thread */
const char *mz_bug_thread_name(const struct mz_bug *bug, int slot);               /* "0.1"; never NULL */

struct mz_frame *mz_stack_add(struct mz_stack *s, const char *function, const char *file, unsigned line);
void mz_stack_copy(struct mz_stack *to, const struct mz_stack *from);
void mz_stack_release(struct mz_stack *s);
void mz_bug_set_locations(struct mz_bug *bug, const struct mz_location *locations, size_t count);
struct mz_operation *mz_bug_add_operation(struct mz_bug *bug);
void mz_bug_release(struct mz_bug *bug);
void mz_report_release(struct mz_report *report);

#endif
