/* The runtime: what lives inside the tested program. Private to src/runtime.
 *
 * Laws of this code, because it runs in someone else's program:
 *  L1  It shares nothing with the program: own memory (regions, this library's data), no malloc, no stdio.
 *      The library's data is never rolled back; what belongs to one execution is in rt.run and cleared by
 *      mz_run_reset, what lives in program memory (pthread_mutex_t and so on) is rolled back with it.
 *  L2  It may run on any fiber with any fiber's thread-local storage: it uses no thread-local variables but
 *      errno, which it leaves alone.
 *  L3  Nothing on the way of a visible operation allocates, enters the kernel, or depends on the number of
 *      executions.
 *  L4  What is wrong with the program is a finding (finding.c); what is wrong with us is MZ_BUG.
 *
 * Life of a program thread (a slot):
 *
 *     ABSENT --spawn--> STARTING --first visible operation--> POSTED <---------------+
 *                                                                |                    |
 *                                              chosen by engine  v                    |
 *                                                             RUNNING --next visible--+
 *                                              |     |      |     \
 *                       join of a living thread|     |wait  |end   \ finding
 *                                              v     v      v       v
 *                                          JOINING WAITING FINISHED FAILED
 *     JOINING -> RUNNING within the step in which the other thread ends; WAITING -> POSTED (lock) when woken.
 *
 * Who runs: exactly one fiber, rt.self. It gives way only in dispatch(): to a fiber that it interrupted to
 * start a new thread, else to the one the engine chooses, else, at the end of the execution, to the explorer.
 */
#ifndef MZ_RUNTIME_RUNTIME_H
#define MZ_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/bug.h"
#include "../engine/program.h"

struct dl_phdr_info;

#define MZ_EXPORT __attribute__((visibility("default")))
#define MZ_SLOTS  MZ_MAX_THREADS
/* A variable that stands for one inside libc: program code that calls the function accesses it, and may race. */
#define MZ_LIBC_STATE __attribute__((section("mz_libc_state")))
#define MZ_HELD       24

struct mz_slot { /* kept: the fiber of a thread number */
    void *sp;    /* saved stack pointer while it does not run */
    uint64_t fs; /* thread-local storage: the thread pointer of a parked thread, and its pthread_t */
    char *stack_low, *stack_high;
    char *private_high; /* no other thread has used what is below, in any execution: see lent.c */
    int tid;            /* of the parked thread: what gettid says */
};

struct mz_parked { /* at the stack pointer of a fiber that has run and does not run now */
    const void *resume;
    uint64_t rbp, r15, r14, r13, r12, rbx;
};

/* A thread within the current execution. Each field stands in the section that says what it means to the
 * identity of the state (state.c): the program's future depends on it, or it is of the past. The sections of
 * the state are hashed whole, word by word, so a new field counts from the start. A field that is left over
 * from what the thread did before must be cleared: else equal states look different.
 * state.c asserts that no field stands outside of the sections. */
struct mz_thread {
    /* The past: events and the C11 order. Of `changes` and `polled_at` it counts whether they are equal. */
    union {
        struct {
            uint32_t epoch;      /* C11 order: number of releases by this thread, from 1 */
            uint32_t created_in; /* epoch of its creator, whose slot + 1 is `parent` */
            uint32_t changes;    /* made to anything but its stack, see spin.c */
            uint32_t polled_at;  /* `changes` when it read the clock last: time.c */
            uint32_t woken_by;   /* number of the event that woke it */
            uint8_t parent;
            uint8_t joined_by; /* slot + 1 of the thread that knows of its end */
        };
        uint64_t past[3];
    };
    /* State, as long as the execution lasts. */
    union {
        struct {
            uint8_t state;  /* enum mz_thread_state; RUNNABLE covers STARTING, POSTED, RUNNING */
            uint8_t joiner; /* slot + 1 of the thread that waits for the end of this one */
            uint8_t joined; /* or is being joined */
            uint8_t detached;
            uint8_t ended; /* visibly, see pthread_thread.c */
            uint8_t unused[2];
            uint8_t shape; /* 0 here; in the identity it says which sections follow: state.c */
            void *result;  /* until somebody has taken it: pthread_thread.c */
        };
        uint64_t life[2];
    };
    /* State as long as the thread can go on. */
    union {
        struct {
            uint8_t spawned; /* children so far */
            uint8_t cancel_off, cancel_pending;
            uint8_t kicked;   /* a cancellation has ended its wait on a condition variable or for a thread */
            uint8_t keys_set; /* it has values for some thread-specific keys */
            uint8_t polls;    /* readings of the clock that showed no progress: time.c */
            uint8_t held_count;
            uint8_t simple; /* stopped where only its pending operation and `operands` matter: mz_simple */
            char *heap;     /* next free byte of its arena */
            void *(*start)(void *);
            void *argument;
        };
        uint64_t own[4];
    };
    /* The same, but most threads never have any of these. */
    union {
        struct {
            struct mz_once_call *once; /* innermost function of pthread_once that it runs */
            void *cleanup;             /* innermost cleanup handler */
            struct mz_at_end *at_end;  /* destructors of thread-local C++ objects */
            uint32_t keys_made;        /* thread-specific keys that it created */
            uint8_t waiting_kind;      /* enum mz_wait_kind, pthread_objects.h */
            uint8_t spurious;          /* wakeups at the place of the last one: pthread_cond.c */
            uint8_t spurious_in_all;
            void *waiting_where; /* where a cancellation wakes it: of the kind above */
            uint64_t polled;     /* what the clock said, where it was read last: time.c */
            const void *poll_place;
            const void *spurious_place;
        };
        uint64_t rare[8];
    };
    /* State while the thread waits (not RUNNABLE). */
    union {
        struct {
            uint8_t joining;  /* JOINING: slot that it waits for */
            uint8_t timed;    /* WAITING: may time out */
            uint8_t serial;   /* what a barrier tells it */
            void *wait_mutex; /* WAITING: to be locked again */
            uint64_t wait_object;
        };
        uint64_t wait[3];
    };
    uint64_t operands[3]; /* state while `simple` is set */
    /* From here on nothing is cleared for an execution. */
    void *held[MZ_HELD];      /* state: locks that it holds, in the order it got them, up to MZ_HELD */
    uint32_t knows[MZ_SLOTS]; /* past: releases of others that are known without working off the log of
                                 sync.c: at least so many; cleared for every execution */
};

struct mz_run { /* cleared for every execution */
    struct mz_thread threads[MZ_SLOTS];
    uint8_t interrupted[MZ_SLOTS]; /* from here to exit_place: compared by undo.c */
    uint32_t interrupted_count;
    uint64_t failed; /* threads that ended in a finding */
    bool exited;     /* exit() or return from main has happened */
    int exit_code;
    uint8_t exit_thread;
    const void *exit_frame; /* of what called exit; NULL after _exit */
    uint64_t clock_ns;      /* virtual time */
    uint32_t local_operations;
    uint32_t thread_count;
    struct mz_place exit_place; /* if the status is not 0 */
};

enum mz_undo { MZ_UNDO_OFF, MZ_UNDO_PAGES, MZ_UNDO_WRITES }; /* see undo.c */

struct mz_runtime {
    /* hot */
    uint8_t section; /* depth of atomic sections: no other thread runs, operations are not scheduled */
    bool trial;      /* after the end: a thread that waits in a loop makes one more round */
    bool active;     /* a fiber of the program runs: hooks are in force */
    bool recording;
    bool signals_used;  /* threads may send signals to each other */
    bool stateful;      /* the algorithm wants to know the state */
    bool hashing;       /* the identity of the state is kept up to date */
    bool auditing;      /* at nodes it is checked that the hooks told of all writes: audit.c */
    uint8_t undo;       /* enum mz_undo: what is changed is kept, to go back to */
    uint8_t self;       /* slot of the running fiber */
    uint8_t choice;     /* of the step that was just scheduled */
    uint32_t execution; /* number of the beginning, tags the shadow; see undo.c */
    uint32_t runs;      /* executions so far */
    struct mz_path *path;
    struct mz_exploration *x;
    struct mz_channel *channel;
    struct mz_step *live; /* in the channel: the steps of this execution, should we die */
    uint64_t hooks;       /* calls of ours, but for plain reads */
    uint32_t reads_left;  /* plain reads until mz_spin_reads looks whether they are a loop */
    struct mz_view view;
    struct mz_slot slots[MZ_SLOTS];
    struct mz_run run;

    /* cold */
    void *explorer_sp;
    uint64_t explorer_fs;
    bool fsgsbase;
    uint32_t section_object;
    uint64_t program_start, program_end; /* where the executable lies */
    bool switch_fs;       /* threads can be told apart by their thread-local storage: switch it along */
    bool switch_fp;       /* the same for their floating-point environments */
    bool standalone;      /* started without the command */
    bool access_left_out; /* to a thread's own stack, as no other thread has used it: see lent.c */
    bool allow_races;     /* --data-races=allow */
    bool once;            /* one execution only */
    bool shared;          /* a worker: see worker.c */
    bool stop;            /* end the exploration after this execution */
    bool trylock_used;    /* the program calls trylock: releases of mutexes are visible */
    bool rwtry_used;      /* the same for read-write locks, whose releases always are */
    bool tryjoin_used;    /* it asks whether a thread has ended, or cancels: the end of threads is visible */
    bool cancel_used;
    bool spin_locks_used; /* pthread_spin_lock: its operations are those of a mutex */
    bool kill_used;       /* signals are sent to the process, too */
    bool destroy_used;    /* it initialises or destroys mutexes at run time */
    bool modules_changed; /* code was loaded in this execution */
    bool spin_off;        /* what libraries change cannot be seen: no loops that wait are recognised */
    bool clock_used;      /* it reads the clock: that and sleeping are visible */
    bool unwinds;         /* functions can be left by exceptions or longjmp */
    bool unfiltered;      /* system calls are not seen: kernel.c */
    bool writes_unknown;  /* it calls what may write to its memory without our hooks: see undo.c */
    uint8_t child_slot[MZ_SLOTS][MZ_SLOTS]; /* slot of the n-th child of a slot; 0: none yet */
    uint32_t slots_named;                   /* above the last slot that has a thread in child_slot */
    uint32_t slots_known;
    int argc;
    char **argv, **envp;
    int (*main)(int, char **, char **);
    size_t tls_size;
    double switch_ns;
};

extern struct mz_runtime rt;

/* Time, as the processor counts it: only to compare ways of doing the same. */
static inline uint64_t mz_ticks(void) { return __builtin_ia32_rdtsc(); }

static inline uint64_t mz_slot_bit(int slot) { return (uint64_t)1 << slot; }

/* undo.c: going back */
void mz_undo_init(void);
void mz_undo_begin(void);
void mz_undo_node(void);
void mz_undo_stack(int slot);
void mz_undo_keep(const volatile void *p, size_t size);
void mz_undo_write(const volatile void *p, size_t size);
void mz_undo_state(const volatile void *p, size_t size);
void mz_undo_thread(int slot); /* its state is about to be changed, though it does not run */
void mz_undo_joined(int slot); /* only who joins it */
void mz_undo_result(int slot); /* only its result */
void mz_undo_step(int thread); /* a step of the thread begins */
void mz_undo_barrier(void);
void mz_undo_give_up(void);
void mz_undo_forget(void);
bool mz_undo_reaches(uint32_t node);
void mz_undo_to(uint32_t node);

/* stack_mirrors.c */
void mz_stack_forget(int slot);
void mz_stack_mirror(int slot, const char *from);
bool mz_stack_compare(int slot, bool (*compare)(void *now, void *mirror, size_t size));

/* Something that the runtime keeps of this execution is about to be changed. */
static inline void mz_keep(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo)) mz_undo_keep(p, size);
}
/* Program memory is. */
static inline void mz_keep_program(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo == MZ_UNDO_WRITES)) mz_undo_write(p, size);
}
/* Something is that the runtime keeps for the program, and that is part of its state. */
static inline void mz_keep_state(const volatile void *p, size_t size)
{
    if (mz_unlikely(rt.undo)) mz_undo_state(p, size);
}

/* backtrack.c: which way */
void mz_backtrack_plan(void);
void mz_backtrack_measured(void);

/* state.c: the identity of states */
void mz_state_init(void);
void mz_state_of(void *system, struct mz_state *out);
size_t mz_state_bytes(void *system, const void **bytes);
bool mz_state_is_unique(void *system);
void mz_state_outline(void *system, struct mz_state *out);
void mz_state_memory_of(void *system, struct mz_state *out);
void mz_state_differs(void *system, const struct mz_step *one, uint32_t length, const struct mz_step *other,
                      uint32_t other_length); /* state_kept.c */
void mz_state_allocated(const void *p, size_t size, int with);
void mz_state_freed(const void *p, size_t size, int with);
void mz_names_reset(void);      /* pthread_thread.c */
void mz_semaphores_reset(void); /* semaphore.c: the named ones */
void mz_strings_reset(void);    /* hooks_string.c */
void mz_name_give(int slot, const char *name);
const char *mz_name_of(int slot);
void mz_keys_each(int slot, void (*f)(void *data, uint64_t word), void *data); /* pthread_keys.c */

/* The running thread is about to be stopped where all that it does afterwards depends on its pending
 * operation and on these: what else is in the frame of the function that it called does not belong to the
 * state. */
static inline void mz_simple(uint64_t a, uint64_t b, uint64_t c)
{
    if (mz_likely(!rt.hashing)) return;
    struct mz_thread *t = &rt.run.threads[rt.self];
    t->simple = 1;
    t->operands[0] = a;
    t->operands[1] = b;
    t->operands[2] = c;
}

/* fiber.c */
void mz_fiber_main(void); /* schedule.c: what every fiber runs */
void mz_fiber_init(void);
#define MZ_NAME_ROOM ((size_t)64 << 10) /* around the address of a thread that has no storage */
void mz_fiber_storage(void);
void mz_fiber_open(uint32_t first, uint32_t end);
void mz_fiber_prepare(int slot);
void mz_fiber_stacks(bool of_large, uint64_t *start, uint64_t *size); /* where those of all slots lie */
void mz_fiber_stack(int slot, size_t size); /* of a thread about to start: at least so large */
void mz_fiber_go(int slot);                 /* from a fiber to a fiber */
void mz_fiber_enter(int slot); /* from the explorer to a fiber; returns when the execution has ended */
void mz_fiber_pause(void);
_Noreturn void mz_fiber_leave(void); /* from a fiber to the explorer, for good */
double mz_fiber_measure(void);
void mz_fiber_mark(void); /* the running fiber can be gone back to here */
void mz_fiber_keep(int slot);
uint64_t mz_fiber_environment(int slot); /* for floating point: what the program can tell apart */
bool mz_fiber_stack_contains(int slot, uint64_t address);
int mz_fiber_stack_owner(uint64_t address); /* slot, or -1 */
bool mz_fiber_guard_contains(int slot, uint64_t address);

/* How a pending operation would access its object now: hooks_atomic.c, then by object. */
void mz_refresh(void *system, int thread);
enum mz_access mz_mutex_trylock_access(uint64_t key);
enum mz_access mz_semaphore_try_access(uint64_t key);
enum mz_access mz_rwlock_try_access(const struct mz_pending *p);
enum mz_access mz_once_access(uint64_t key);

/* For reports: whom a thread waits for. */
int mz_rwlock_holder(uint64_t key, int slot, bool to_read);
int mz_once_runner(uint64_t key);

/* objects.c: what all synchronization objects have in common */
void mz_post(int slot, uint8_t op, uint64_t key, enum mz_access access, bool enabled, const void *pc);
void mz_enable(uint64_t slots, bool enabled);
uint64_t mz_pending_on(uint64_t key, uint8_t op);
void mz_commit_use_live(enum mz_access access, uint64_t old);
void mz_object_written(const void *object, size_t size, const void *pc, const void *frame);
_Noreturn void mz_misuse(const char *what, const void *object);

/* section.c */
void mz_section_check(uint8_t op);

/* worker.c: a part of a shared search */
extern const struct mz_share_options mz_worker_sharing;
extern const struct mz_tree_log_options mz_tree_file; /* tree_log.c */
void mz_worker_init(void);
bool mz_worker_task(void);
int mz_worker_slot(int parent, unsigned n);
uint64_t mz_worker_executions(void);
enum mz_end mz_worker_enough(void); /* the limit that has been reached; MZ_END_COMPLETE: none */
_Noreturn void mz_worker_stop(void);
void mz_worker_leaves(void); /* the last thing that is done */
void mz_layout_init(void);   /* layout.c */
void mz_layout_agree(void);
uint64_t mz_layout_out(uint64_t address); /* as all workers know it */
uint64_t mz_layout_in(uint64_t address);
void mz_barriers_put(struct mz_message *m); /* pthread_barrier.c */
void mz_barriers_get(struct mz_message *m);

/* lent.c: parts of stacks that other threads use */
/* May the access to it be left out of the race check? No other thread has ever used it. */
static inline bool mz_lent_leave_out(const void *p)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    bool private = (const char *)p >= s->stack_low && (const char *)p < s->private_high;
    if (mz_likely(private)) rt.access_left_out = true;
    return private;
}
bool mz_lent_contains(const void *p, size_t size);
uint8_t mz_lent_bytes(const void *p);
void mz_lent_stack(int slot);
void mz_lent_note(int owner, uint64_t address, size_t size);
void mz_lent_put(struct mz_message *m);
void mz_lent_get(struct mz_message *m);

/* spin.c: loops that wait */
bool mz_spin_has_places(void);
void mz_spin_unneeded(void);
bool mz_spin_tired(void);
void mz_spin_reads(const void *p, const void *pc, const void *frame);
uint64_t mz_spin_reads_counted(void);
_Noreturn void mz_spin_for_ever(const void *pc);
_Noreturn void mz_spin_stop_tired(const void *pc);

/* A call that lets time pass and does nothing else: a loop around it may be endless like one that reads. */
#define MZ_SPIN_PASS()                                                                                       \
    do {                                                                                                     \
        if (mz_unlikely(--rt.reads_left == 0)) mz_spin_reads(NULL, MZ_PC(), MZ_FRAME());                     \
    } while (0)

void mz_spin_put(struct mz_message *m);
void mz_spin_get(struct mz_message *m);
void mz_spin_init(void);
void mz_spin_forbid(const char *because);
void mz_spin_note(void);
void mz_spin_reset(void);
void mz_spin_clean(char *stack_high);
size_t mz_spin_clean_size(void);
void mz_spin(uint64_t key, const void *pc, const void *frame);
bool mz_spin_any(void);
bool mz_spin_settle(void);

/* schedule.c */
void mz_dispatch(void);
void mz_commit_live(enum mz_access access, uint64_t old);
_Noreturn void mz_diverged(int thread);
_Noreturn void mz_halt(enum mz_thread_state state);
int mz_spawn(void *(*start)(void *), void *argument);
void mz_slots_given(void);
bool mz_join(int slot); /* false: a cancellation has ended the wait */
_Noreturn void mz_finish(void *result);
_Noreturn void mz_exit_program(int code, bool handlers);
void mz_explore_program(void);

/* snapshot.c: program memory */
void mz_snapshot_init(void);
void mz_snapshot_arguments(uint64_t *start, uint64_t *size);
void mz_snapshot_threads(size_t first, size_t end); /* they are about to be known */
void mz_snapshot_restore(void);
bool mz_snapshot_fault(uint64_t address);
void mz_snapshot_touch(const void *address, size_t size);
void mz_snapshot_touch_all(void);
bool mz_snapshot_contains(uint64_t address, size_t size);
size_t mz_snapshot_size(void); /* of pages ever written */
void mz_snapshot_mirror(void);
void mz_snapshot_compare(void (*compare)(void *now, void *mirror, size_t size));
void mz_snapshot_changed(void (*look)(const void *p, size_t size));
void mz_snapshot_scan(void (*look)(const void *from, const void *to));

/* sync.c: the C11 order */
void mz_sync_init(void);
void mz_sync_reset(void);
void mz_sync_event(void);
void mz_sync_atomic(uint32_t object, int op, int order, enum mz_access access);
void mz_sync_acquire(void);
void mz_sync_acquire_object(uint32_t object);
void mz_sync_knows(int other, uint32_t epoch);
void mz_sync_release(uint32_t object);
void mz_sync_release_part(uint32_t object);
void mz_sync_acquire_all(int thread, uint32_t object);
void mz_sync_spawn(int parent, int child);
void mz_sync_join(int thread, int finished);
void mz_sync_fence(int order);
uint32_t mz_sync_seen(int thread, int other); /* releases of other that thread has synchronized with */
uint32_t mz_sync_event_epoch(uint32_t event); /* of the thread when the event happened */

/* reorder.c: an execution has ended; which of its atomic accesses could be reordered? */
void mz_reorder_look(void);

/* shadow.c: data races */
void mz_shadow_init(void);
void mz_shadow_reset(void);
void mz_shadow_freed(uint64_t address, size_t size, uint8_t op, uint64_t pc);
void mz_shadow_forget(uint64_t address, size_t size);
void mz_shadow_atomic(uint64_t address, unsigned size, enum mz_access access);
/* The same for libc's functions: if the program's own code called them, not a library without hooks. */
void mz_access_by(const void *p, size_t size, bool write, void *pc, const void *frame);
/* A function of ours is about to write to, or read, a variable of its caller. */
#define MZ_WRITES_TO(p)  mz_access_by((p), sizeof *(p), true, MZ_PC(), MZ_FRAME())
#define MZ_READS_FROM(p) mz_access_by((p), sizeof *(p), false, MZ_PC(), MZ_FRAME())
void mz_access_range(const void *p, size_t size, bool write, void *pc, const void *frame);
void mz_shadow_range(uint64_t address, size_t size, bool write, uint64_t pc);

/* hooks_atomic.c: an atomic operation has been performed */
void mz_atomic_happened(int op, const volatile void *a, unsigned size, int order, enum mz_access access,
                        uint64_t old);

/* notes.c: was some code of the module compiled with a plugin of ours? Says what has no hooks. */
bool mz_notes_read(const void *notes, size_t size);

/* memory.c: use after free, out of bounds */
int mz_memory_tls_owner(uint64_t address); /* slot, or -1 */
void mz_memory_init(void);
void mz_memory_thread_ends(void);
bool mz_memory_check(uint64_t address, unsigned size, uint8_t op, uint64_t pc);
bool mz_memory_is_whole_page(uint64_t page);
void mz_memory_check_atomic(const volatile void *p, unsigned size);
void mz_memory_check_event(void);
void mz_memory_describe(struct mz_finding *f);

/* globals.c: bytes between the global variables of instrumented modules */
struct mz_gap {
    uint64_t start, end;
    uint64_t before, before_size, after, after_size; /* the variables around it; 0: none */
};
void mz_globals_init(void);
const struct mz_gap *mz_globals_gap(uint64_t address, size_t size); /* NULL: none there */
void mz_globals_keep_completed(void);
bool mz_globals_function(uint64_t address, uint64_t *start, uint64_t *end);

/* leaks.c */
void mz_leaks_init(void);
void mz_leaks_check(void);

/* visible.c: --data-races=allow */
void mz_visible_begin(void);
_Noreturn void mz_visible_add(uint64_t address, size_t size);
uint32_t mz_visible_count(void);
bool mz_visible_any(const void *p, size_t size);
bool mz_visible_access(const void *p, size_t size, bool write, bool always, const void *pc,
                       const void *frame);
void mz_visible_copy(char *to, const char *from, size_t n, void *pc, const void *frame);
void mz_visible_set(char *to, int c, size_t n, void *pc, const void *frame);

/* finding.c */
_Noreturn void mz_finding_here(enum mz_kind kind, const char *text, int code, uint64_t address);
_Noreturn void mz_finding_at(enum mz_kind kind, const char *text, int code, uint64_t address, uint64_t pc,
                             const void *frame);
_Noreturn void mz_finding_assert(const char *expression, const char *file, unsigned line,
                                 const char *function);
void mz_finding_race(int other, uint8_t op, uint8_t other_op, uint64_t address, unsigned size, uint64_t pc,
                     uint32_t other_pc);
struct mz_finding *mz_finding_begin(enum mz_kind kind, const char *text);
void mz_finding_keep(enum mz_kind kind, const char *text, uint64_t address, uint64_t pc);
_Noreturn void mz_finding_end(struct mz_finding *f, uint64_t pc, const void *frame);
_Noreturn void mz_finding_block(enum mz_kind kind, const char *text, uint64_t address);
void mz_finding_leak(uint64_t first, uint64_t blocks, uint64_t bytes);
_Noreturn void mz_finding_diverged(int thread, const struct mz_event *before);
void mz_finding_deadlock(void);
void mz_finding_livelock(void);
void mz_finding_endless(void *system, uint32_t depth, uint64_t threads, uint64_t writers);
void mz_finding_exit_code(void);
_Noreturn void mz_unsupported(const char *call, const char *instead);
_Noreturn void mz_unsupported_at(const char *call, const char *instead, const struct mz_place *place);
void mz_note(const char *text);
void mz_unseen(const char *text);

/* record.c: replaying a schedule, with all details */
void mz_walk(struct mz_place *place, int slot, const void *frame);
void mz_place_of(struct mz_place *place, int slot);
void mz_record_leave(void);
void mz_place_left(struct mz_place *place, int slot);
void mz_record_place(struct mz_place *place, const void *frame);
void mz_finding_frame(struct mz_finding *f, const void *frame);
void mz_record(int op, uint64_t object, unsigned size, uint32_t flags, uint64_t value, uint64_t value2,
               int other, const void *frame);

/* libc.c: any of 0 .. n-1, as one operation or several */
uint64_t mz_choose_of(uint64_t n, const void *pc, const void *frame);

/* cxx.c */
void mz_cxx_init(void);
void mz_cxx_walk(struct mz_place *place);
bool mz_cxx_is_unwinder(const void *pc);
const char *mz_cxx_abort_text(const void *pc, char *text, size_t size);

/* heap.c, exit.c, signals.c, signal_calls.c, start.c, text.c */
void mz_heap_init(void);
void mz_heap_reset(void);
size_t mz_heap_boot(char **start);
size_t mz_heap_size(void); /* handed out in this execution */
void mz_heap_mirror(void);
void mz_heap_compare(void (*compare)(void *now, void *mirror, size_t size));
void mz_heap_arena(int slot, const char **low, const char **high);
bool mz_heap_contains(uint64_t address);
void mz_exit_init(void);
void mz_exit_reset(void);
bool mz_exit_matters(void);         /* something of the program's own runs at exit */
int mz_heap_slot(uint64_t address); /* whose arena it is in */
void mz_run_atexit(void);
_Noreturn void mz_quit(int code);
void mz_signals_init(void);
void mz_signals_spawn(int parent, int child);
/* signal_delivery.c. DISTURBED: a handler ran; INTERRUPTED: it makes calls that wait fail with EINTR. */
enum mz_interruption { MZ_UNDISTURBED, MZ_DISTURBED, MZ_INTERRUPTED };
enum mz_interruption mz_signal_point(const void *pc, const void *frame);
bool mz_signal_interrupts_wait(bool always, const void *pc, const void *frame);
void mz_signal_point_volatile(const void *pc, const void *frame, bool write);
void mz_signal_end(void);
bool mz_signal_left(void);
bool mz_find_channel(char **envp);
void mz_os_reset(void); /* start.c: what the kernel holds goes back to its first state */
void mz_os_ended(void); /* start.c: an execution has ended, nothing is put back yet */
bool mz_is_system(const struct dl_phdr_info *info); /* libc, the loader, ourselves */
void mz_our_code(uint64_t *start, uint64_t *end);
void *mz_next_symbol(const char *name);
void mz_print(const char *text); /* to standard error */
bool mz_is_ours(uint64_t pc);
bool mz_is_instrumented(uint64_t pc); /* in a module that calls our hooks */
bool mz_text_differs(const char *a, const char *b);
size_t mz_text_length(const char *text);
size_t mz_text_copy(char *to, size_t size, const char *from);
char *mz_text_add(char *to, char *end, const char *from);
char *mz_text_number(char *to, char *end, uint64_t number, unsigned base);

void mz_raw_init(void);
void *mz_raw_memcpy(void *to, const void *from, size_t n);
void *mz_raw_memmove(void *to, const void *from, size_t n);
void *mz_raw_memset(void *to, int c, size_t n);
int mz_raw_memcmp(const void *a, const void *b, size_t n);

/* A thread is about to post a visible operation: signals may interrupt it here. */
static inline __attribute__((always_inline)) void mz_before(const void *pc)
{
    if (mz_unlikely(rt.signals_used)) mz_signal_point(pc, __builtin_frame_address(0));
}

/* Post the next visible operation of the running thread, and return when it is its turn. */
static inline void mz_visible(uint8_t op, uint64_t key, uint8_t size, uint8_t access, uint64_t expected,
                              const void *pc)
{
    struct mz_pending *p = &rt.view.pending[rt.self];
    mz_before(pc);
    p->key = key;
    p->expected = expected;
    p->pc = (uintptr_t)pc;
    p->choices = 1;
    p->op = op;
    p->size = size;
    p->access = access;
    rt.view.enabled |= (uint64_t)1 << rt.self;
    rt.hooks++;
    if (mz_unlikely(rt.section)) {
        mz_section_check(op);
        return;
    }
    mz_dispatch();
}

/* An operation on a futex, not on a condition variable: those have no size. What it touches: futex.c. */
static inline bool mz_is_futex(uint8_t op, uint8_t size)
{
    return size && (op == MZ_OP_WAIT || op == MZ_OP_WAKE || op == MZ_OP_BROADCAST || op == MZ_OP_TIMEOUT);
}

/* The operation happens now, as it did in the execution before; false if it is new. */
static inline bool mz_commit_replayed(void)
{
    if (mz_unlikely(rt.section)) return false;
    struct mz_path *path = rt.path;
    uint32_t k = path->depth;
    if (mz_unlikely(k >= path->replay)) return false;
    const struct mz_event *e = &path->events[k];
    const struct mz_pending *p = &rt.view.pending[rt.self];
    if (mz_unlikely(e->key != p->key || e->op != p->op)) mz_diverged(rt.self);
    path->depth = k + 1;
    rt.channel->live_length = k + 1;
    return true;
}

/* The running thread has changed something that others or its own future can see. */
static inline void mz_changed(void) { rt.run.threads[rt.self].changes++; }

static inline void mz_commit(enum mz_access access, uint64_t old)
{
    if (access != MZ_READS) mz_changed();
    if (!mz_commit_replayed()) mz_commit_live(access, old);
}

/* The same for an operation on a synchronization object: new ones are checked against initialisation and
 * destruction of the object. Whether it is a change is the caller's to say. */
static inline void mz_commit_use(enum mz_access access, uint64_t old)
{
    if (!mz_commit_replayed()) mz_commit_use_live(access, old);
}

/* The number of the object of the last event; only while live. */
static inline uint32_t mz_last_object(void)
{
    return rt.path->live ? rt.path->events[rt.path->depth - 1].object : 0;
}

static inline bool mz_is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

#define MZ_FRAME() __builtin_frame_address(0)
#define MZ_PC()    __builtin_return_address(0)
#define MZ_RECORD(...)                                                                                       \
    do {                                                                                                     \
        if (mz_unlikely(rt.recording)) mz_record(__VA_ARGS__);                                               \
    } while (0)

#endif
