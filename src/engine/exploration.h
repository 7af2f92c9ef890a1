/* The state of one exploration. Private to src/engine.
 *
 * The search is a walk over a tree of executions; what is kept is the current path.
 *
 *   event k   what happened at depth k                 trace.events[k]
 *   node k    the state before event k                 nodes[k]: what was enabled, what is asleep, what remains to be
 *                                                      explored from there
 *   depth     number of events of the execution under way
 *   replay    events [0, replay) are known: they are run again, not analysed again. Event `replay` is the new branch:
 *             nodes[replay].step. From the choice of that step on, the execution is live
 *   back      events [0, back) are those of the execution before; `back` is at most `replay`
 *
 * Four parts meet here. The first three are tables of functions, chosen when the search begins (fall_back.c may
 * replace the reduction later):
 *
 *   strategy.h    which execution comes next: chooses steps, and where to go on when an execution ends
 *   reduction.h   what has to be explored: an algorithm finds it in the races
 *   frontier.h    where that is kept: in the nodes of the path, in a recorded tree, or with the balancer
 *   program.h     the system under test
 *
 * Invariants
 *  X1  The trace has events [0, max(depth, replay)): during replay it is not touched, and going back to node k takes
 *      it back to nodes[k].mark.
 *  X2  Objects are kept for the whole exploration: the same key is always the same object. */
#ifndef MZ_ENGINE_EXPLORATION_H
#define MZ_ENGINE_EXPLORATION_H

#include <stddef.h>

#include "base/bug.h"
#include "engine/program.h"
#include "trace/race.h"

struct mz_node {
    uint64_t enabled;
    uint64_t created;         /* persistent.c: the threads that have been alive at this node or before */
    uint64_t persistent;      /* of those, a persistent set; without options.persistent all of them */
    uint64_t current, marked; /* with options.marks: see mz_want_marked */
    uint64_t backtrack, done; /* sets of threads: to be explored, explored */
    uint64_t choices;         /* of the current thread, still to be explored (not with wakeup trees) */
    uint64_t asleep;          /* threads with an element in the sleep set */
    uint32_t sleep_start, sleep_count; /* in x->sleep */
    uint32_t inherited; /* sleep set: these came from the node before; the others are explored branches */
    struct mz_trace_mark mark;
    uint32_t wakeup;     /* wakeup tree: the branches after the current one, first of a list */
    struct mz_step step; /* the current branch */
    /* the current branch is from a wakeup tree: the access that it must have, plus one; else 0 */
    uint8_t foreseen;
    struct mz_tally
        before;     /* the counts when the current branch began; for a first branch only in shared searches */
    uint64_t first; /* estimate.c: the leaves when the node was entered */
    uint64_t last;  /* estimate.c: the leaves of the branch before the current one; 0: not known */
};

struct mz_strategy;
struct mz_reduction;
struct mz_frontier;
struct mz_stateful;
struct mz_persistent;
struct mz_tree_log;
struct mz_class_log;
struct mz_set_counts;
struct mz_share;
struct mz_sampling;
struct mz_tours;
struct mz_bounded;

struct mz_waits {                             /* waits.c */
    struct mz_pending now[MZ_MAX_THREADS];    /* the answers of mz_while_waiting */
    struct mz_pending posted[MZ_MAX_THREADS]; /* options.strict: the pending operations at the last node */
    uint64_t alive;                           /* and the threads that were alive there */
    uint64_t ran; /* threads that may have run since, because the step woke them or ended a join */
};

struct mz_exploration {
    struct mz_path path;
    const struct mz_view *view;
    const struct mz_strategy *strategy;
    const struct mz_reduction *reduction;
    const struct mz_frontier *frontier;
    struct mz_trace trace;
    struct mz_explore_options options;

    enum mz_ending ending;
    int last_thread; /* thread of the step before, or -1 */
    bool cut;        /* this execution does not count: see mz_explore_cut */
    bool diverged;   /* see mz_unforeseen */
    bool again;      /* the path up to the new branch is run again from the start: compare where that leads */
    bool last_again; /* the same for the last execution of the search: nothing follows */
    bool barren;     /* the new branch could not even start: all its choices are asleep */

    struct mz_node *nodes;
    uint64_t *values; /* with a memory model: what each event left in its object */
    mz_clock joining; /* the clock that a join has just made, if its thread alone refers to it; else 0 */
    mz_number woken_by[MZ_MAX_THREADS]; /* the event that woke a thread which could have timed out, until
                                           mz_explore_wake */

    struct mz_waits *waits;

    struct mz_elem *sleep; /* the sleep sets of all nodes of the path */
    size_t sleep_capacity;
    uint64_t latest[MZ_MAX_THREADS]; /* redundant_race.c: the most recent events of each thread */

    /* In a shared search the nodes near the root belong to the balancer (worker_part.c); otherwise these are 0. */
    uint32_t top;  /* the search does not go back above this node */
    uint32_t root; /* nodes before this one are the balancer's; nodes [top, root) are the batch's */
    uint32_t kept; /* nodes before this one keep their wakeup trees from the previous task */

    struct mz_share *share;           /* NULL: the search is not shared */
    struct mz_tree_log *tree_log;     /* NULL: the search is not recorded */
    struct mz_class_log *class_log;   /* NULL: classes are not written */
    struct mz_set_counts *set_counts; /* NULL: sizes of sets are not counted */
    struct mz_stateful *stateful;     /* NULL: the algorithm is stateless */
    struct mz_persistent *persistent; /* NULL: not needed */
    struct mz_sampling *sampling;     /* NULL: the strategy is exhaustive */
    struct mz_tours *tours;           /* NULL: not a survey */
    struct mz_bounded *bounded;       /* NULL: there is no bound */

    struct mz_counters counters;
    struct {
        uint64_t size,
            expected; /* leaves of branches that were not the first of their node; the mean of the branches
                                    before them */
    } estimate;
    uint64_t path_bytes; /* the most that the path has needed so far */
    struct {
        struct mz_hot_spot spots[MZ_MAX_HOT_SPOTS];
        uint16_t times[MZ_MAX_HOT_SPOTS][MZ_MAX_THREADS]; /* scratch: events of each thread */
    } hot;                                                /* hot_spots.c */
};

/* ---- waits.c: threads that wait ---- */

/* What a waiting thread can do now: TIMEOUT if it may stop waiting, else NONE. Valid until the next call for the thread. */
const struct mz_pending *mz_while_waiting(const struct mz_exploration *x, int thread);
/* With options.strict, at each node that is not replayed: check P2 of program.h for the step before. */
void mz_check_posts(struct mz_exploration *x);
/* With options.strict: the thread does RESUME, woken by this event. */
void mz_check_resumed(const struct mz_exploration *x, int thread, uint64_t event);
/* What the thread can do now. */
static inline const struct mz_pending *mz_pending_of(const struct mz_exploration *x, int thread)
{
    if (mz_unlikely(x->view->waiting >> thread & 1)) return mz_while_waiting(x, thread);
    return &x->view->pending[thread];
}

/* ---- steps.c: steps that are possible at a node ---- */

/* No step: the execution ends. */
struct mz_step mz_nobody(struct mz_exploration *x, enum mz_ending ending);
/* Of the choices of step->thread that are not asleep at node k, put the first one into *step; the others stay in
 * node.choices. Return false if all choices are asleep. */
bool mz_choose(struct mz_exploration *x, uint32_t k, struct mz_step *step);
/* The one of the threads (a set that is not empty) that options.order tries first at node k. `last`: the thread that was
 * tried before it, or -1. The default order takes the lowest number. */
int mz_pick_thread(const struct mz_exploration *x, uint32_t k, uint64_t threads, int last);
/* The step at a new node when nothing else decides: by options.order, of the threads that are awake. The default order takes
 * the same thread again if possible (fewer switches), else the lowest number. Any answer is sound: the reductions only need
 * "some" thread (2017, Algorithm 1, line 2; Algorithm 2, line 12). */
struct mz_step mz_default_step(struct mz_exploration *x, uint32_t k);
/* The same, of these threads. */
struct mz_step mz_default_step_of(struct mz_exploration *x, uint32_t k, uint64_t threads);
/* Step k of options.schedule. A schedule that does not fit the program ends the execution. */
struct mz_step mz_scheduled_step(struct mz_exploration *x, uint32_t k);
/* The system does not behave as it did in the same state before: MZ_ENDING_DIVERGED. */
struct mz_step mz_unforeseen(struct mz_exploration *x);

/* ---- sources.c: only with options.memory ---- */

/* The choices of the pending operation of a thread; those of an operation that reads memory are its sources. */
uint64_t mz_source_choices(const struct mz_exploration *x, int thread);
/* The step was chosen: find its source, and supply the value. */
void mz_source_serve(struct mz_exploration *x, struct mz_step *step);

/* ---- hot_spots.c: which operations are reordered most often ---- */

/* The search goes back to node k and takes another branch there: count event k. */
void mz_hot_spot_count(struct mz_exploration *x, uint32_t k);
/* Look how many threads of the path have each operation, and how often. */
void mz_hot_spots_look(struct mz_exploration *x);

/* ---- rewind.c: going back ---- */

/* The next execution branches off at node k, with nodes[k].step. */
void mz_rewind_to(struct mz_exploration *x, uint32_t k);
/* Forget the path, but not the counters. */
void mz_rewind_all(struct mz_exploration *x);
/* Forget all that was explored and counted, but not the objects. */
void mz_start_over(struct mz_exploration *x);

/* ---- count.c ---- */

/* Count the execution that has just ended. */
void mz_count_execution(struct mz_exploration *x);
/* Has the execution ended before all of it could be analysed? Then the search cannot go on soundly. */
bool mz_is_cut_short(const struct mz_exploration *x);
static inline struct mz_tally mz_tally_of(const struct mz_counters *c)
{
    return (struct mz_tally){c->executions, c->blocked, c->cut, c->transitions};
}
/* Leaves of the tree: executions, also those that were blocked or cut. */
static inline uint64_t mz_leaves(const struct mz_counters *c) { return c->executions + c->blocked + c->cut; }

/* ---- memory.c ---- */

/* Bytes of the path: all that a search needs without wakeup trees and states. The largest value so far. */
uint64_t mz_path_memory(const struct mz_exploration *x);
/* Bytes of the path, the largest value in any call so far, and of the wakeup trees. */
uint64_t mz_search_memory(struct mz_exploration *x);
/* Stateless searches: is there too little memory for another sequence or another thousand steps? Then optimal
 * falls back to source, and other searches end (MZ_ENDING_MEMORY). Stateful ones forget states instead
 * (stateful.c). */
bool mz_explore_full(struct mz_exploration *x);

/* ---- sleep_set.c ---- */

/* The sleep set of node k + 1: that of node k, without the elements of event k's thread and those that
 * conflict with event k. */
void mz_sleep_inherit(struct mz_exploration *x, uint32_t k);
void mz_sleep_none(struct mz_exploration *x, uint32_t k); /* node k has none */
void mz_sleep_add(struct mz_exploration *x, uint32_t k, struct mz_elem e);
/* The threads all of whose choices are asleep at node k, where the system is. */
uint64_t mz_sleep_whole(const struct mz_exploration *x, uint32_t k);
/* Wake all other threads at node k, which has not been left yet. */
void mz_sleep_keep(struct mz_exploration *x, uint32_t k, uint64_t threads);
/* Choices of the thread that are asleep at node k. */
uint64_t mz_sleep_choices(const struct mz_exploration *x, uint32_t k, int thread);
/* Do sleep(E') and WI(v) have a common element, for E' = node k? Then an execution that starts like v has been
 * explored. */
enum mz_cover mz_sleep_covers(struct mz_exploration *x, uint32_t k, struct mz_sequence *v);

/* ---- redundant_race.c ---- */

/* The path is complete, and races are about to be looked at. */
void mz_cover_begin(struct mz_exploration *x);
/* Does an element of sleep(E'), or the wakeup tree of E' = node k, cover v? MZ_UNCOVERED: it is not known. */
enum mz_cover mz_covered(const struct mz_exploration *x, uint32_t k, const struct mz_race *race);

/* ---- estimate.c ---- */

void mz_estimate_branch(struct mz_exploration *x, uint32_t k);

/* ---- fall_back.c ---- */

bool mz_can_fall_back(const struct mz_exploration *x);
void mz_fall_back(struct mz_exploration *x);

#endif
