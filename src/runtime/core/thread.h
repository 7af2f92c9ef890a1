/* The data of a program thread within one execution, and of the execution itself. Part of runtime.h.
 *
 * The states of a thread (enum mz_thread_state, event/finding.h) and their transitions:
 *
 *                mz_spawn                  mz_halt          FINISHED   it has ended
 *      ABSENT -------------> RUNNABLE -------------------> FAILED     it ended in a finding
 *                             |    ^                        EXITING    it called exit, or returned from main
 *               it has to wait|    |it runs again
 *                             v    |
 *                LOCKING   mz_post: for a mutex, a read-write lock or a once. The operation is posted; it is
 *                          enabled when the object is free. When mz_dispatch returns, the file that posted it
 *                          makes the thread RUNNABLE
 *                WAITING   on a condition variable; a signal or a timeout turns it into LOCKING
 *                SEMWAIT   for a semaphore
 *                BARRIER   for other threads to arrive at a barrier
 *                FUTEX     in futex(FUTEX_WAIT)
 *                SIGWAIT   for a signal
 *                JOINING   for the end of a thread: runs again within the step in which that thread ends
 *                SPINNING  stopped in a loop that changes nothing (loops/spin.c)
 *
 * RUNNABLE is a thread that runs, that has posted an operation and waits for its turn, or that was
 * interrupted to start a new thread (rt.run.interrupted). mz_thread_states_check (thread_states.c) asserts
 * what each state means. */
#ifndef MZ_RUNTIME_CORE_THREAD_H
#define MZ_RUNTIME_CORE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/program.h"

#define MZ_SLOTS MZ_MAX_THREADS
#define MZ_HELD  24

/* A thread within the current execution. The fields are in sections. The section says what a field means to
 * the identity of the state (state.c): either the program's future depends on the field, or the field is
 * about the past. state.c hashes the sections of the state word by word, so a new field counts from the
 * start. Clear a field when the thread no longer needs it; otherwise equal states look different. state.c
 * asserts that every field is in a section. */
struct mz_thread {
    /* The past: events and the C11 order. The state contains only whether `changes` and `polled_at` are
     * equal. */
    union {
        struct {
            uint32_t epoch;      /* C11 order: number of releases by this thread, from 1 */
            uint32_t created_in; /* epoch of its creator, whose slot + 1 is `parent` */
            uint32_t changes;    /* that the thread made to anything but its stack, see spin.c */
            uint32_t polled_at;  /* `changes` at its last reading of the clock: time.c */
            uint32_t woken_by;   /* number of the event that woke it */
            uint8_t parent;
            uint8_t joined_by; /* slot + 1 of the thread that joined it, or that ended last */
        };
        uint64_t past[3];
    };
    /* State until the end of the execution. */
    union {
        struct {
            uint8_t state;  /* enum mz_thread_state */
            uint8_t joiner; /* slot + 1 of the thread that waits for the end of this one */
            uint8_t joined; /* a thread has joined it, or is joining it */
            uint8_t detached;
            uint8_t ended; /* its end has been a visible operation, see thread.c */
            uint8_t unused[2];
            uint8_t shape; /* 0 here; in the identity it tells which sections follow: state.c */
            void *result;  /* until a thread has taken it: thread.c */
        };
        uint64_t life[2];
    };
    /* State until the thread ends. */
    union {
        struct {
            uint8_t spawned; /* children so far */
            uint8_t cancel_off, cancel_pending;
            uint8_t kicked;   /* a cancellation ended its wait for a condition variable or a thread */
            uint8_t keys_set; /* it has a value for some thread-specific key */
            uint8_t polls;    /* readings of the clock without progress in between: time.c */
            uint8_t held_count;
            uint8_t simple; /* its future depends only on its pending operation and `operands`: mz_simple */
            char *heap;     /* next free byte of its arena */
            void *(*start)(void *);
            void *argument;
        };
        uint64_t own[4];
    };
    /* State until the thread ends, too; most threads have none of these. */
    union {
        struct {
            struct mz_once_call *once; /* innermost call of pthread_once whose function it runs */
            void *cleanup;             /* innermost cleanup handler */
            struct mz_at_end *at_end;  /* destructors of thread-local C++ objects */
            uint32_t keys_made;        /* thread-specific keys that it created */
            uint8_t waiting_kind;      /* enum mz_wait_kind */
            uint8_t spurious;          /* spurious wakeups at spurious_place: cond.c */
            uint8_t spurious_in_all;
            void *waiting_where; /* where a cancellation wakes it; waiting_kind says what this points to */
            uint64_t polled;     /* value of the last reading of the clock, at poll_place: time.c */
            const void *poll_place;
            const void *spurious_place;
        };
        uint64_t rare[8];
    };
    /* State while the thread waits (not RUNNABLE). */
    union {
        struct {
            uint8_t joining;  /* JOINING: slot of the thread that it waits for */
            uint8_t timed;    /* WAITING: may time out */
            uint8_t serial;   /* BARRIER: it is the serial thread; or see barrier.c */
            void *wait_mutex; /* WAITING: the mutex to lock again */
            uint64_t wait_object;
        };
        uint64_t wait[3];
    };
    uint64_t operands[3]; /* state while `simple` is set */
    /* run_reset does not clear the fields from here on as part of the thread. */
    void *held[MZ_HELD];      /* state: the first held_count locks that it holds, oldest first */
    uint32_t knows[MZ_SLOTS]; /* past: lower bound on the releases of each thread that it has seen, without
                                 draining the log of race_order.c; cleared for every execution */
};

struct mz_run { /* cleared for every execution */
    struct mz_thread threads[MZ_SLOTS];
    uint8_t interrupted[MZ_SLOTS]; /* undo.c compares the fields from here to exit_place */
    uint32_t interrupted_count;
    uint64_t failed; /* threads that ended in a finding */
    bool exited;     /* the program has called exit() or returned from main */
    int exit_code;
    uint8_t exit_thread;
    const void *exit_frame; /* of the caller of exit; NULL after _exit */
    uint64_t clock_ns;      /* virtual time */
    uint32_t local_operations;
    uint32_t thread_count;
    struct mz_place exit_place; /* set if the exit status is not 0 */
};

#endif
