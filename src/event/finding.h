/* What the target tells about an error: findings, schedules, call stacks, and what a replay records. All of it lies in
 * the channel (event/channel.h). The target writes it, the command reads it. */
#ifndef MZ_EVENT_FINDING_H
#define MZ_EVENT_FINDING_H

#include <stdint.h>
#include "event/limits.h"

enum mz_kind { /* of a finding; mz_kind_name() has the names in JSON */
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

/* One scheduling decision. Packed, so that messages may hold it at any address. */
struct __attribute__((packed)) mz_step {
    uint8_t thread;  /* slot; its name (0.1.2) is in channel.threads */
    uint8_t choice;  /* which waiter, which value; 0 for most operations */
    uint16_t unused; /* 0 */
    uint32_t source; /* the event whose value it reads, by its number (index plus one); or one of these: */
};
#define MZ_SOURCE_NEWEST  0u /* the newest value: always so without a memory model (engine/program.h) */
#define MZ_SOURCE_INITIAL UINT32_MAX /* the value that the object had before the first event on it */

/* A call stack: return addresses, innermost first; 0 ends a shorter one. Readers look up pc - 1, so the address of a
 * faulting instruction is stored plus one. */
struct mz_place {
    uint64_t pc[MZ_MAX_FRAMES];
};

/* A thread slot: slot 0 is main, and parents have lower slots than their children. A searching target assigns slots as
 * threads appear. A replaying target gets from the command the slots that the schedule was made with. */
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
    MZ_THREAD_SPINNING, /* repeats a loop that changes nothing */
    MZ_THREAD_FAILED,   /* the finding happened in this thread */
    MZ_THREAD_EXITING   /* called exit or returned from main */
};

struct mz_thread_final {
    uint8_t state;
    int8_t holder; /* slot of the thread that holds the mutex, or that is joined; -1: nobody */
    uint8_t op;    /* the thread's pending operation */
    uint8_t reserved[5];
    uint64_t object;
    struct mz_place place; /* filled in when replaying */
};

struct mz_finding {
    uint32_t kind;
    uint8_t thread;       /* slot of the thread that failed (deadlock: the first blocked one) */
    uint8_t other_thread; /* data race: the earlier access */
    uint8_t op, other_op; /* data race: MZ_OP_READ, _WRITE or an atomic operation */
    int32_t code;         /* signal number, exit status */
    uint32_t size, other_size;
    uint64_t address; /* faulting, racing or freed address; leak: the first block */
    uint8_t area;     /* enum mz_area_kind of the object at or near the address; 0: not known */
    uint8_t reserved[3];
    uint32_t block;                     /* replaying: number of that heap block in `blocks` plus one */
    uint64_t object_start, object_size; /* of that object; leak: all bytes */
    uint64_t frame_pc, frame_cfa;       /* replaying: see mz_record */
    uint64_t other_pc;                  /* data race: low half of the pc of the earlier access */
    uint64_t other_address;             /* nondeterminism: the object that was accessed before */
    uint64_t execution;                 /* number of the execution that found it, from 1 */
    uint64_t hash;                      /* equal for the same error: kind and places */
    char text[MZ_TEXT];                 /* the failed expression, or a description */
    char file[MZ_TEXT];                 /* from __assert_fail; else empty, see place */
    uint32_t line;
    uint32_t locations;    /* how many of the channel's locations were visible operations */
    uint32_t steps;        /* length of the schedule */
    uint64_t steps_offset; /* byte offset of struct mz_step[steps] in the channel */
    struct mz_place place, other_place;
    struct mz_thread_final threads[MZ_MAX_THREADS];
};

struct mz_record { /* replaying: one operation, visible or local, in the order of execution */
    uint8_t op, thread, access, other; /* other: slot of the thread that was created, joined or woken */
    uint32_t size;
    uint32_t step;   /* number of events committed before this record */
    uint32_t flags;  /* MZ_RECORD_* */
    uint64_t object; /* address of the variable, mutex, condition variable */
    uint64_t value;  /* value read, or stored; for CAS the value found */
    uint64_t value2; /* RMW, CAS: the new value (CAS: if it succeeded) */
    /* For an object on a stack: the return address into its function, and the end of its frame (DWARF's canonical
     * frame address). */
    uint64_t frame_pc, frame_cfa;
    struct mz_place place;
};
#define MZ_RECORD_HAS_VALUE 1u
#define MZ_RECORD_FAILED    2u /* CAS or trylock that failed */
#define MZ_RECORD_RACING    4u /* one of the two accesses of the data race */

struct mz_block_history { /* replaying: a heap block */
    uint64_t start, size;
    uint32_t since; /* number of records before its allocation */
    uint8_t allocated_by, freed_by, is_freed, is_leaked;
    struct mz_place allocated, freed;
};

struct mz_unseen_write { /* memory that changed without a hook: runtime/rewind/audit.c */
    uint64_t address;
    uint64_t pc; /* where the thread stopped next; 0: not known */
    uint32_t size;
    uint8_t thread; /* the thread that ran; MZ_MAX_THREADS: not known */
    uint8_t reserved[3];
};

struct mz_warning { /* mutexes that threads lock in a cycle */
    uint32_t steps, reserved;
    struct {
        uint64_t held, locked; /* the thread locked `locked` while it held `held` ... */
        uint64_t pc;           /* ... here */
        uint8_t thread, reserved[7];
    } step[MZ_WARNING_STEPS];
};

/* Two atomic accesses of a thread, in program order, that their memory orders leave unordered. */
struct mz_reorder {
    uint64_t key[2], pc[2];
    uint8_t writes[2], thread, reserved[5];
};

const char *mz_kind_name(enum mz_kind kind);
uint64_t mz_finding_hash(const struct mz_finding *f);

#endif
