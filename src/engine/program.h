/* The meeting point of the engine and a system under test. Two systems implement it: the native runtime
 * (src/runtime) and the text model (src/model).
 *
 * The system keeps a `struct mz_view`: for every thread, whether it is alive, which visible operation it will
 * do next, and whether that operation is enabled. The engine never runs the program: the system calls the
 * engine.
 *
 *     mz_explore_begin(x);                      // a new execution, from the initial state
 *     while ((s = mz_explore_next(x)).thread != MZ_NOBODY)
 *         run s.thread: its pending operation, with s.choice,
 *         its operation reads the newest value, or path.served[depth] if s.source is not MZ_SOURCE_NEWEST,
 *         mz_explore_commit(x, access, old, new);    // right when the operation happens
 *         then its local code up to its next visible operation; on the way, for local operations:
 *         mz_explore_spawn / _join / _release / _wake
 *     more = mz_explore_end(x);                 // analyse; false when the search is over
 *
 * Contract of the system:
 *  P1  Deterministic: the same steps give the same views.
 *  P2  Only a thread itself changes its pending operation, in a step in which it runs: its own step, or a step that
 *      starts it or lets it run on (spawn, join, wake). Other threads change only whether the operation is enabled,
 *      its choices, its access, the message that it would send, and whether the thread still waits. Whether it is enabled changes only by steps that
 *      are dependent with it, or that release it (mz_explore_release) or wake it (mz_explore_wake).
 *  P3  A thread's number depends only on its path of spawns, not on the schedule.
 *  P4  Local operations are never in conflict with anything that could run before them. */
#ifndef MZ_ENGINE_PROGRAM_H
#define MZ_ENGINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event/channel.h"
#include "event/packet.h"
#include "event/sample.h"
#include "event/survey.h"
#include "trace/event.h"

struct mz_view {
    uint64_t alive;   /* bit per thread: started and not finished */
    uint64_t enabled; /* subset of alive: the pending operation could happen now */
    uint64_t waiting; /* subset of alive: the pending operation is RESUME, and nobody has woken the thread */
    struct mz_pending pending[MZ_MAX_THREADS];
};

struct mz_state { /* the identity of a state of the system */
    uint64_t hash[2];
};

/* What the system tells about an event, mz_explore_commit(x, access, old, new). `new` is the value that an
 * operation on memory leaves in its object (the same as `old` if it only reads); for all other operations it
 * is 0. Where this table does not name the access, it is the one in op.def. For operations that are not in the
 * table, the access is at most the one in op.def, and `old` is not used.
 *
 *   operation            access                             old
 *   memory, futex WAIT   of a failed CAS: READS             the value that it has read
 *   SIGNAL, BROADCAST    WRITES                             the set of waiters
 *   WAKE                 WRITES                             (not used)
 *   WAIT, TIMEOUT        READS                              (not used)
 *   semaphores           of a failed SEM_TRY: READS         the count
 *   read-write locks     see below                          the state, in MZ_RW_ bits
 *   ONCE                 of the first: WRITES; then READS   0 new, 1 running, 2 done
 *   AWAIT                READS                              (not used)
 *   SEND, RECEIVE        SEND: WRITES; RECEIVE: READS       (not used)
 *   SECTION, SHARED_CALL WRITES; SHARED_CALL also READS     (not used)
 *
 * Waiting. After WAIT, a thread posts RESUME, which stays its pending operation until the wait is over. Its key is the
 * mutex that the thread locks when it has been woken (0: none), `expected` and `size` are the object that it waits
 * on. As long as nobody has woken it, its bit is set in view.waiting, and RESUME cannot happen. A waiting thread
 * that is enabled may stop waiting by itself: its next event is a TIMEOUT on the object that it waits on (then it posts
 * RESUME again, to lock the mutex). A waiting thread that is not enabled has nothing to do. An event that wakes it
 * clears the bit, and calls mz_explore_wake. From then on, RESUME is a lock of the mutex. If there is no mutex, the
 * thread runs on within the step that wakes it, and posts its next operation. `expected` of a RESUME that happens is
 * the event that woke the thread, 0 if it stopped waiting by itself: its source, in the words of execution graphs.
 *
 * The choice of a SIGNAL is the thread that it wakes. A WAKE is a SIGNAL or BROADCAST whose choices are
 * numbered from 0; only the system knows what they mean.
 *
 * A futex is a memory object that also has WAIT, SIGNAL, BROADCAST and WAKE. A WAIT that finds another value
 * than it expects is a LOAD (pending.op says which of the two when it is committed).
 *
 * A SECTION is a stretch of code that nothing interrupts, and one event: its accesses to memory are not
 * events. It has no key, is always enabled and contains no other operation. Its accesses are not known
 * beforehand, so it conflicts with every operation on memory (on an object with a size), and with every other
 * section.
 *
 * An AWAIT waits for a condition over several objects of memory. Its key is the set of them (mz_await_key), which must be
 * the same whenever the thread comes to this AWAIT; if the system finds out that it must be larger, the search starts over
 * (mz_explore_restart). Between awaits and sections no order is known: a program has only one of the two.
 *
 * Channels. `expected` is the message (mz_message) that a SEND will send, a RECEIVE or TRY_RECEIVE takes or waits for, if
 * it happened now. Only one thread receives from a channel.
 *
 * Read-write locks. A failed try READS. WRLOCK, a successful TRYWRLOCK, a writer's RWUNLOCK and RWCLAIM are
 * WRITES. RDLOCK, a successful TRYRDLOCK and a reader's RWUNLOCK are SHARES, unless the lock is ordered
 * (MZ_RW_ORDERED in every state of it): there, claims of writers keep readers out, and these operations are
 * WRITES. RDLOCK is enabled iff there is no writer and no claim, WRLOCK (which ends its thread's claim, if
 * the lock is ordered) iff there is no writer and no reader. */

/* The execution under way; first member of struct mz_exploration. Read-only for the system: it is here so
 * that replaying a step costs a compare and a load. */
struct mz_path {
    uint32_t depth; /* events of this execution so far */
    /* where the replay ends: the first `replay` steps repeat known events, the next one is new */
    uint32_t replay;
    /* Where to go back to: the first `back` steps are those of the execution before; at most `replay`. A system goes
     * back to node `back` or an earlier one, or starts anew. */
    uint32_t back;
    bool live; /* what happens now has not happened before, and is analysed */
    struct mz_step *steps;
    struct mz_event *events;
    uint64_t *served; /* with a memory model: the value that each step reads whose source is not the newest */
};

struct mz_exploration;

/* Which writes may serve a read: the seam for memory models (docs/adding/memory-model.md). Without one, every read gets
 * the newest value: sequential consistency. The engine explores every source that the model names. */
#define MZ_MOST_SOURCES 64
struct mz_memory_model {
    const char *name;
    /* The pending operation of the thread reads memory (MZ_OPS_VALUE). Put the writes that may serve it now into
     * sources[], none twice: event numbers, MZ_SOURCE_NEWEST, or MZ_SOURCE_INITIAL if there is an event on the object.
     * Return their number, 1 to MZ_MOST_SOURCES. The answer must depend on the execution so far only. */
    unsigned (*sources)(const struct mz_exploration *x, int thread, const struct mz_pending *pending,
                        mz_number sources[MZ_MOST_SOURCES]);
};

struct mz_finished;
struct mz_fact;

struct mz_share_options {
    /* Should the worker give branches to other workers now? Asked after every execution. */
    enum mz_share_wish (*wish)(void *system);
    /* Send a message to the balancer. */
    void (*send)(void *system, const struct mz_message *message);
    /* Get the next reply; false if there is none yet. With `wait`, wait for it: a question has been asked. */
    bool (*listen)(void *system, struct mz_message *reply, bool wait);
    /* What the system has learned, and what must be the same in every worker that goes on with the search.
     * May be NULL. */
    void (*put_knowledge)(void *system, struct mz_message *message);
    void (*get_knowledge)(void *system, struct mz_message *message);
    /* Translate a key into the form that all workers know, and back. NULL: keys are the same in all workers. */
    uint64_t (*key_out)(void *system, uint64_t key);
    uint64_t (*key_in)(void *system, uint64_t key);
    size_t room; /* for one message */
    /* Stateful algorithms (stateful/shared_states.c): what the workers share. States of workers with different salts are
     * never the same: their identities do not mean the same. */
    struct mz_finished *(*finished)(void *system, uint64_t *salt);
    /* Facts that the identity of states rests on and that accumulate over executions; these may be NULL. Tell the new
     * ones with mz_finished_tell(), false if there is no room; take in one of another worker; are there new ones, so
     * that states have other identities than at the start of the search? Forget that: the search starts over now. */
    bool (*tell_facts)(void *system);
    void (*learn_fact)(void *system, const struct mz_fact *fact);
    bool (*is_stale)(void *system);
    void (*settle)(void *system);
};

/* Record everything that is explored, as a tree (../event/tree_file.h). */
struct mz_tree_log_options {
    /* Write the next bytes. `first`: everything written before is void. */
    void (*write)(void *system, const uint8_t *bytes, size_t size, bool first);
};

/* The class of each complete execution, as a line of text (record_classes.c). */
struct mz_class_log_options {
    void (*write)(void *system, const uint8_t *bytes, size_t size, bool first); /* as above */
    const char *(*thread_name)(void *system,
                               int thread); /* 0.1: the first thread that thread 0 has created */
};

struct mz_explore_options {
    enum mz_algorithm algorithm; /* a sampling strategy: MZ_ALG_NONE, without sleep sets */
    enum mz_strategy_kind strategy;
    unsigned strategy_depth; /* D of pct:D */
    uint64_t seed;           /* of a sampling strategy */
    enum mz_bound bound; /* explore only what costs bound_limit at most: MZ_ALG_NONE, without sleep sets */
    uint32_t bound_limit;
    bool sleep_sets;
    uint64_t max_steps;
    uint64_t memory_limit;      /* bytes, of mz_explore_memory; 0: none */
    bool (*full)(void *system); /* for tests: act as if the limit had been reached? May be NULL. */
    /* Makes view->pending[thread].access exact for the current state (CAS, TRYLOCK, TRYRDLOCK, TRYWRLOCK,
     * SEM_TRY). May be NULL. */
    void (*refresh)(void *system, int thread);
    /* Would the condition of the AWAIT that the thread is about to do, or does now, hold if these events had not happened?
     * They are undone in this order. Needed for AWAIT; called while its thread waits or in mz_explore_commit, and in
     * mz_explore_end. */
    bool (*holds)(void *system, int thread, const struct mz_unwritten *writes, uint32_t count);
    /* For the stateful algorithms, which need it; asked for at scheduling points (within mz_explore_next),
     * while live. The identity of the current state: equal states give equal ids; different states give
     * different ids, except by chance. It covers everything that the future depends on: memory, the local
     * state and pending operation of each thread, locks, waiters, which threads are alive. */
    void (*state)(void *system, struct mz_state *out);
    /* If given, two states are equal only if these bytes are equal, too. Called after `state`, about the same
     * state; the bytes must stay valid only until the next call of `state`. */
    size_t (*state_bytes)(void *system, const void **bytes);
    /* If given: called within mz_explore_end by stateful algorithms when there is a cycle that nothing leads
     * out of: from the state after the first `depth` steps of this execution on, the program will never end.
     * `threads` are the threads with steps in the cycle, `writers` those of them that do more than read. If
     * there are no writers, the threads wait for something that will not happen: a livelock. */
    void (*endless)(void *system, uint32_t depth, uint64_t threads, uint64_t writers);
    /* For tests: when the search meets a known state, explore on from it: all steps to this depth, then
     * random steps. Check that equal states lead to equal states (state_check.c). If they do not,
     * state_differs gets two schedules: without their last step they lead to one identity, with it to
     * different ones. If it is NULL, the difference is an MZ_BUG. state_outline is the identity without
     * values that may be dead; NULL: the identity itself. state_is_unique: the identity of the current state
     * is made up, so no state equals it, and it is not compared. */
    uint32_t check_states;
    void (*state_differs)(void *system, const struct mz_step *one, uint32_t length,
                          const struct mz_step *other, uint32_t other_length);
    void (*state_outline)(void *system, struct mz_state *out);
    /* For stateful algorithms; may be NULL. The part of the identity that is memory. It depends only on the
     * schedule: not on what the search has learned so far, nor on stack memory that was never written. */
    void (*state_memory)(void *system, struct mz_state *out);
    bool (*state_is_unique)(void *system);
    enum mz_order order; /* not all go with all algorithms: mz_order_is_stateless(), mz_order_is_stateful() */
    uint64_t order_seed;
    /* MZ_ORDER_NAMES, classes: the name of a thread, such as 0.1. NULL: its number. */
    const char *(*thread_name)(void *system, int thread);
    void *system;
    /* NULL: sequential consistency. Only with reductions that have explores_sources, without sleep sets. */
    const struct mz_memory_model *memory;
    bool deterministic; /* the system is deterministic: a step that cannot be repeated is a bug of mazurka */
    bool strict; /* check P2 (waits.c), and that each event has the access that the wakeup tree foresaw */
    /* If given, the first execution follows it: to run a recorded schedule again. */
    const struct mz_step *schedule;
    uint32_t schedule_length;
    /* The search is shared with others: see worker_part.c. */
    const struct mz_share_options *share;
    /* Explore only persistent sets from what each thread may still do (engine/persistent.c): `static`; dpor and classic
     * without sleep sets, where the paper of 2005 combines them in lines 5, 7 and 10. */
    bool persistent;
    /* For that: the array or object that contains the object with this key. NULL: the key itself. The answer may be
     * another one later, if memory is used again. */
    uint64_t (*region)(void *system, uint64_t key);
    /* dpor and classic without sleep sets: the second optimization of 2005, section 3 (mz_want_marked) */
    bool marks;
    /* Not 0: do not search, but estimate how many executions the search will have (engine/tours.c). The seed. Only with
     * MZ_ALG_NONE, without sleep sets, memory model, sharing or logs. */
    uint64_t survey;
    bool eager; /* dpor with sleep sets: all dependent events get backtracking points (2007, Fig. 9) */
    /* At most one of these three; not if the search is shared, nor for stateful algorithms. */
    const struct mz_tree_log_options *tree_log;
    const struct mz_class_log_options *class_log;
    bool count_sets; /* the sizes of backtrack sets and wakeup trees (count_sets.c) */
};

/* How an execution ended, valid after mz_explore_next() returned MZ_NOBODY. */
enum mz_ending {
    MZ_ENDING_MAXIMAL,    /* nothing is enabled: finished or deadlocked, the system knows */
    MZ_ENDING_ASLEEP,     /* all enabled steps are asleep: they would repeat explored executions */
    MZ_ENDING_VISITED,    /* the state was visited before; something may or may not be enabled */
    MZ_ENDING_PEEKED,     /* the last step was only tried; it leads to a new state, which is explored later */
    MZ_ENDING_STEP_LIMIT, /* max_steps; the search cannot go on soundly */
    MZ_ENDING_MEMORY,     /* memory_limit, and nothing can be given up; the search cannot go on soundly */
    MZ_ENDING_DIVERGED    /* options.schedule does not fit; or the system broke P1 */
};

struct mz_exploration *mz_explore_new(const struct mz_view *view, const struct mz_explore_options *options);
void mz_explore_free(struct mz_exploration *x);
/* When this execution has ended, forget everything explored, but not the objects. */
void mz_explore_restart(struct mz_exploration *x);
/* Is such a restart due? Then no execution up to this one counts. */
bool mz_explore_restarts(const struct mz_exploration *x);
/* Has the search met an atomic section? */
bool mz_explore_has_sections(const struct mz_exploration *x);
/* From now on, explore only the branches that the message (MZ_SHARE_TASK) names. Return false if it is
 * malformed. */
bool mz_explore_task(struct mz_exploration *x, struct mz_message *task);
/* Tell the balancer that the task is done. */
void mz_explore_task_done(struct mz_exploration *x);
/* The worker ends in the middle of its task: tell what counts of it. */
void mz_explore_leave(struct mz_exploration *x);
/* A stateful search: has another worker completed it? */
bool mz_explore_is_over(const struct mz_exploration *x);
/* Take in a reply (the rest of MZ_SHARE_REPLY). The system calls this for a reply that arrives outside of
 * listen(). */
void mz_explore_learn(struct mz_exploration *x, struct mz_message *reply);
/* Everything is explored: prepare for another program, whose keys mean the same kinds of objects. */
void mz_explore_reuse(struct mz_exploration *x);

void mz_explore_begin(struct mz_exploration *x);
/* Called instead of mz_explore_begin(), after mz_explore_end(): the system has gone back by itself to this
 * node, at most path.back. */
void mz_explore_resume(struct mz_exploration *x, uint32_t node);
struct mz_step mz_explore_next(struct mz_exploration *x);
void mz_explore_commit(struct mz_exploration *x, enum mz_access access, uint64_t old, uint64_t new);
bool mz_explore_end(struct mz_exploration *x);
/* After mz_explore_end() has said that all is explored: start over, with what has been learned. Return false
 * if the search was cut short. */
bool mz_explore_again(struct mz_exploration *x);
/* After mz_explore_end() has said that a stateful algorithm has explored all: the next execution, from the
 * start, repeats the last one. Call mz_explore_again_done() after it instead of mz_explore_end(). */
void mz_explore_again_last(struct mz_exploration *x);
void mz_explore_again_done(struct mz_exploration *x, enum mz_ending ending);
/* Called before mz_explore_end(): the execution is part of another one and does not count. */
void mz_explore_cut(struct mz_exploration *x);
void mz_explore_abandon(struct mz_exploration *x); /* called instead of end: only count, the search is over */
/* Called between executions: put the progress of the search into the counters (work_done, expected). */
void mz_explore_estimate(struct mz_exploration *x);
/* With options.survey: the samples so far. */
struct mz_tour_sums mz_explore_tours(const struct mz_exploration *x);
enum mz_ending mz_explore_ending(const struct mz_exploration *x);

/* Local operations of the running step. `thread` has just started `child`. */
void mz_explore_spawn(struct mz_exploration *x, int thread, int child);
/* `thread` has just joined `finished`. */
void mz_explore_join(struct mz_exploration *x, int thread, int finished);
/* `thread` has just released a mutex, or another object on which threads wait. Return the number of the object, or
 * 0 while replaying. */
uint32_t mz_explore_release(struct mz_exploration *x, int thread, uint64_t key);
/* This event (a signal or broadcast) has woken the thread, so it happens before the next event of the thread.
 * Call this when that next event is the one that had to wait, not while the thread still has to release the
 * mutex. */
void mz_explore_wake(struct mz_exploration *x, mz_number event, int woken);
/* The SIGNAL or BROADCAST just committed wakes a waiter that could have timed out instead. Call this before
 * mz_explore_wake. */
void mz_explore_could_time_out(struct mz_exploration *x, int waiter);

/* Change a word of the system that follows the path: the engine restores it when the search backtracks over
 * the step in which it was changed. Only while live. */
void mz_explore_set(struct mz_exploration *x, uint32_t *slot, uint32_t value);
/* Two ranges of bytes are one object from now on. */
void mz_explore_unite(struct mz_exploration *x, uint64_t a, uint64_t b, unsigned size);
/* Store a value in the event just committed, in event.expected (so not for a CAS): the system can read it when
 * the event is replayed. Only while live. */
void mz_explore_note(struct mz_exploration *x, uint64_t value);
/* The object with this key is the awaited object with this number, below MZ_AWAITED, for the whole exploration: conditions
 * may read it. Tell the engine before the first AWAIT that does. */
void mz_explore_awaited(struct mz_exploration *x, uint64_t key, unsigned size, unsigned number);
/* Number of the object with this key (from 1); the same for the whole exploration. */
uint32_t mz_explore_object(struct mz_exploration *x, uint64_t key);
/* The same, but 0 if there has been no such object. */
uint32_t mz_explore_known_object(struct mz_exploration *x, uint64_t key);
/* The last event on the object with this number; the one before it is event.prev_object. */
mz_number mz_explore_last_event(const struct mz_exploration *x, uint32_t object);
/* With a memory model: the value that the event left in its object, or for MZ_SOURCE_INITIAL the value before the first
 * event on the object. */
uint64_t mz_explore_value(const struct mz_exploration *x, uint32_t object, mz_number source);
/* The executions so far in this task that the balancer has not been told of. */
uint64_t mz_explore_unshared(const struct mz_exploration *x);
/* Of a search that is complete: NULL, or which part of its data is damaged (self_check.c). */
const char *mz_explore_damage(const struct mz_exploration *x);
/* Bytes of memory that the search needs; for the path, the largest value in any call so far. */
/* Before the first execution. */
void mz_explore_set_order(struct mz_exploration *x, enum mz_order order, uint64_t seed);
void mz_explore_set_seed(struct mz_exploration *x, uint64_t seed);
void mz_explore_set_bound(struct mz_exploration *x, uint32_t limit); /* of a search with a bound */
uint64_t mz_explore_memory(struct mz_exploration *x);
uint64_t mz_explore_trees(const struct mz_exploration *x); /* of that, the most for wakeup trees */

/* The steps of the execution so far. */
uint32_t mz_explore_steps(const struct mz_exploration *x, const struct mz_step **steps);
/* Happens-before between two events (by index) of the execution so far: the dependence order. */
bool mz_explore_happens_before(const struct mz_exploration *x, uint32_t i, uint32_t j);
struct mz_counters *mz_explore_counters(struct mz_exploration *x);
/* What sampling has seen; NULL: the strategy is exhaustive. */
const struct mz_sample *mz_explore_sample(const struct mz_exploration *x);
/* Sampling: the class of the execution so far, as a hash: equal for equivalent executions only. */
struct mz_class_words {
    uint64_t word[2];
};
struct mz_class_words mz_explore_class(const struct mz_exploration *x);
/* MZ_MAX_HOT_SPOTS entries. */
const struct mz_hot_spot *mz_explore_hot_spots(const struct mz_exploration *x);

#endif
