/* The runtime: the code that lives inside the tested program. Private to src/runtime.
 *
 * Laws of this code, because it runs in someone else's program:
 *  L1  It shares nothing with the program: own memory (regions, this library's data), no malloc, no stdio.
 *      The library's data is not part of the snapshot. run_reset (executions.c) clears the data of one
 *      execution: rt.run, and members of the rooms. Data in program memory (pthread_mutex_t and so on) is
 *      rolled back with that memory.
 *  L2  It may run on any fiber, with the thread-local storage of any thread. So it has no thread-local
 *      variables, and it leaves the program's errno alone.
 *  L3  Nothing on the way of a visible operation allocates, enters the kernel, or depends on the number of
 *      executions.
 *  L4  An error of the program is a finding (finding.c). An error of the runtime is MZ_BUG.
 *
 * thread.h has the states of a program thread, with a diagram.
 *
 * Exactly one fiber runs: rt.self. It gives way only in mz_dispatch (schedule.c): to the newest creator in
 * rt.run.interrupted, if there is one; else to the thread that the engine chooses; at the end of the
 * execution, to the explorer.
 */
#ifndef MZ_RUNTIME_CORE_RUNTIME_H
#define MZ_RUNTIME_CORE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bug.h"
#include "engine/program.h"
#include "runtime/core/thread.h"
#include "runtime/core/upcalls.h"

struct dl_phdr_info;

/* A function that the program calls. It clears the registers of arguments when it returns: a function of the program
 * with variable arguments stores all of them in its frame, so that what the runtime left there would tell equal
 * states apart (tests/programs/state_below_stack.c). */
#if __has_attribute(zero_call_used_regs)
#define MZ_EXPORT __attribute__((visibility("default"), zero_call_used_regs("all-gpr-arg")))
#else
#define MZ_EXPORT __attribute__((visibility("default")))
#endif
/* For a variable that stands in for a variable inside libc. Program code that calls the libc function
 * accesses the variable, and may race on it. */
#define MZ_LIBC_STATE __attribute__((section("mz_libc_state")))

struct mz_slot { /* the fiber of one thread number; kept for all executions */
    void *sp;    /* saved stack pointer while the fiber does not run */
    uint64_t fs; /* thread-local storage: the thread pointer of a parked thread, and its pthread_t */
    char *stack_low, *stack_high;
    char *private_high; /* no other thread has ever used the stack below this address: see lent.c */
    int tid;            /* of the parked thread: the value of gettid */
};

struct mz_parked { /* at the stack pointer of a fiber that has run and does not run now */
    const void *resume;
    uint64_t rbp, r15, r14, r13, r12, rbx;
};

enum mz_undo { MZ_UNDO_OFF, MZ_UNDO_PAGES, MZ_UNDO_WRITES }; /* see undo.c */

/* The features that the program uses. hooks/imports.c sets them before main and when a library is loaded,
 * from what libc.def says about the imported functions. An operation is visible only if the program can
 * observe its order. */
struct mz_program_uses {
    bool signals; /* threads may send signals to each other */
    bool kill;    /* the program also sends signals to the process */
    bool trylock; /* releases of mutexes are visible */
    bool rwtry;   /* the same for try operations on read-write locks, whose releases are always visible */
    bool tryjoin; /* the program asks whether a thread has ended, or cancels: the end of threads is visible */
    bool cancel;
    bool spin_locks;    /* pthread_spin_lock: its operations are the operations of a mutex */
    bool destroy;       /* the program initialises or destroys mutexes at run time */
    bool clock;         /* the program reads the clock: readings and sleeps are visible */
    bool exception_ptr; /* threads may share exceptions: hooks/exceptions.c */
    bool unwinding;     /* exceptions or longjmp can leave functions */
};

struct mz_runtime {
    /* hot */
    uint8_t section; /* depth of atomic sections; if not 0, the thread is not interrupted: section.c */
    bool trial;      /* after the end of an execution: a thread in a waiting loop makes one more round */
    bool active;     /* a fiber of the program runs: the hooks work */
    bool recording;
    bool
        imagining; /* a condition of mz_await is evaluated, perhaps for a state that is only imagined; active is false */
    bool checking; /* options.strict: check the states of all threads at each new event */
    struct mz_program_uses uses;
    bool stateful;      /* the algorithm compares states */
    bool hashing;       /* the runtime keeps the identity of the state up to date */
    bool auditing;      /* at each node, audit.c checks that the hooks have seen all writes */
    uint8_t undo;       /* enum mz_undo: how the undo log keeps old values */
    uint8_t self;       /* slot of the running fiber */
    uint8_t choice;     /* of the newest scheduled step */
    uint32_t source;    /* of the same step, until its operation has read memory: memory/cell.h */
    uint32_t execution; /* executions that ran from the start, so far; tags the shadow, see undo.c */
    uint32_t runs;      /* executions so far */
    struct mz_path *path;
    struct mz_exploration *x;
    struct mz_channel *channel;
    struct mz_step *live; /* in the channel: the steps of this execution, in case the target dies */
    uint64_t hooks;       /* calls of hooks, without plain reads */
    bool rounds_bounded;  /* loops that may never end have a bound: loops/rounds.c */
    uint32_t reads_left;  /* plain reads until mz_spin_reads checks whether they are a loop */
    struct mz_upcalls up; /* upcalls.h */
    struct mz_view view;
    struct mz_slot slots[MZ_SLOTS];
    struct mz_run run;

    /* cold */
    void *explorer_sp;
    uint64_t explorer_fs;
    bool fsgsbase;
    uint32_t section_object;
    uint64_t maps_start, maps_size; /* address range for mmap: kernel/maps.c */
    uint64_t tls_low, tls_high;     /* address range that contains the thread-local storage of all threads */
    uint64_t program_start, program_end; /* address range of the executable */
    bool switch_fs;   /* the program can observe thread-local storage: a fiber switch changes the fs base */
    bool switch_fp;   /* the same for floating-point environments */
    bool standalone;  /* started without the command */
    bool allow_races; /* --data-races=allow */
    bool awaits;      /* the program has called mz_await */
    bool once;        /* one execution only */
    bool shared;      /* this target is a worker of a shared search: see worker.c */
    bool stop;        /* end the exploration after this execution */
    bool modules_changed;   /* this execution loaded code */
    bool spin_off;          /* libraries may change memory unseen: waiting loops are not recognised */
    bool fences_are_events; /* fences are visible operations; false without a memory model */
    bool unfiltered;        /* there is no system call filter: kernel.c */
    bool writes_unknown;    /* code without our hooks may write to program memory: see undo.c */
    uint8_t child_slot[MZ_SLOTS][MZ_SLOTS]; /* [parent][n]: slot of the n-th child; 0: none yet */
    uint32_t slots_named;                   /* 1 + the highest slot in child_slot */
    uint32_t slots_known;
    int argc;
    char **argv, **envp;
    int (*main)(int, char **, char **);
    size_t tls_size;
    double switch_ns;
};

extern struct mz_runtime rt;

/* The processor's time stamp counter: for comparing costs and for short waits. */
static inline uint64_t mz_ticks(void) { return __builtin_ia32_rdtsc(); }

static inline uint64_t mz_slot_bit(int slot) { return (uint64_t)1 << slot; }

/* threads.c: the function that every fiber runs */
void mz_fiber_main(void);

/* fiber.c */
void mz_fiber_init(void);
#define MZ_NAME_ROOM ((size_t)64 << 10) /* bytes around the thread pointer of a thread without storage */
void mz_fiber_storage(void);
void mz_fiber_open(uint32_t first, uint32_t end);
void mz_fiber_prepare(int slot);
void mz_fiber_stacks(bool of_large, uint64_t *start, uint64_t *size); /* address range of all stacks */
void mz_fiber_stack(int slot,
                    size_t size); /* for a thread about to start: a stack of at least `size` bytes */
void mz_fiber_go(int slot);       /* from a fiber to a fiber */
void mz_fiber_enter(int slot);    /* from the explorer to a fiber; returns at the end of the execution */
int mz_fiber_call(int slot, int (*function)(void *),
                  void *argument); /* aside, with the storage of the slot */
void mz_fiber_pause(void);
_Noreturn void mz_fiber_leave(void); /* from a fiber to the explorer, for good */
double mz_fiber_measure(void);
/* For states: clear what earlier calls have left on the stack below the caller's frame (fiber.c). */
void mz_fiber_clear_below(void);
void mz_fiber_mark(void); /* a point of the running fiber to which the undo log can go back */
void mz_fiber_keep(int slot);
uint64_t mz_fiber_environment(int slot); /* floating point: what the program can observe of it */
bool mz_fiber_stack_contains(int slot, uint64_t address);
int mz_fiber_stack_owner(uint64_t address); /* slot, or -1 */
void mz_fiber_tls_init(void);
int mz_fiber_tls_owner(uint64_t address); /* slot, or -1 */
bool mz_fiber_guard_contains(int slot, uint64_t address);

/* section.c */
void mz_section_check(uint8_t op);
void mz_section_begin(void *pc, const void *frame);
void mz_section_end(void);

/* worker.c: a part of a shared search */
extern const struct mz_share_options mz_worker_sharing;
extern const struct mz_tree_log_options mz_tree_file; /* kernel/tree_file.c */
extern const struct mz_class_log_options mz_class_file;
const char *mz_thread_path(void *system, int thread); /* 0.1: the first thread that thread 0 has created */
void mz_worker_init(void);
bool mz_worker_task(void);
int mz_worker_slot(int parent, unsigned n);
uint64_t mz_worker_executions(void);
enum mz_end mz_worker_enough(void); /* the limit that the worker has reached; MZ_END_COMPLETE: none */
_Noreturn void mz_worker_stop(void);
void mz_worker_leaves(void); /* called last, before the process ends */
void mz_layout_init(void);   /* layout.c */
void mz_layout_agree(void);
uint64_t mz_layout_out(uint64_t address); /* to the layout that all workers share, and back */
uint64_t mz_layout_in(uint64_t address);
uint64_t mz_layout_out_known(uint64_t value), mz_layout_in_known(uint64_t value); /* not refused */

/* schedule.c */
void mz_dispatch(void);
void mz_commit_live(enum mz_access access, uint64_t old, uint64_t new);
_Noreturn void mz_diverged(int thread);
_Noreturn void mz_halt(enum mz_thread_state state);

/* threads.c */
int mz_spawn(void *(*start)(void *), void *argument);
void mz_slots_given(void);
bool mz_join(int slot); /* false: a cancellation has ended the wait */
_Noreturn void mz_finish(void *result);
_Noreturn void mz_exit_program(int code, bool handlers);
bool mz_program_over(void); /* exit or _exit was called, and all its handlers have returned */

/* executions.c */
void mz_explore_program(void);
void mz_run_from_start(void);

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
_Noreturn void mz_failed_before_main(const char *what, const char *file, unsigned line);
_Noreturn void mz_unsupported_at(const char *call, const char *instead, const struct mz_place *place);

/* record.c: replaying a schedule, with all details */
void mz_walk(struct mz_place *place, int slot, const void *frame);
void mz_place_of(struct mz_place *place, int slot);
void mz_record_leave(void);
void mz_place_left(struct mz_place *place, int slot);
void mz_record_place(struct mz_place *place, const void *frame);
void mz_finding_frame(struct mz_finding *f, const void *frame);
void mz_record(int op, uint64_t object, unsigned size, uint32_t flags, uint64_t value, uint64_t value2,
               int other, const void *frame);

/* cxx.c */
void mz_cxx_init(void);
void mz_cxx_walk(struct mz_place *place);
bool mz_cxx_is_unwinder(const void *pc);
const char *mz_cxx_abort_text(const void *pc, char *text, size_t size);

/* bug.c */
_Noreturn void mz_end_all(enum mz_end end);
_Noreturn void mz_quit(int code);
void mz_note(const char *text);
void mz_unseen(const char *text);

/* exit.c, channel.c, modules.c, load.c, symbols.c, text.c */
void mz_exit_init(void);
void mz_exit_reset(void);
bool mz_exit_matters(void); /* does code of the program run at exit? */
void mz_run_atexit(void);
bool mz_find_channel(char **envp);
void mz_hide_channel(char **envp);
void mz_os_ended(void); /* load.c: an execution has ended, and no state is rolled back yet */
bool mz_is_system(const struct dl_phdr_info *info); /* libc, the loader, ourselves */
bool mz_module_contains(const struct dl_phdr_info *info, uintptr_t address);
void mz_modules_init(void);
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

/* raw.c: functions of libc as this library uses them */
void mz_raw_init(void);
void *mz_raw_memcpy(void *to, const void *from, size_t n);
void *mz_raw_memmove(void *to, const void *from, size_t n);
void *mz_raw_memset(void *to, int c, size_t n);
int mz_raw_memcmp(const void *a, const void *b, size_t n);

#define MZ_FRAME() __builtin_frame_address(0)
#define MZ_PC()    __builtin_return_address(0)
#define MZ_RECORD(...)                                                                                       \
    do {                                                                                                     \
        if (mz_unlikely(rt.recording)) mz_record(__VA_ARGS__);                                               \
    } while (0)

/* own.c: the runtime's own memory */
void mz_own_init(void);
bool mz_own_contains(uint64_t address);
void mz_own_check(void); /* at the end of a complete search: MZ_BUG if our memory is damaged */
void mz_our_data(uint64_t *start, uint64_t *end); /* modules.c: where the variables of this library are */

#endif
