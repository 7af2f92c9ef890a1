/* The memory shared by the command and the program under test (the target).
 *
 * The command creates it (memfd), fills in `options`, and starts the target with the descriptor's number in the
 * environment variable MAZURKA_CHANNEL. The target writes everything else. It is plain memory without locks: after the
 * start the target is the only writer. The command reads counters at any time, and everything else after the target has
 * ended. If the target dies, `live` still holds the schedule of the execution that killed it.
 *
 * The parts by subject: search_options.h, counters.h, finding.h, program_memory.h; limits.h has the sizes of the arrays.
 * Both sides are built from these headers; MZ_CHANNEL_VERSION must change with every change of layout.
 */
#ifndef MZ_EVENT_CHANNEL_H
#define MZ_EVENT_CHANNEL_H

#include <stdint.h>
#include "event/algorithm.h"
#include "event/counters.h"
#include "event/finding.h"
#include "event/hot_spot.h"
#include "event/limits.h"
#include "event/program_memory.h"
#include "event/sample.h"
#include "event/search_options.h"
#include "event/survey.h"

#define MZ_CHANNEL_MAGIC   0x4d5a43484e310a00ull
#define MZ_CHANNEL_VERSION 37u
#define MZ_CHANNEL_ENV     "MAZURKA_CHANNEL"

enum mz_end { /* why the target stopped */
              MZ_END_RUNNING = 0,
              MZ_END_COMPLETE,    /* all executions were explored; replaying: the whole schedule was run */
              MZ_END_FINDING,     /* stopped at the first finding */
              MZ_END_EXECUTIONS,  /* --max-executions */
              MZ_END_STEPS,       /* --max-steps: end_thread, end_pc say where */
              MZ_END_TIME,        /* the command asked to stop: options.stop */
              MZ_END_MEMORY,      /* --memory-limit */
              MZ_END_UNSUPPORTED, /* end_text says what is not supported, and what to do instead */
              MZ_END_INTERNAL,    /* a bug of ours: end_text */
              MZ_END_DIVERGED,    /* replaying: the schedule does not fit this program; end_text */
              MZ_END_UNSEEN,  /* memory changed without a hook: the search must start over in the safe mode */
              MZ_END_ROUNDS,  /* complete, except for endless loops: counters.bounded is not 0 */
              MZ_END_THREADS, /* complete, up to where there would be too many threads: counters.uncreated */
              MZ_END_COUNT
};

struct mz_assertion {       /* of the program, if a plug-in compiled it */
    char text[MZ_TEXT - 8]; /* "file.c:12: expression" */
    uint32_t reached, reserved;
};

struct mz_channel {
    uint64_t magic;
    uint32_t version, size_of_header; /* sizeof(struct mz_channel) */
    uint64_t size;                    /* of the whole mapping */
    struct mz_options_block options;
    struct mz_counters counters;
    struct mz_sample sample;       /* of a sampling strategy */
    struct mz_survey_board survey; /* with options.survey */
    uint32_t end;                  /* enum mz_end */
    uint32_t end_thread;           /* MZ_END_STEPS, _UNSUPPORTED: slot */
    struct mz_place end_place;
    char end_text[2 * MZ_TEXT];
    uint32_t started;      /* the runtime got control before main */
    uint32_t instrumented; /* some loaded code calls our hooks */
    uint32_t module_count, finding_count, record_count;
    uint32_t record_lost;   /* records that did not fit */
    uint32_t findings_lost; /* there are more findings than fit */
    uint32_t reserved_lost;
    struct mz_module modules[MZ_MAX_MODULES];
    struct mz_thread_info threads[MZ_MAX_THREADS];
    /* the last one is scratch space when the array is full */
    struct mz_finding findings[MZ_MAX_FINDINGS + 1];
    uint64_t live_offset; /* struct mz_step[]: the current execution ... */
    uint64_t live_capacity;
    volatile uint64_t live_length;                 /* ... and its steps so far */
    uint64_t records_offset, records_capacity;     /* struct mz_record[] */
    uint64_t arena_offset, arena_used, arena_size; /* schedules of findings */
    uint64_t link_offset;                          /* struct mz_link */
    uint64_t common_offset;                        /* struct mz_common, a page or more of its own */
    char tree_file[4096];                          /* --record-tree or --classes; empty: none */
    uint32_t tree_error, reserved5;                /* errno if the tree could not be written */
    char notes[8][MZ_TEXT];                        /* remarks; an empty string ends the list */
    char unseen[MZ_MAX_UNSEEN][MZ_LONG_TEXT];      /* what the search did not see; ends in the same way */
    uint32_t unseen_write_count, reserved7;
    struct mz_unseen_write unseen_writes[MZ_MAX_UNSEEN_WRITES];
    uint32_t assertion_count, assertions_lost; /* lost: there are more */
    struct mz_assertion assertions[MZ_MAX_ASSERTIONS];
    char hint[MZ_TEXT];             /* advice how to search faster; empty: none */
    volatile uint32_t analysing;    /* between executions: the program does not run */
    volatile uint64_t kernel_calls; /* number of system calls that have returned */
    volatile uint32_t in_kernel;    /* the program is inside a system call ... */
    uint32_t kernel_thread;         /* ... of this slot ... */
    char kernel_call[28];           /* ... of this name ... */
    struct mz_place kernel_place;   /* ... made here */
    double switch_ns;               /* time of a fiber switch and back, measured at the start */
    uint32_t area_count, name_count;
    struct mz_area areas[MZ_MAX_AREAS]; /* filled in when replaying */
    struct mz_given_name names[MZ_MAX_NAMES];
    uint64_t blocks_offset, blocks_capacity; /* struct mz_block_history[] */
    uint32_t block_count, reserved4;
    uint32_t warning_count, reserved3;
    struct mz_warning warnings[MZ_MAX_WARNINGS];
    uint32_t reorder_count, reserved6;
    struct mz_reorder reorders[MZ_MAX_REORDERS];
    struct mz_hot_spot hot_spots[MZ_MAX_HOT_SPOTS]; /* in any order, with free entries; written at the end */
    /* --data-races=allow: accesses to these are visible operations. When replaying, the command fills them in. */
    uint32_t location_count, reserved2;
    struct mz_location locations[MZ_MAX_LOCATIONS];
    struct mz_layout layout;    /* of this target */
    struct mz_layout reference; /* given by the command: messages use the addresses of this layout */
};

#endif
