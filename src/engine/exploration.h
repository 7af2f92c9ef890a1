/* The state of one exploration. Private to src/engine.
 *
 * The search is a depth-first walk over a tree of executions; what is kept is the current path.
 *
 *   event k   what happened at depth k                 events[k]
 *   node k    the state before event k                 nodes[k]: what was enabled, what is asleep, what
 *                                                      remains to be explored from there
 *   depth     number of events of the execution under way
 *   replay    events [0, replay) are those of the execution before: they are run again, not analysed again.
 *             Event `replay` is the new branch: nodes[replay].step. From its choice on the execution is live.
 *
 * Invariants
 *  E1  Everything derived from events (clocks of threads and objects, chains, lists per thread, sleep sets)
 *      describes exactly events [0, max(depth, replay)): during replay nothing of it is touched, and a
 *      backtrack to node k undoes it through the journal down to nodes[k].journal.
 *  E2  Indices of events are stored plus one; 0 means none. A clock holds, for each thread, the number (index
 *      plus one) of its last event that happens before or is the owner of the clock.
 *  E3  A clock in the pool never changes once written; threads, objects and events refer to clocks.
 *  E4  Objects (keys seen) are kept for the whole exploration: the same key is always the same object.
 */
#ifndef MZ_ENGINE_EXPLORATION_H
#define MZ_ENGINE_EXPLORATION_H

#include <stddef.h>

#include "../base/bug.h"
#include "program.h"

#define MZ_OBJECT_TABLE (1u << 23) /* most slots of the hash table of objects */

#define MZ_WAKEUP_NODES (1u << 30)

#define MZ_ANY 255 /* a choice still to be made: the first one possible */

struct mz_object {
    uint64_t key;
    mz_number last, last_write, last_acquire;
    mz_number last_share, last_read; /* the latter only if it comes after a share since the last write */
    mz_clock release;                /* what a local release of this mutex made known */
    uint32_t alias;                  /* another object that overlaps and stands for this one; 0: none */
    uint8_t size;
    bool mixed; /* accessed in different sizes or at different offsets: a CAS counts as a write */
    bool bare;  /* there have been events on it without a size */
    /* Stateful algorithms: who has been about to use it. */
    uint8_t user; /* the thread plus one; 0: nobody, MZ_SHARED: several */
    bool trusted; /* something was left unexplored because there was only one */
};
#define MZ_SHARED 255

/* One step of a sequence, with what is needed to decide conflicts: in sleep sets, wakeup trees, v of a race.
 */
struct mz_elem {
    uint32_t object; /* 0: conflicts with nothing */
    uint8_t thread, access, choice, op;
};

struct mz_tally { /* what is counted exactly, however the search is shared */
    uint64_t executions, blocked, cut, transitions;
};

struct mz_node {
    uint64_t enabled;
    uint64_t backtrack, done;          /* sets of threads: to be explored, explored */
    uint64_t choices;                  /* of the current thread, still to be explored (not optimal) */
    uint64_t asleep;                   /* threads with an element in the sleep set */
    uint32_t sleep_start, sleep_count; /* in x->sleep */
    uint32_t inherited;                /* of these; the others are branches that have been explored */
    uint32_t journal, races;
    mz_clock clocks;
    uint32_t wakeup;     /* branches after the current one, first of a list (optimal) */
    struct mz_step step; /* the current branch */
    uint8_t foreseen;    /* if it is from a wakeup tree: the access that it will have, plus one; else 0 */
    struct mz_tally
        before;     /* the counts when the current branch began, unless it is the first and not shared */
    uint64_t first; /* the leaves when it was entered */
    uint64_t last;  /* those of the branch before the current one, if that is not the first; 0: not known */
};

/* Two events that could happen in the other order; or an event and something that it prevented. An exclusive
 * lock may have to come before several readers at once: then there is a set of firsts, at most one event of a
 * thread, and `first` is the earliest of them. */
struct mz_race {
    mz_number first;
    mz_number second;    /* 0: the second never happened (blocked thread, other choice) */
    mz_number split;     /* events from here on come after the second in v: its own number if it happened */
    struct mz_elem last; /* the second as it would be before the first */
    mz_clock before;     /* clock of the second's thread before it */
    uint32_t firsts_end; /* the firsts are the `several` entries of x->firsts before this one */
    uint8_t several;     /* 0: only `first` */
    bool settled;        /* optimal: need not be looked at again, whatever follows the second event */
};

/* The sequence v of a race, indexed so that weak initials are found without going through all of it: for each
 * thread its first element, for each object its elements in order. Elements can be taken out. */
#define MZ_END UINT32_MAX
struct mz_sequence {
    struct mz_elem *elems; /* thread MZ_NOBODY: taken out */
    uint32_t *next_of_thread, *next_of_object;
    uint32_t *next_conflict; /* the next on the same object that is in conflict with it */
    uint32_t count;
    uint32_t core; /* the first so many elements are e' and what comes before it */
    uint32_t keep; /* no element from here on is needed */
    bool *needed;  /* those needed to tell v from all it was compared with; e' and what it needs always are */
    const struct mz_race *race;
    bool whole; /* false: there is only the core so far */
    uint32_t first_of_thread[MZ_MAX_THREADS];
    uint32_t *first_of_object; /* valid where stamp_of_object is the current stamp */
    uint32_t *stamp_of_object, stamp;
    uint32_t leaf;      /* wakeup tree: where it was found, or put */
    mz_number *numbers; /* of its events; 0: e', which may never have happened */
    uint32_t *clocks;   /* of a sequence that came with a message */
};

/* In shared searches, at nodes of the balancer's, a branch is of a kind: */
enum mz_whose {
    MZ_MINE,   /* to be explored here, or with something in it that is */
    MZ_OTHERS, /* not to be explored here, but known */
    MZ_SLEEPER /* the same, and what is below it is not known: it covers nothing */
};

struct mz_wakeup_node {
    struct mz_elem elem;
    uint32_t child, next; /* first child, next sibling; 0: none */
    uint32_t order;       /* grows along a list of siblings; which branch it is of the balancer's node */
    uint8_t whose;        /* enum mz_whose */
};

/* What a clock says of the last events, as a set: the highest bit is event `last`, which is among them, the next
 * one the event before it, and so on. */
struct mz_recent {
    uint64_t events;
    mz_number last;
};
#define MZ_RECENT 64

struct mz_brief {  /* of an event: what is asked of it most, for cover.c */
    uint64_t past; /* x->recent of its clock, where it is the last one itself */
    mz_number prev_object;
    uint8_t thread, access, choice;
};

struct mz_journal_entry {
    uint32_t *slot;
    uint32_t old;
};

/* A search that is shared with others, see share.c. */
struct mz_share {
    uint32_t top;           /* nodes before this one are on the way to the task, and stay as they are */
    uint32_t root;          /* nodes before this one are the balancer's; from `top` on those of the batch */
    bool descending;        /* on the way to a leaf of the batch: node `root` is one of its nodes, too */
    uint32_t leaves, leaf;  /* of the batch: how many; which one it is on */
    uint32_t next_leaf;     /* how many have been begun */
    struct mz_tally before; /* the counts when the leaf was begun */
    struct mz_step *steps;  /* how to get to the top ... */
    uint32_t way;           /* ... that there was when the task came */
    struct mz_elem *asleep; /* what is put to sleep on the way ... */
    uint32_t *asleep_end;   /* ... at each node: up to this one */
    uint32_t kept;          /* nodes before this one have their lists from before this execution */
    uint32_t *stamps;       /* of each node: no other node ever has or had it */
    uint32_t *asked;    /* of each node: its stamp, if something was asked about it and not answered yet */
    uint32_t stamp;     /* the last one */
    uint32_t questions; /* that have not been answered yet */
    struct mz_message held; /* questions that have not been asked yet: node, stamp, length, message */
    uint32_t held_count;
    bool unresolved;      /* the balancer does not know yet what the last step of the way is */
    bool knowledge_due;   /* the balancer does not know what is known here */
    struct mz_tally told; /* the counts that it knows of */
    struct mz_message out, in;
    uint32_t *trail_stack; /* scratch: nodes of a tree, from the top */
};

struct mz_reduction;
struct mz_stateful;
struct mz_tree_log;

struct mz_exploration {
    struct mz_path path;
    const struct mz_view *view;
    struct mz_explore_options options;
    const struct mz_reduction *reduction;

    bool restart; /* forget everything and start over after this execution */
    enum mz_ending ending;
    int last_thread; /* thread of the step before, or -1 */
    bool cut;        /* this execution does not count: see mz_explore_cut */
    bool diverged;   /* see mz_unforeseen */
    bool again;      /* the path up to the new branch is run again from the start: compare where that leads */
    bool last_again; /* the same for the last execution of the search: nothing follows */
    bool barren;     /* the new branch could not even start: all its choices are asleep */

    struct mz_node *nodes;
    uint32_t capacity;

    struct mz_journal_entry *journal;
    uint32_t journal_count;

    uint32_t *clocks; /* MZ_MAX_THREADS words each, the first `lanes` in use */
    mz_clock clock_count;
    struct mz_recent *recent; /* of each clock */
    struct mz_brief *briefs;  /* of each event, by its number */
    uint32_t lanes;           /* threads seen, rounded up */
    mz_clock joining; /* the clock that a join has just made, if its thread alone refers to it; else 0 */

    mz_clock thread_clock[MZ_MAX_THREADS];
    mz_number *thread_event_lists;
    mz_number *thread_events[MZ_MAX_THREADS]; /* in there: numbers of the events of each thread, in order */
    uint32_t thread_event_count[MZ_MAX_THREADS];

    struct mz_elem *sleep;
    size_t sleep_capacity;

    struct mz_object *objects;
    uint32_t object_count;
    uint32_t *object_table; /* open addressing: hash of key -> object */
    uint32_t object_mask;

    struct mz_race *races; /* of the path, for reductions that look at them at the end */
    uint32_t race_count;
    mz_number *firsts; /* of races with several; a stack like x->races, whose entries say where theirs end */
    mz_number *shared; /* scratch: the events that share an object, see rwlock.c */
    uint32_t sections; /* the object of all atomic sections; 0 until the first one happens, then for good */
    mz_number last_section;
    mz_number woken_by[MZ_MAX_THREADS]; /* the event that woke a thread which could have timed out, until
                                           mz_explore_wake */

    struct mz_wakeup_node *wakeup;
    uint32_t wakeup_count, wakeup_free;
    uint32_t wakeup_order;
    struct mz_sequence sequence;     /* scratch: v */
    uint64_t latest[MZ_MAX_THREADS]; /* cover.c: of the last events of the path, those of each thread */
    struct mz_share share;

    struct mz_tree_log *tree_log; /* NULL: the search is not recorded */
    struct mz_stateful *stateful; /* NULL: the algorithm is stateless */

    struct mz_counters counters;
    struct {
        uint64_t size, expected; /* leaves of branches that were not the first of their node; the mean of
                                    those before them */
    } estimate;
    uint32_t clock_capacity, journal_capacity;
    uint64_t path_bytes; /* the most that the path has needed so far */
};

static inline uint64_t mz_bit(int thread) { return (uint64_t)1 << thread; }
static inline const uint32_t *mz_clock_at(const struct mz_exploration *x, mz_clock c)
{
    return x->clocks + (size_t)c * MZ_MAX_THREADS;
}
static inline struct mz_event *mz_event_at(const struct mz_exploration *x, mz_number n)
{
    return &x->path.events[n - 1];
}
/* Does event n happen before (or is it) what the clock belongs to? */
static inline bool mz_clock_covers(const struct mz_exploration *x, mz_clock c, mz_number n)
{
    return mz_clock_at(x, c)[mz_event_at(x, n)->thread] >= n;
}
/* Are two accesses to one object dependent? Not if both read or both share. */
static inline bool mz_access_conflict(uint8_t a, uint8_t b) { return (a ^ b) | (a & MZ_WRITES); }
/* dependence.c: is one of them a section and the other on memory? */
bool mz_conflict_with_section(const struct mz_exploration *x, const struct mz_elem *a,
                              const struct mz_elem *b);
static inline bool mz_conflict(const struct mz_exploration *x, const struct mz_elem *a,
                               const struct mz_elem *b)
{
    if (a->object == b->object) return a->object && mz_access_conflict(a->access, b->access);
    return mz_unlikely(x->sections) && mz_conflict_with_section(x, a, b);
}
static inline struct mz_elem mz_elem_of(const struct mz_event *e)
{
    return (struct mz_elem){e->object, e->thread, e->access, e->choice, e->op};
}

/* Does what the clock belongs to happen after the first event of the race (one of the firsts), or is it? */
static inline bool mz_after_first(const struct mz_exploration *x, const struct mz_race *race, mz_clock c)
{
    if (mz_clock_covers(x, c, race->first)) return true;
    for (uint32_t i = race->firsts_end - race->several; i < race->firsts_end; i++)
        if (mz_clock_covers(x, c, x->firsts[i])) return true;
    return false;
}
/* A new entry of x->races, all zero but firsts_end. */
static inline struct mz_race *mz_race_new(struct mz_exploration *x)
{
    uint32_t end = x->race_count ? x->races[x->race_count - 1].firsts_end : 0;
    struct mz_race *r = &x->races[x->race_count++];
    *r = (struct mz_race){.firsts_end = end};
    return r;
}

/* journal.c / clock.c */
void mz_journal_set(struct mz_exploration *x, uint32_t *slot, uint32_t value);
void mz_journal_undo(struct mz_exploration *x, uint32_t mark);
mz_clock mz_clock_copy(struct mz_exploration *x, mz_clock from);
void mz_clock_join(struct mz_exploration *x, mz_clock into, mz_clock from);
mz_clock mz_clock_joined(struct mz_exploration *x, mz_clock a, mz_clock b);
void mz_clock_widen(struct mz_exploration *x, int thread);
/* The clock, a copy of its thread's, is that of event n. */
void mz_clock_of_event(struct mz_exploration *x, mz_clock clock, int thread, mz_number n);

/* object.c */
uint32_t mz_object_find(struct mz_exploration *x, uint64_t key, unsigned size);
uint32_t mz_object_of(struct mz_exploration *x, const struct mz_pending *p); /* 0: on none */
/* What was learned about objects that the dependence of operations depends on. */
void mz_put_objects(const struct mz_exploration *x, struct mz_message *m);
void mz_get_objects(struct mz_exploration *x, struct mz_message *m);

/* dependence.c: */
/* Is an operation on this object an access to memory, in conflict with every atomic section? */
bool mz_is_memory(const struct mz_exploration *x, uint8_t op, uint32_t object);
/* Does the outcome of a CAS not tell whether it writes? Then it counts as a write. */
static inline bool mz_cas_writes(const struct mz_exploration *x, uint32_t object)
{
    return x->objects[object].mixed || x->sections;
}
/* Finding races. Reads the exploration, writes x->races and the event's clock. */
void mz_dependence_event(struct mz_exploration *x, mz_number n);
/* The races of what a blocked thread waits to do with what keeps it from it: adds them to x->races, to be
 * taken off by the caller, and returns how many. */
uint32_t mz_dependence_blocked(struct mz_exploration *x, int thread);
/* The race of event e, which woke a waiter, with the timeout that it prevented; false if there is none. */
bool mz_dependence_timeout(struct mz_exploration *x, mz_number e, int waiter);

/* May an operation of this kind be disabled only because a thread holds its object, which nobody but that one
 * can give back? */
bool mz_has_holder(uint8_t op);

/* The last event that is dependent with what the thread does next, could come after it, and does not happen
 * before it; 0 if there is none. */
mz_number mz_dependence_last(struct mz_exploration *x, int thread);

/* The last event before event f with which the step is dependent, that could come after it, and that is not
 * among what the clock knows; 0 if there is none. */
mz_number mz_dependence_before(const struct mz_exploration *x, const struct mz_elem *e, mz_clock before,
                               mz_number f);

/* rwlock.c */
void mz_rwlock_races(struct mz_exploration *x, const struct mz_race *like);
enum mz_access mz_rwlock_access_before(const struct mz_exploration *x, mz_number first, mz_number n);

/* initials.c */
mz_number mz_first_event_after(const struct mz_exploration *x, int thread, mz_number n);
bool mz_happens_after_only(const struct mz_exploration *x, mz_clock c, int thread, mz_number n);
bool mz_last_is_initial(const struct mz_exploration *x, const struct mz_race *race);
mz_clock mz_clock_of_last(struct mz_exploration *x, const struct mz_race *race);
bool mz_is_initial(const struct mz_exploration *x, const struct mz_race *race, int thread);

/* Whether a step stands for the sequence v: not at all; for v as it is; or for every sequence that starts
 * with the core of v. */
enum mz_cover { MZ_UNCOVERED, MZ_COVERED, MZ_SETTLED };

/* cover.c: the path is complete, and races are about to be looked at. */
void mz_cover_begin(struct mz_exploration *x);
/* What sleep(E') and the wakeup tree of E' = node k say of v; MZ_UNCOVERED: nothing is known. */
enum mz_cover mz_covered(const struct mz_exploration *x, uint32_t k, const struct mz_race *race);

/* sequence.c */
void mz_sequence_build(struct mz_exploration *x, const struct mz_race *race);
void mz_sequence_complete(struct mz_exploration *x, struct mz_sequence *v);
enum mz_cover mz_sequence_weak_initial(const struct mz_exploration *x, struct mz_sequence *v,
                                       const struct mz_elem *p, uint32_t *at);
void mz_sequence_take(struct mz_sequence *v, uint32_t at);
/* What is to be kept of v: those needed and what happens before them. */
void mz_sequence_close(const struct mz_exploration *x, struct mz_sequence *v);
/* Of an event of v. */
const uint32_t *mz_sequence_clock(const struct mz_exploration *x, const struct mz_sequence *v, uint32_t i);
/* All elements, with numbers and clocks, have been put into x->sequence; the first `keep` are needed. */
void mz_sequence_given(struct mz_exploration *x, uint32_t count, uint32_t core, uint32_t keep);

/* sleep_set.c */
void mz_sleep_inherit(struct mz_exploration *x, uint32_t k);
void mz_sleep_add(struct mz_exploration *x, uint32_t k, struct mz_elem e);
uint64_t mz_sleep_choices(const struct mz_exploration *x, uint32_t k, int thread);
enum mz_cover mz_sleep_covers(struct mz_exploration *x, uint32_t k, struct mz_sequence *v);

/* wakeup_tree.c */
uint32_t mz_wakeup_pop(struct mz_exploration *x, uint32_t *list, struct mz_elem *first);
enum mz_cover mz_wakeup_insert(struct mz_exploration *x, uint32_t *list, struct mz_sequence *v);
void mz_wakeup_clear(struct mz_exploration *x, uint32_t *list);
/* Is v covered by a branch of the list, down to its leaf? v is used up. */
enum mz_cover mz_wakeup_covers(struct mz_exploration *x, uint32_t list, struct mz_sequence *v);
/* A node of its own, behind all others of the list. */
uint32_t mz_wakeup_append(struct mz_exploration *x, uint32_t *list, struct mz_elem elem);
/* The node of this order, put into its place if it is not there, or known better if it was a sleeper. */
uint32_t mz_wakeup_learn(struct mz_exploration *x, uint32_t *list, struct mz_elem elem, uint32_t order,
                         enum mz_whose whose);
/* All of them, at all depths, are others' now, and numbered; those of the list from `first` on. */
void mz_wakeup_give(struct mz_exploration *x, uint32_t list, uint32_t first);

/* share.c: the side of a worker */
void mz_share_init(struct mz_exploration *x);
void mz_share_free(struct mz_exploration *x);
void mz_share_reuse(struct mz_exploration *x);
void mz_share_new_node(struct mz_exploration *x, uint32_t k); /* of the balancer's */
struct mz_step mz_share_step(struct mz_exploration *x, uint32_t k);
void mz_share_offer(struct mz_exploration *x);
void mz_share_restart(struct mz_exploration *x);
/* Is node k one of the batch? */
static inline bool mz_in_batch(const struct mz_exploration *x, uint32_t k)
{
    return mz_unlikely(k < x->share.root || x->share.descending);
}
/* Then before a branch is taken from its tree: pass by what is not ours. After: has it children? */
void mz_share_pass(struct mz_exploration *x, uint32_t k);
void mz_share_taken(struct mz_exploration *x, uint32_t k, bool children);
/* A race whose first event is one of the balancer's branches. */
bool mz_share_reverse(struct mz_exploration *x, uint32_t k);
/* The same where there are backtrack sets: if none of `wanted` is to be explored from node k, or if that is
 * empty, `add` is. */
void mz_share_backtrack(struct mz_exploration *x, uint32_t k, uint64_t wanted, uint64_t add);
static inline bool mz_has_choices(uint8_t op)
{
    return op == MZ_OP_CHOOSE || op == MZ_OP_SIGNAL || op == MZ_OP_WAKE;
}
static inline bool mz_shared(const struct mz_exploration *x) { return x->options.share != NULL; }
static inline uint64_t mz_tally_leaves(struct mz_tally t) { return t.executions + t.blocked + t.cut; }
static inline struct mz_tally mz_tally_of(const struct mz_counters *c)
{
    return (struct mz_tally){c->executions, c->blocked, c->cut, c->transitions};
}

/* tree_log.c; only if there is one */
void mz_tree_log_init(struct mz_exploration *x);
void mz_tree_log_free(struct mz_exploration *x);
/* A race calls for this leaf, or this thread, at node k. */
void mz_tree_log_leaf(struct mz_exploration *x, uint32_t k, uint32_t leaf);
void mz_tree_log_new_leaf(struct mz_exploration *x, uint32_t leaf);
void mz_tree_log_thread(struct mz_exploration *x, uint32_t k, int thread);
void mz_tree_log_follow(struct mz_exploration *x, uint32_t order);
void mz_tree_log_execution(struct mz_exploration *x);
void mz_tree_log_rewind(struct mz_exploration *x, uint32_t k);
void mz_tree_log_restart(struct mz_exploration *x);
void mz_tree_log_end(struct mz_exploration *x);

/* Of the tree: executions, also those that were blocked or cut. */
static inline uint64_t mz_leaves(const struct mz_counters *c) { return c->executions + c->blocked + c->cut; }

/* wire.c: how things are put into messages. Objects go by their keys. */
#define MZ_WIRE 16 /* bytes of an element */
void mz_put_key(const struct mz_exploration *x, struct mz_message *m, uint64_t key);
uint64_t mz_get_key(const struct mz_exploration *x, struct mz_message *m);
void mz_put_elem(struct mz_exploration *x, struct mz_message *m, struct mz_elem elem);
struct mz_elem mz_get_elem(struct mz_exploration *x, struct mz_message *m);
void mz_put_tree(struct mz_exploration *x, struct mz_message *m, uint32_t list);
void mz_get_tree(struct mz_exploration *x, struct mz_message *m, uint32_t *list);
/* Such a tree branch by branch: down to one, and up again (once more at the end). */
void mz_put_branch(struct mz_exploration *x, struct mz_message *m, struct mz_elem elem, uint32_t order,
                   enum mz_whose whose);
void mz_put_up(struct mz_message *m);
/* Branches that are not in the list yet get their places in it; they are others'. */
void mz_merge_tree(struct mz_exploration *x, struct mz_message *m, uint32_t *list);
/* x->sequence, with what happens before what; and back. */
void mz_put_sequence(struct mz_exploration *x, struct mz_message *m, uint32_t keep);
bool mz_get_sequence(struct mz_exploration *x, struct mz_message *m);
void mz_put_tally(struct mz_message *m, struct mz_tally tally);
struct mz_tally mz_get_tally(struct mz_message *m);

/* explore.c */
/* The first choice of the thread that is awake at node k; those after it stay in node.choices. */
bool mz_choose(struct mz_exploration *x, uint32_t k, struct mz_step *step);
void mz_array_reserve(void **array, size_t bytes);
void mz_array_release(void **array, size_t bytes);
/* The system does not do what it did in the same state before: MZ_ENDING_DIVERGED. */
struct mz_step mz_unforeseen(struct mz_exploration *x);
struct mz_step mz_default_step(struct mz_exploration *x, uint32_t k);
/* Forget what was explored, but not what was counted. */
void mz_rewind_all(struct mz_exploration *x);
/* No memory for another sequence or another thousand steps? Then optimal falls back to source, stateful
 * algorithms forget states, and other searches end (MZ_ENDING_MEMORY). */
bool mz_explore_full(struct mz_exploration *x);
/* Bytes of what a search needs that keeps neither trees nor states. */
uint64_t mz_path_memory(const struct mz_exploration *x);

/* estimate.c */
void mz_estimate_branch(struct mz_exploration *x, uint32_t k);

/* fall_back.c */
bool mz_can_fall_back(const struct mz_exploration *x);
void mz_fall_back(struct mz_exploration *x);

#endif
