/* An execution as a partial order: its events, their clocks, the objects that they are on, the races between them, and
 * sequences of steps made from it. What the engine and the balancer share.
 *
 * A trace knows nothing of the search: not of nodes, sleep sets or reductions, nor which execution comes next. The
 * engine adds events as they happen and takes them back; the balancer (dist/balance) never has events, and uses a trace
 * for objects, sequences and wakeup trees that come in messages.
 *
 * Invariants
 *  E1  Everything derived from events (clocks of threads and objects, chains, lists per thread, races) describes
 *      exactly events [0, count). The journal takes it back.
 *  E2  Indices of events are stored plus one; 0 means none. A clock holds, for each thread, the number (index plus
 *      one) of its last event that happens before the owner of the clock or is the owner.
 *  E3  Threads, objects and events refer to clocks in a pool. A clock never changes once written, except that a thread
 *      that joins several threads in a row extends the clock made by its first join (mz_explore_join).
 *  E4  Objects (keys seen) are kept for as long as the trace: the same key is always the same object. */
#ifndef MZ_TRACE_TRACE_H
#define MZ_TRACE_TRACE_H

#include <stddef.h>
#include "base/bug.h"
#include "base/table.h"
#include "trace/event.h"
#include "trace/sequence.h"
#include "trace/wakeup_tree.h"

#define MZ_OBJECT_TABLE (1u << 23) /* most slots of the hash table of objects */

struct mz_object {
    uint64_t key;
    mz_number last, last_write, last_acquire;
    mz_number last_share, last_read; /* last_read: only if it comes after a share since the last write */
    mz_clock release;                /* clock of the last local release (mz_explore_release) */
    uint32_t alias;                  /* another object that overlaps and stands for this one; 0: none */
    uint8_t size;
    bool mixed; /* accessed in different sizes or at different offsets: a CAS counts as a write */
    bool bare;  /* there have been events on it without a size */
    uint32_t awaited,
        members;      /* sets of awaited objects: the one that it is; those that it stands for (object.c) */
    uint32_t channel; /* of a cell: its channel; else 0 */
};

/* The most recent events in a clock, as a set: the highest bit is event `last`, which is in the clock, the next bit
 * the event before it, and so on. */
struct mz_recent {
    uint64_t events;
    mz_number last;
};
#define MZ_RECENT 64

/* Room for the races of awaits, beyond those of other operations. */
#define MZ_AWAIT_RACES (1u << 20)

struct mz_brief {  /* the fields of an event that are read most often (engine/redundant_race.c) */
    uint64_t past; /* tr->recent of its clock, where `last` is the event itself */
    mz_number prev_object;
    uint8_t thread, access, choice;
};

struct mz_journal_entry {
    uint32_t *slot;
    uint32_t old;
};

/* Translates keys of objects for messages: `out` into the form that all workers know, `in` back. NULL: keys are the
 * same in all workers. */
struct mz_key_map {
    uint64_t (*out)(void *system, uint64_t key);
    uint64_t (*in)(void *system, uint64_t key);
    void *system;
};

struct mz_trace {
    struct mz_event *events;
    uint32_t count, capacity;

    struct mz_journal_entry *journal;
    uint32_t journal_count, journal_capacity;

    uint32_t *clocks; /* MZ_MAX_THREADS words each, the first `lanes` in use */
    mz_clock clock_count, clock_capacity;
    struct mz_recent *recent; /* of each clock */
    struct mz_brief *briefs;  /* of each event, by its number */
    uint32_t lanes;           /* threads seen, rounded up */

    mz_clock thread_clock[MZ_MAX_THREADS];
    mz_number *thread_event_lists;
    mz_number *thread_events[MZ_MAX_THREADS]; /* parts of it: the events of each thread, in order */
    uint32_t thread_event_count[MZ_MAX_THREADS];

    struct mz_object *objects;
    uint32_t object_count;
    struct mz_table object_table; /* by key */
    uint32_t united;              /* how often two objects have become one */
    uint32_t changes;             /* how often an object was new, or became larger or bare */
    uint32_t sections; /* the object of all atomic sections; 0 until the first one happens, then for good */
    mz_number last_section;
    bool across;      /* there are awaits or cells of channels: events on different objects may conflict */
    bool all_awaited; /* some await reads all memory; the search has started over since */
    bool
        whole_channels; /* all events on a channel are on one object, not on the cells of its messages (object.c) */
    bool await_races;   /* the search looks at races: find those of awaits, which may be many */
    bool ignores_races; /* nobody looks at the races of events: do not search for them */
    bool crowded;       /* an await has too many races: not all have been found */
    /* await.c: would the condition of the thread's await hold now if these events had not happened? */
    bool (*holds)(void *system, int thread, const struct mz_unwritten *writes, uint32_t count);
    void *holds_system;
    struct mz_unwritten *unwritten; /* scratch */
    bool all_writes; /* all accesses to an object conflict: every event writes (engine/reduction/classic.c) */
    /* operations that were independent so far are dependent from now on: what was explored is void */
    bool outdated;

    struct mz_race *races; /* of the path; a stack */
    uint32_t race_count;
    /* first events of races that have several: a stack like races; race.firsts_end says which of them belong to the race */
    mz_number *firsts;
    mz_number *shared; /* scratch: the events that share an object, see rwlock.c */

    struct mz_sequence sequence; /* scratch: v */
    struct mz_wakeup_pool wakeup;
    struct mz_key_map keys;
};

/* trace.c */
/* The memory must be zero. max_steps: 0 is no limit. for_messages: sequences and trees go into messages. */
void mz_trace_init(struct mz_trace *tr, uint64_t max_steps, bool for_messages);
void mz_trace_release(struct mz_trace *tr, bool for_messages);
/* Reserve memory. A page of it takes up room only once it is used. */
void mz_array_reserve(void **array, size_t bytes);
void mz_array_release(void **array, size_t bytes);
/* Could the reserved memory be too small for another thousand events? */
bool mz_trace_full(const struct mz_trace *tr);
/* Add event n, whose fields are filled in except clock, before and prev_object: fill in these, and find its races. */
void mz_trace_add(struct mz_trace *tr, mz_number n);
/* Take back all events from number `count` + 1 on. `mark` was taken just before event `count` + 1. */
struct mz_trace_mark {
    uint32_t journal, races;
    mz_clock clocks;
};
static inline struct mz_trace_mark mz_trace_mark(const struct mz_trace *tr)
{
    return (struct mz_trace_mark){tr->journal_count, tr->race_count, tr->clock_count};
}
void mz_trace_rewind(struct mz_trace *tr, uint32_t count, struct mz_trace_mark mark);
void mz_trace_clear(struct mz_trace *tr); /* take back all events; objects stay */
void mz_trace_reuse(
    struct mz_trace *tr); /* the same for another program: objects stay, sections are forgotten */

static inline const uint32_t *mz_clock_at(const struct mz_trace *tr, mz_clock c)
{
    return tr->clocks + (size_t)c * MZ_MAX_THREADS;
}
static inline struct mz_event *mz_event_at(const struct mz_trace *tr, mz_number n)
{
    return &tr->events[n - 1];
}
/* Does event n happen before the owner of the clock, or is it the owner? */
static inline bool mz_clock_covers(const struct mz_trace *tr, mz_clock c, mz_number n)
{
    return mz_clock_at(tr, c)[mz_event_at(tr, n)->thread] >= n;
}

/* clock.c */
/* Change a word that describes events. The journal restores it when the events are taken back. */
void mz_journal_set(struct mz_trace *tr, uint32_t *slot, uint32_t value);
void mz_journal_undo(struct mz_trace *tr, uint32_t mark);
mz_clock mz_clock_copy(struct mz_trace *tr, mz_clock from);
void mz_clock_join(struct mz_trace *tr, mz_clock into, mz_clock from);
mz_clock mz_clock_joined(struct mz_trace *tr, mz_clock a, mz_clock b);
/* Make room for the thread in all clocks. */
void mz_clock_widen(struct mz_trace *tr, int thread);
/* Add event n of the thread to the clock, which becomes the clock of that event. */
void mz_clock_of_event(struct mz_trace *tr, mz_clock clock, int thread, mz_number n);

/* object.c */
uint32_t mz_object_find(struct mz_trace *tr, uint64_t key, unsigned size);
uint32_t mz_object_known(struct mz_trace *tr, uint64_t key);            /* 0: there has been no such object */
uint32_t mz_object_of(struct mz_trace *tr, const struct mz_pending *p); /* 0: the operation has none */
/* Part of an await's condition: the object is the awaited object with this number, below MZ_AWAITED. */
void mz_object_awaited(struct mz_trace *tr, uint64_t key, unsigned size, unsigned number);
void mz_object_forget_awaited(struct mz_trace *tr); /* awaited objects may get other numbers */
/* The object of all atomic sections. */
uint32_t mz_object_of_sections(struct mz_trace *tr);
/* Two ranges of bytes are one object from now on. */
void mz_object_unite(struct mz_trace *tr, uint64_t a, uint64_t b, unsigned size);
/* The object that stands for o. */
static inline uint32_t mz_object_resolve(const struct mz_trace *tr, uint32_t o)
{
    while (tr->objects[o].alias) o = tr->objects[o].alias;
    return o;
}

/* conflict.c */
/* Is an operation on this object an access to memory, in conflict with every atomic section? */
bool mz_is_memory(const struct mz_trace *tr, uint8_t op, uint32_t object);
/* Do two steps on different objects conflict? One is a section and the other an operation on memory; one is an await and
 * the other changes an object that it reads; or both send to the same channel. */
bool mz_conflict_across(const struct mz_trace *tr, const struct mz_elem *a, const struct mz_elem *b);
static inline bool mz_conflict(const struct mz_trace *tr, const struct mz_elem *a, const struct mz_elem *b)
{
    if (a->object == b->object) return a->object && mz_access_conflict(a->access, b->access);
    return mz_unlikely(tr->sections || tr->across) && mz_conflict_across(tr, a, b);
}
/* Does a CAS on this object count as a write even if it fails? Its outcome in another order is not known. */
static inline bool mz_cas_writes(const struct mz_trace *tr, uint32_t object)
{
    return tr->objects[object].mixed || tr->sections;
}

#endif
