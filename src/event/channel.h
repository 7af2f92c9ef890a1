/* The memory shared by the command and the program under test (the target).
 *
 * The command creates it (memfd), fills in `options`, and starts the target with the descriptor's number in
 * the environment variable MAZURKA_CHANNEL. The target writes everything else. Plain memory, no locks: the
 * target is the only writer after the start, the command reads counters at any time and all the rest after
 * the target has ended. If the target dies, `live` still holds the schedule it died on.
 *
 * Both sides are built from this header; MZ_CHANNEL_VERSION must change with every change of layout.
 */
#ifndef MZ_EVENT_CHANNEL_H
#define MZ_EVENT_CHANNEL_H

#include <stdint.h>

#define MZ_CHANNEL_MAGIC   0x4d5a43484e310a00ull
#define MZ_CHANNEL_VERSION 31u
#define MZ_CHANNEL_ENV     "MAZURKA_CHANNEL"

#define MZ_MAX_THREADS  64
#define MZ_MAX_FINDINGS 256
#define MZ_MOST_STEPS   1000000000u /* --max-steps */
#define MZ_MAX_MODULES  64
#define MZ_MAX_FRAMES   24
#define MZ_TEXT         256
#define MZ_LONG_TEXT    512
#define MZ_MAX_UNSEEN   32

enum mz_mode {
    MZ_MODE_EXPLORE = 1, /* explore everything, write counters and findings */
    MZ_MODE_REPLAY = 2   /* run options.schedule once, and record every operation into `records` */
};

enum mz_algorithm {
    MZ_ALG_NONE,
    MZ_ALG_DPOR,
    MZ_ALG_SOURCE,
    MZ_ALG_OPTIMAL,
    MZ_ALG_STATEFUL, /* this one and those that follow do not explore a state twice */
    MZ_ALG_S_POR,
    MZ_ALG_DE_S_POR,
    MZ_ALG_DL_S_POR,
    MZ_ALG_SDPOR
};

/* In which order the stateful algorithms try the threads that are enabled in a state. */
enum mz_order { MZ_ORDER_SEQUENTIAL, MZ_ORDER_RANDOM, MZ_ORDER_VISITED_FIRST, MZ_ORDER_LEARNED };

enum mz_kind { /* of a finding; the names in JSON are in mz_kind_name() */
               MZ_KIND_NOTHING,
               MZ_KIND_ASSERTION,
               MZ_KIND_DEADLOCK,
               MZ_KIND_DATA_RACE,
               MZ_KIND_CRASH, /* signal, abort, stack overflow */
               MZ_KIND_USE_AFTER_FREE,
               MZ_KIND_DOUBLE_FREE,
               MZ_KIND_INVALID_FREE,
               MZ_KIND_OUT_OF_BOUNDS,
               MZ_KIND_LEAK,
               MZ_KIND_API_MISUSE,
               MZ_KIND_LIVELOCK,
               MZ_KIND_NONDETERMINISM,
               MZ_KIND_EXIT_CODE,
               MZ_KIND_COUNT
};

enum mz_end { /* why the target stopped */
              MZ_END_RUNNING = 0,
              MZ_END_COMPLETE,    /* the whole space was explored (or, replaying: the schedule was run to its
                                     end) */
              MZ_END_FINDING,     /* stopped at the first finding */
              MZ_END_EXECUTIONS,  /* --max-executions */
              MZ_END_STEPS,       /* --max-steps: end_thread, end_pc say where */
              MZ_END_TIME,        /* the command asked to stop: options.stop */
              MZ_END_MEMORY,      /* --memory-limit */
              MZ_END_UNSUPPORTED, /* end_text says what and what to do instead */
              MZ_END_INTERNAL,    /* a bug of ours: end_text */
              MZ_END_DIVERGED,    /* replaying: the schedule does not fit this program; end_text */
              MZ_END_UNSEEN,      /* writes that no hook shows: the search must start over in the safe mode */
              MZ_END_ROUNDS,      /* complete, but for endless loops: counters.bounded is not 0 */
              MZ_END_COUNT
};

enum mz_capture {
    MZ_CAPTURE_EXACT,
    MZ_CAPTURE_DELTA, /* local states are known by what led to them (2008) */
    MZ_CAPTURE_ALWAYS /* exact, and stateless algorithms do so too: to measure what it costs */
};

struct mz_step {    /* one scheduling decision */
    uint8_t thread; /* slot; its name (0.1.2) is in channel.threads */
    uint8_t choice; /* which waiter, which value; 0 for most operations */
};

/* Where something happened: return addresses, innermost first, 0-terminated if shorter. Readers look up
 * pc - 1, so the address of a faulting instruction is stored plus one. */
struct mz_place {
    uint64_t pc[MZ_MAX_FRAMES];
};

/* A thread slot: slot 0 is main, and parents have lower slots than their children. The target gives out slots as it
 * meets threads; replaying, the command gives it the slots that the schedule was made with. */
struct mz_thread_info {
    uint8_t used;
    uint8_t parent;       /* slot */
    uint16_t spawn_index; /* 1 for the parent's first child */
    uint32_t reserved;
    uint64_t start;                /* address of the start routine */
    char name[2 * MZ_MAX_THREADS]; /* the path, "0.1.2"; the longest is 0.1.1.1... */
};

/* Final state of a thread at a finding. */
enum mz_thread_state {
    MZ_THREAD_ABSENT = 0,
    MZ_THREAD_RUNNABLE,
    MZ_THREAD_FINISHED,
    MZ_THREAD_LOCKING, /* waits for a mutex: object, holder */
    MZ_THREAD_WAITING, /* on a condition variable: object */
    MZ_THREAD_JOINING, /* waits for a thread: holder */
    MZ_THREAD_SEMWAIT,
    MZ_THREAD_BARRIER,
    MZ_THREAD_FUTEX,
    MZ_THREAD_SIGWAIT,  /* for a signal */
    MZ_THREAD_SPINNING, /* goes round a loop that changes nothing */
    MZ_THREAD_FAILED,   /* the finding happened here */
    MZ_THREAD_EXITING   /* called exit or returned from main */
};

struct mz_thread_final {
    uint8_t state;
    int8_t holder; /* slot of the thread that holds the mutex, or that is joined; -1: nobody */
    uint8_t op;    /* the operation it was about to do */
    uint8_t reserved[5];
    uint64_t object;
    struct mz_place place; /* filled in when replaying */
};

struct mz_finding {
    uint32_t kind;
    uint8_t thread;       /* slot where it happened (deadlock: the first blocked one) */
    uint8_t other_thread; /* data race: the earlier access */
    uint8_t op, other_op; /* data race: MZ_OP_READ, _WRITE or an atomic operation */
    int32_t code;         /* signal number, exit status */
    uint32_t size, other_size;
    uint64_t address; /* faulting, racing or freed address; leak: the first block */
    uint8_t area;     /* enum mz_area_kind of the object that the address lies in or near; 0: not known */
    uint8_t reserved[3];
    uint32_t block;                     /* replaying: its number in `blocks` plus one */
    uint64_t object_start, object_size; /* of that object; leak: all bytes */
    uint64_t frame_pc, frame_cfa;       /* replaying: see mz_record */
    uint64_t other_pc;                  /* data race: low half of where the earlier access was */
    uint64_t other_address;             /* nondeterminism: the object of before */
    uint64_t execution;                 /* number of the execution that found it, from 1 */
    uint64_t hash;                      /* equal for findings that are the same bug: kind and places */
    char text[MZ_TEXT];                 /* the failed expression, or a description */
    char file[MZ_TEXT];                 /* from __assert_fail; else empty, see place */
    uint32_t line;
    uint32_t locations;    /* of the channel's, so many were visible */
    uint32_t steps;        /* length of the schedule */
    uint64_t steps_offset; /* byte offset of struct mz_step[steps] in the channel */
    struct mz_place place, other_place;
    struct mz_thread_final threads[MZ_MAX_THREADS];
};

struct mz_record { /* replaying: one operation, visible or local, in the order it happened */
    uint8_t op, thread, access, other; /* other: slot of the thread spawned, joined, woken */
    uint32_t size;
    uint32_t step;                /* events committed before it was recorded */
    uint32_t flags;               /* MZ_RECORD_* */
    uint64_t object;              /* address of the variable, mutex, condition variable */
    uint64_t value;               /* value read, or stored; for CAS the value found */
    uint64_t value2;              /* RMW, CAS: the new value (CAS: if it succeeded) */
    uint64_t frame_pc, frame_cfa; /* the object lies on a stack: return address into its function, and the end
                                     of the frame (DWARF's canonical frame address) */
    struct mz_place place;
};
#define MZ_RECORD_HAS_VALUE 1u
#define MZ_RECORD_FAILED    2u /* CAS or trylock that failed */
#define MZ_RECORD_RACING    4u /* one of the two accesses of the data race */

struct mz_block_history { /* replaying: a block of the heap */
    uint64_t start, size;
    uint32_t since; /* records before it was allocated */
    uint8_t allocated_by, freed_by, is_freed, is_leaked;
    struct mz_place allocated, freed;
};

struct mz_module { /* a loaded ELF file: symbolize pc - bias in path */
    uint64_t bias, start, end;
    uint32_t instrumented; /* calls our hooks */
    uint32_t tls_offset;   /* its thread-local variables begin this far below the thread pointer; 0: none */
    char path[512];
};

struct mz_part { /* of a target's memory: layout.h */
    uint64_t id; /* equal for what is the same in another target */
    uint64_t start, size;
    uint32_t module, reserved; /* its number plus one; 0: none */
};
#define MZ_MAX_PARTS (MZ_MAX_MODULES + MZ_MAX_THREADS + 16)
struct mz_layout {
    volatile uint32_t count; /* 0: not known yet */
    uint32_t reserved;
    struct mz_part parts[MZ_MAX_PARTS];
};

struct mz_unseen_write { /* memory that changed without a hook: audit.c */
    uint64_t address;
    uint64_t pc; /* where the thread was stopped next; 0: not known */
    uint32_t size;
    uint8_t thread; /* that ran; MZ_MAX_THREADS: not known */
    uint8_t reserved[3];
};
#define MZ_MAX_UNSEEN_WRITES 16

#define MZ_MAX_WARNINGS  16
#define MZ_MAX_REORDERS  4
#define MZ_WARNING_STEPS 4
struct mz_warning { /* mutexes that are taken in a circle */
    uint32_t steps, reserved;
    struct {
        uint64_t held, locked; /* the thread locked one while it held the other ... */
        uint64_t pc;           /* ... here */
        uint8_t thread, reserved[7];
    } step[MZ_WARNING_STEPS];
};

/* Two atomic accesses of a thread, in the order of the program, that their memory orders leave unordered. */
struct mz_reorder {
    uint64_t key[2], pc[2];
    uint8_t writes[2], thread, reserved[5];
};

enum mz_location_kind {
    MZ_LOCATION_ADDRESS,
    MZ_LOCATION_MODULE,
    MZ_LOCATION_HEAP,
    MZ_LOCATION_STACK,
    MZ_LOCATION_TLS
};
struct mz_location { /* 4 bytes of program memory, found again in another run of the program */
    uint8_t kind;    /* enum mz_location_kind */
    uint8_t index;   /* module, or slot of the thread */
    uint8_t reserved[6];
    uint64_t offset; /* from the module's bias, the start of the arena; down from the end of stack or block */
};
#define MZ_MAX_LOCATIONS 4096

enum mz_area_kind { MZ_AREA_HEAP = 1, MZ_AREA_STACK, MZ_AREA_TLS, MZ_AREA_GLOBAL };

struct mz_area { /* memory that belongs to no module, so that reports can say what an address is */
    uint64_t start, end;
    uint8_t kind;   /* enum mz_area_kind */
    uint8_t thread; /* slot */
    uint8_t reserved[6];
};
#define MZ_MAX_AREAS (3 * MZ_MAX_THREADS)

struct mz_given_name { /* from mz_name(&x, "x"); a later one for the same address wins */
    uint64_t address;
    char name[56];
};
#define MZ_MAX_NAMES 64

enum mz_backtrack { /* how to come to the node of the next branch */
                    MZ_BACKTRACK_AUTO,
                    MZ_BACKTRACK_UNDO,       /* take back what was written since */
                    MZ_BACKTRACK_CHECKPOINT, /* the same, found by comparing memory */
                    MZ_BACKTRACK_RERUN       /* run the program again from its start */
};

enum mz_safe { /* is it believed that the hooks show all writes, and that going back is exact? */
               MZ_SAFE_OFF,
               MZ_SAFE_PAGES, /* not the former: memory is compared */
               MZ_SAFE_RERUN  /* neither: every execution is run from the start, if it can be */
};

struct mz_options_block {
    uint32_t mode, algorithm;
    uint32_t order;       /* enum mz_order */
    uint32_t exact_match; /* states are compared as a whole */
    uint64_t order_seed;
    uint8_t sleep_sets, allow_races, keep_going, heap_reuse;
    uint8_t show_output; /* leave the program's standard output and error alone */
    uint8_t spurious_wakeups;
    uint8_t leaks;
    uint8_t nondet_given;
    uint8_t backtrack;   /* enum mz_backtrack */
    uint8_t unseen_code; /* the program has functions that access memory without hooks */
    uint8_t
        goes_round; /* MZ_MODE_REPLAY: the schedule ends where threads go round for ever: see that they do */
    uint8_t state_capture; /* enum mz_capture */
    uint8_t poke_dead;     /* for tests: what does not belong to the state is overwritten */
    uint8_t shared; /* a worker: explores what it is told to (link.h); 2: gives even small pieces to others */
    uint8_t eager;  /* dpor: 2007, Fig. 9 */
    uint8_t keep;   /* a worker: before a limit ends it, it gives back what is left of its task */
    uint8_t strict; /* for tests: an event without the access that the wakeup tree foresaw is MZ_BUG */
    uint8_t check_states; /* for tests: steps that are all tried from a state that was there before */
    uint8_t safe;         /* enum mz_safe */
    uint8_t
        trusting; /* for tests: code that is known to have no hooks is trusted all the same, until memory shows it */
    uint8_t reserved[5];
    int64_t nondet_low, nondet_high;                  /* numbers of __VERIFIER_nondet_int and the like */
    uint64_t max_steps, max_executions, memory_limit; /* 0: none */
    volatile uint32_t stop;                           /* the command asks to stop (time limit, SIGINT) */
    uint32_t schedule_length;                         /* MZ_MODE_REPLAY */
    uint64_t schedule_offset;
    uint64_t race_address;  /* replaying a data race: record plain accesses that touch this ... */
    uint64_t race_size;     /* ... many bytes here */
    uint64_t block_address; /* replaying a finding about a block of the heap: record what becomes of it */
};

#define MZ_SHARE_ONE  1000000000000000000ull
#define MZ_SHARE_MOST (MZ_SHARE_ONE / 1000 * 999) /* as long as anything is left, whatever the estimate */
#define MZ_ROUNDS     3u                          /* of a loop, in a search with a bound: runtime/rounds.c */

struct mz_counters {
    uint64_t executions;  /* complete ones; in the channel, of stateful algorithms, also those that revisit */
    uint64_t blocked;     /* cut short because all that could run was asleep */
    uint64_t cut;         /* ended in a loop that waits for what another execution brings */
    uint64_t transitions; /* visible operations executed, replayed prefixes not counted again */
    uint64_t operations;  /* all visible operations executed, in replayed prefixes too */
    uint64_t local_operations;   /* spawns, joins, releases */
    uint64_t max_depth, threads; /* threads: largest number in one execution */
    uint64_t races;              /* reversible races analysed */
    uint64_t wakeup_nodes, wakeup_nodes_peak;
    uint64_t states;       /* stateful algorithms: different ones */
    uint64_t revisited;    /* executions that ended in a state that was there before */
    uint64_t matches;      /* how often a state was found to be there already */
    uint64_t peeks;        /* steps that were only tried, to see whether they lead to something new */
    uint64_t restarts;     /* searches started over, because a location or mutex turned out to need more */
    uint64_t hooks;        /* instrumented accesses and calls seen: 0 means that nothing was checked */
    uint64_t engine_bytes; /* memory of the engine */
    uint64_t unjoined;     /* executions that ended while threads were still running or waiting */
    uint64_t kept;         /* executions that no assumption left out (mz_assume), of all searches */
    uint64_t bounded;      /* threads stopped after MZ_ROUNDS rounds of an endless loop (runtime/rounds.c) */
    uint64_t fell_back; /* executions before optimal went on as source, for want of memory; 0: it did not */
    uint64_t share;     /* estimated, of what there is to do; of MZ_SHARE_ONE; 0: not known */
    uint64_t expected;  /* the same as executions, blocked and cut of this worker when that is done */
    uint64_t forgot;    /* states before states were forgotten, for want of memory; 0: they were not */
};

struct mz_channel {
    uint64_t magic;
    uint32_t version, size_of_header; /* sizeof(struct mz_channel) */
    uint64_t size;                    /* of the whole mapping */
    struct mz_options_block options;
    struct mz_counters counters;
    uint32_t end;        /* enum mz_end */
    uint32_t end_thread; /* MZ_END_STEPS, _UNSUPPORTED: slot */
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
    struct mz_finding findings[MZ_MAX_FINDINGS + 1]; /* the last one is for what there is no room for */
    uint64_t live_offset;                            /* struct mz_step[]: the execution under way ... */
    uint64_t live_capacity;
    volatile uint64_t live_length;                 /* ... and how many steps it has made */
    uint64_t records_offset, records_capacity;     /* struct mz_record[] */
    uint64_t arena_offset, arena_used, arena_size; /* schedules of findings */
    uint64_t link_offset;                          /* struct mz_link */
    uint64_t common_offset;                        /* struct mz_common, a page or more of its own */
    char tree_file[4096];                          /* --record-tree; empty: none */
    uint32_t tree_error, reserved5;                /* errno: it could not be written */
    char notes[8][MZ_TEXT];                        /* remarks; an empty string ends the list */
    char unseen[MZ_MAX_UNSEEN][MZ_LONG_TEXT];      /* what the search did not see; likewise */
    uint32_t unseen_write_count, reserved7;
    struct mz_unseen_write unseen_writes[MZ_MAX_UNSEEN_WRITES];
    char hint[MZ_TEXT];             /* what would be faster; empty: nothing */
    volatile uint32_t analysing;    /* between executions: the program does not run */
    volatile uint64_t kernel_calls; /* that have returned */
    volatile uint32_t in_kernel;    /* the program is inside of a system call ... */
    uint32_t kernel_thread;         /* ... of this slot ... */
    char kernel_call[28];           /* ... of this name ... */
    struct mz_place kernel_place;   /* ... made here */
    double switch_ns;               /* a switch of fibers and back, measured at the start */
    uint32_t area_count, name_count;
    struct mz_area areas[MZ_MAX_AREAS]; /* filled in when replaying */
    struct mz_given_name names[MZ_MAX_NAMES];
    uint64_t blocks_offset, blocks_capacity; /* struct mz_block_history[] */
    uint32_t block_count, reserved4;
    uint32_t warning_count, reserved3;
    struct mz_warning warnings[MZ_MAX_WARNINGS];
    uint32_t reorder_count, reserved6;
    struct mz_reorder reorders[MZ_MAX_REORDERS];
    uint32_t location_count; /* --data-races=allow: accesses to these are visible. Replaying, given by the */
    uint32_t reserved2;      /* command. */
    struct mz_location locations[MZ_MAX_LOCATIONS];
    struct mz_layout layout;    /* where things are */
    struct mz_layout reference; /* given by the command: addresses in messages are as they would be there */
};

const char *mz_kind_name(enum mz_kind kind);
uint64_t mz_finding_hash(const struct mz_finding *f);

#endif
