/* What the stateful algorithms share. Private to src/engine.
 *
 * The search walks the graph of states depth-first, along the same path as the stateless algorithms: node k
 * is now the first visit of a state. A step to a state that is stored already ends the execution
 * (MZ_ENDING_VISITED). An algorithm only adds which threads it explores from a node: threads().
 *
 * The argument for all of them (docs/PAPERS.md has it at length). Let T be the threads explored from state s.
 *
 *  T1  If s lies on a cycle of the explored graph, T is all enabled threads; or the one thread whose step is
 *      invisible, if that step leads to a state that the search leaves before s (the cycle proviso).
 *  T2  Otherwise everything that s leads to has been explored before T is decided, and T contains a persistent
 *      set: a set of threads such that what the others can do without them is independent of what these do next.
 *      It is found from the *future* of the successors: what is done, and what remains blocked, from there on.
 *
 * Then, by induction, for every execution from s there is an explored path that does the same, up to the
 * order of independent events. So all final states (and deadlocks) and all local states of threads (and
 * failing assertions) are reached.
 *
 * Cycles are found as Tarjan finds strongly connected components; the number of a state is its place in the
 * order of discovery. A state is *open* while its component is not complete.
 *
 * With sleep sets (Godefroid 1996; only the algorithms with the flag sleeps_with_states): a state keeps the threads that
 * were asleep at every visit so far. If one of them is awake at a later visit, the search explores these threads from
 * the state, with the intersection as sleep set. The state then gets a new number, as if the old one had been
 * forgotten. At each such visit fewer threads are asleep than before, so the search ends. A thread counts as asleep if
 * all its choices are. Livelocks are not looked for: a step that leads out of a cycle may be asleep. T1 would ask for
 * more than sleep sets explore, so persistent sets are not used once a cycle has been found (persistent.h).
 *
 * When memory is short, a new state takes the place and the number of a state that is not open. That state is
 * *forgotten*. (Any one is chosen: it is not known which will be met again.) If the search meets a forgotten
 * state, it explores it again, as if it were another state that leads to the same. Open states are never
 * forgotten, so no execution goes round a cycle: the search ends, though it takes longer. The order of
 * discovery is then kept for open states (position). */
#ifndef MZ_ENGINE_STATEFUL_STATEFUL_H
#define MZ_ENGINE_STATEFUL_STATEFUL_H

#include "engine/exploration.h"

/* ---- state_store.c: the states seen, numbered from 1 ---- */

enum { MZ_STATE_ON_PATH = 1, MZ_STATE_OPEN = 2, MZ_STATE_UNIQUE = 4 }; /* UNIQUE: only in shared searches */

struct mz_store {
    uint64_t (*hash)[2];
    uint8_t *flags;   /* MZ_STATE_ */
    uint32_t *future; /* of states that are not open; only if the algorithm needs it */
    uint64_t *asleep; /* with sleep sets: the threads that were asleep at every visit so far */
    uint32_t *table;  /* open addressing: number of a state, with bits of its hash; or 0 */
    uint32_t size, count;
    uint64_t random; /* chooses the states to forget */
    /* If states are compared exactly: the bytes of state i are those from end[i - 1] to end[i]. */
    uint64_t *end;
    uint8_t *bytes;
};

void mz_store_new(struct mz_store *s, bool futures, bool exact, bool asleep);
void mz_store_free(struct mz_store *s);
void mz_store_clear(struct mz_store *s);
uint64_t mz_store_memory(const struct mz_store *s);
/* Return the number of the current state, 0 if it is not stored; *slot is the place in the table where it
 * belongs. */
uint32_t mz_store_find(struct mz_exploration *x, struct mz_store *s, uint32_t **slot, struct mz_state *state);
/* Store the state, and return its number; 0 if there is no room. */
uint32_t mz_store_add(struct mz_exploration *x, struct mz_store *s, uint32_t *slot,
                      const struct mz_state *state);
/* Give the state, which has the number `old` and this place in the table, a new number; 0 if there is no room. The old
 * number stays valid for what refers to it, but no search finds it. */
uint32_t mz_store_renew(struct mz_exploration *x, struct mz_store *s, uint32_t *slot, uint32_t old,
                        const struct mz_state *state);
bool mz_store_full(const struct mz_store *s);       /* nearly full */
uint64_t mz_store_growth(const struct mz_store *s); /* bytes that the table will soon need in one go; or 0 */
/* Store the state in place of another one that is neither on the path nor open, and is forgotten. Return its
 * number, 0 if none was found. */
uint32_t mz_store_replace(struct mz_store *s, const struct mz_state *state);

/* ---- state_check.c: for tests, does the same follow from states with one identity? ---- */

struct mz_state_check;
struct mz_state_check *mz_recheck_new(const struct mz_exploration *x);
void mz_recheck_free(const struct mz_exploration *x, struct mz_state_check *c);
void mz_recheck_clear(struct mz_state_check *c);
bool mz_recheck_walks(const struct mz_exploration *x); /* is a walk under way? */
void mz_recheck_node(struct mz_exploration *x, uint32_t k);
struct mz_step mz_recheck_step(struct mz_exploration *x, uint32_t k);
bool mz_recheck_begin(struct mz_exploration *x, uint32_t k);
bool mz_recheck_next(struct mz_exploration *x, uint32_t *node);

/* ---- later_accesses.c: sets of what happens later ---- */

/* An entry is a struct mz_elem: the thread has an event with this access on this object, or is blocked before
 * one. Of the operation, the entry keeps only what decides conflicts: MZ_OP_SECTION, MZ_OP_LOAD for an
 * operation on memory, else MZ_OP_NONE. An entry with MZ_OP_WOKEN says that a step of the thread starts or
 * wakes the thread whose number is in `object`: that thread had not been started, or waited without a pending
 * operation. */
typedef uint32_t mz_future; /* number of a set; 0 is the empty one. Equal sets have equal numbers. */

struct mz_futures;
struct mz_futures *mz_futures_new(void);
void mz_futures_free(struct mz_futures *f);
void mz_futures_clear(struct mz_futures *f);
uint64_t mz_futures_memory(const struct mz_futures *f);
bool mz_futures_full(const struct mz_futures *f); /* half of the room is used */
mz_future mz_future_union(struct mz_futures *f, mz_future a, mz_future b);
mz_future mz_future_with(struct mz_futures *f, mz_future a, struct mz_elem e);
const struct mz_elem *mz_future_entries(const struct mz_futures *f, mz_future a, uint32_t *count);
struct mz_elem mz_future_entry(const struct mz_exploration *x, struct mz_elem e); /* e, as sets contain it */

/* ---- operation_graph.c: the visible operation dependency graph of 2008 ---- */

struct mz_graph;
struct mz_graph *mz_graph_new(void);
void mz_graph_free(struct mz_graph *g);
void mz_graph_clear(struct mz_graph *g);
uint64_t mz_graph_memory(const struct mz_graph *g);
bool mz_graph_full(const struct mz_graph *g);
uint32_t mz_graph_node(struct mz_graph *g, struct mz_elem entry);
uint32_t mz_graph_known(struct mz_graph *g, struct mz_elem entry); /* the same, but 0 if it is not there */
void mz_graph_edge(struct mz_graph *g, uint32_t from, uint32_t to);
uint32_t mz_graph_edges(const struct mz_graph *g);
/* The edge with this number, below mz_graph_edges(); false if there is none. */
bool mz_graph_edge_at(const struct mz_graph *g, uint32_t number, struct mz_elem *from, struct mz_elem *to);
void mz_graph_begin(struct mz_graph *g);               /* begin a search in the graph, from no node yet */
void mz_graph_from(struct mz_graph *g, uint32_t node); /* begin it from this node, too */
const struct mz_elem *mz_graph_reached(struct mz_graph *g, uint32_t *count);
uint32_t mz_graph_append(struct mz_graph *g,
                         struct mz_elem entry); /* to what was reached; returns its count */

/* ---- stateful.c ---- */

struct mz_cycle { /* what is known of the component of a state, as far as it is below that state */
    uint64_t threads, writers; /* those with events in it; with events that write */
    bool exits;                /* a step leads out of it */
};

struct mz_mark {         /* what is known of node k beyond struct mz_node */
    uint32_t state, low; /* number of its state; the open state discovered first that it is known to reach */
    mz_future future;    /* so far */
    uint32_t operation;  /* sdpor: node of the graph that stands for its current step */
    bool cyclic;         /* it lies on a cycle */
    bool progress;       /* some step leads to a state that the search leaves before this one */
    struct mz_cycle cycle;
    bool single;              /* invisible: one thread's step is independent of all that others ever do */
    uint64_t alive, sleeping; /* sleeping: alive without a pending operation */
    struct mz_state memory;   /* options.state_memory */
    uint8_t first;            /* the thread that was explored first */
    uint64_t allowed;         /* with sleep sets: the threads that this visit may explore */
    bool again;    /* with sleep sets: a later visit. It explores what the ones before left out, all of it */
    uint64_t peek; /* --order=visited-first: threads whose steps are still to be tried */
    uint64_t stirred;  /* threads that its current step started or woke */
    uint64_t timeouts; /* waiters that its current step woke and that could have timed out */
    uint64_t woken;    /* other threads that ran within its current step: they may wait again after it */
    uint32_t blocked_on[MZ_MAX_THREADS]; /* the object of each pending operation */
    uint8_t holder[MZ_MAX_THREADS];      /* the only thread that can enable each; MZ_NOBODY: not known */
    uint64_t raw;                        /* de-s-por: threads in conflict with the current step */
    uint64_t current[MZ_MAX_THREADS];    /* 2023, Fig. 2: of each explored thread; only enabled threads */
    uint32_t operations[MZ_MAX_THREADS]; /* sdpor: nodes of the graph for the pending operations */
};

/* What the step just explored led to. */
struct mz_child {
    bool peeked; /* to something new, which is still to be explored */
    bool open, on_path;
    uint32_t low;
    mz_future future;
    struct mz_cycle cycle;
};

#define MZ_LUCK 1024u

struct mz_user {    /* of an object: the thread that has been about to use it */
    uint8_t thread; /* plus one; 0: nobody, MZ_SHARED: several threads */
    bool trusted;   /* something was left unexplored because only one thread uses the object */
};
#define MZ_SHARED 255

struct mz_stateful {
    struct mz_store store;
    struct mz_mark *marks;
    struct mz_user *users; /* of each object */
    uint32_t *component;   /* the open states, in the order of discovery */
    uint32_t component_count;
    uint32_t *position;           /* of open states in `component`, plus one; NULL: no state is forgotten */
    struct mz_futures *futures;   /* NULL: not needed */
    struct mz_graph *graph;       /* sdpor */
    struct mz_state_check *check; /* NULL: states are trusted */
    struct mz_shared_states *shared; /* NULL: one worker */
    struct mz_child child;
    uint64_t random;
    int16_t (*luck)[MZ_LUCK]; /* of threads with objects, see mz_stateful_first */
};

struct mz_stateful *mz_stateful_new(struct mz_exploration *x);
void mz_stateful_free(struct mz_exploration *x);
void mz_stateful_clear(struct mz_exploration *x);
void mz_stateful_reuse(struct mz_exploration *x); /* for another program */
uint64_t mz_stateful_memory(const struct mz_exploration *x);
bool mz_stateful_full(
    const struct mz_exploration *x); /* what was reserved may not be enough for another thousand states */

/* A thread is about to use the object; `trusted`: the search relies on no other thread doing so. If the search has relied
 * on another thread being its only user, the search starts over. */
void mz_stateful_user(struct mz_exploration *x, int thread, uint32_t object, bool trusted);

/* ---- shared_states.c: many workers ---- */

/* Has a worker finished the state, which is new to this worker? Then *future is its future. */
bool mz_shared_is_finished(struct mz_exploration *x, const struct mz_state *state, mz_future *future);
/* The execution has ended in a finished state: what follows it is about to be needed. */
void mz_shared_follow(struct mz_exploration *x);
/* These states are complete, and have this future. */
void mz_shared_publish(struct mz_exploration *x, const uint32_t *states, uint32_t count, mz_future future);
uint8_t mz_shared_flag(const struct mz_exploration *x); /* of the current state: MZ_STATE_UNIQUE or 0 */
void mz_shared_note_user(struct mz_exploration *x, uint32_t object, int thread, bool trusted);
uint32_t mz_shared_worker(const struct mz_exploration *x); /* its number: 0, 1, 2, ... */
/* The parts of worker_part.c and worker_messages.c. */
bool mz_shared_task(struct mz_exploration *x, struct mz_message *m);
void mz_shared_done(struct mz_exploration *x);
void mz_shared_put_round(struct mz_exploration *x, struct mz_message *m);
void mz_shared_get_round(struct mz_exploration *x, struct mz_message *m);

enum mz_arrival { MZ_ARRIVED, MZ_WAS_THERE, MZ_PEEKED, MZ_NO_ROOM };
enum mz_arrival mz_stateful_arrive(struct mz_exploration *x, uint32_t k);
/* The same schedule was run again from the start (runtime/rewind/again.c): has it led to the same node as before? */
bool mz_stateful_same(struct mz_exploration *x, uint32_t k);
/* Functions for the tables of the reductions. */
struct mz_step mz_stateful_enter(struct mz_exploration *x, uint32_t k);
void mz_stateful_event(struct mz_exploration *x, mz_number n, uint32_t races);
void mz_stateful_end(struct mz_exploration *x);
bool mz_stateful_next(struct mz_exploration *x, uint32_t k);

/* The operation that a blocked thread waits to do, as an entry. */
struct mz_elem mz_blocked_entry(const struct mz_exploration *x, int thread, uint32_t object);
/* The first of the threads in the chosen order. */
int mz_stateful_pick(struct mz_exploration *x, uint64_t threads);
/* The thread to explore first at node k, in the hope that exploring it alone is enough. */
int mz_stateful_first(struct mz_exploration *x, uint32_t k);
/* The one thread that needs to be explored because its step is invisible, as a set; empty if there is none. */
uint64_t mz_stateful_invisible(struct mz_exploration *x, uint32_t k);

/* ---- source_set.c: persistent sets from futures, for DE- and DL-S-POR and SDPOR ---- */

/* The threads of a set of entries that are in conflict with the event. */
uint64_t mz_conflicting(const struct mz_exploration *x, const struct mz_elem *e,
                        const struct mz_elem *entries, uint32_t count);
/* The enabled threads at node k, of which one must run before any of the given threads does anything. Given
 * threads that are enabled stay in the set. `stirrers`: for each thread, the threads that start or wake it
 * later. `entries`: what happens later. */
uint64_t mz_needed(const struct mz_exploration *x, uint32_t k, uint64_t threads, const uint64_t *stirrers,
                   const struct mz_elem *entries, uint32_t count);
void mz_add_stirrers(uint64_t *stirrers, const struct mz_elem *entries, uint32_t count);
/* 2023, Fig. 2: UpdateBack, from the current sets of the threads explored. */
uint64_t mz_update_back(struct mz_exploration *x, uint32_t k);
/* dl_s_por.c: threads(), of de-s-por too */
uint64_t mz_source_set_threads(struct mz_exploration *x, uint32_t k);

#endif
