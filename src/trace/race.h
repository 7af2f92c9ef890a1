/* Races: pairs of events that could happen in the other order. dependence.c finds them, rwlock.c those of read-write
 * locks; initials.c says how the sequence that reverses one can begin.
 *
 * Finding races reads the events and adds to tr->races, a stack along the path. A reduction
 * (engine/reduction) decides what is done about a race. */
#ifndef MZ_TRACE_RACE_H
#define MZ_TRACE_RACE_H

#include "trace/trace.h"

/* Two events that could happen in the other order; or an event and an operation that it prevented. An exclusive lock
 * may have to come before several readers at once: then the race has a set of first events, at most one of each
 * thread, and `first` is the earliest of them. */
struct mz_race {
    mz_number first;
    mz_number second;    /* 0: it never happened (blocked thread, other choice) */
    mz_number split;     /* in v, events from here on come after the second; if it happened, its number */
    struct mz_elem last; /* the second as it would be before the first */
    mz_clock before;     /* clock of the second's thread before it */
    uint32_t firsts_end; /* the first events are the `several` entries of tr->firsts before this one */
    uint8_t several;     /* 0: only `first` */
    bool settled;        /* optimal: need not be looked at again, whatever follows the second event */
};

/* Does the owner of the clock happen after a first event of the race, or is it one? */
static inline bool mz_after_first(const struct mz_trace *tr, const struct mz_race *race, mz_clock c)
{
    if (mz_clock_covers(tr, c, race->first)) return true;
    for (uint32_t i = race->firsts_end - race->several; i < race->firsts_end; i++)
        if (mz_clock_covers(tr, c, tr->firsts[i])) return true;
    return false;
}
/* A new entry of tr->races, all zero but firsts_end. */
static inline struct mz_race *mz_race_new(struct mz_trace *tr)
{
    uint32_t end = tr->race_count ? tr->races[tr->race_count - 1].firsts_end : 0;
    struct mz_race *r = &tr->races[tr->race_count++];
    *r = (struct mz_race){.firsts_end = end};
    return r;
}

/* ---- dependence.c ---- */

/* Event n has just happened: find its races, and compute its clock. */
void mz_dependence_event(struct mz_trace *tr, mz_number n);
/* Find the races of the operation that a blocked thread waits to do with the events that keep it from doing so. Return
 * how many there are; the caller takes them off tr->races. */
uint32_t mz_dependence_blocked(struct mz_trace *tr, int thread, const struct mz_pending *p);
/* Find the race of event e, which woke a waiter, with the timeout that it prevented. Return false if there is none. */
bool mz_dependence_timeout(struct mz_trace *tr, mz_number e, int waiter);

/* Is an operation of this kind disabled only because a thread holds its object, and can only that thread enable it? */
bool mz_has_holder(uint8_t op);

/* The last event that is dependent with what the thread does next, could come after it, and does not happen before it;
 * 0 if there is none. */
mz_number mz_dependence_last(struct mz_trace *tr, int thread, const struct mz_pending *p);
/* The last event before event f that is dependent with the step, could come after it, and is not in the clock; 0 if
 * there is none. */
mz_number mz_dependence_before(const struct mz_trace *tr, const struct mz_elem *e, mz_clock before,
                               mz_number f);

/* ---- rwlock.c, for dependence.c only ---- */

/* Add the races of an exclusive lock with the readers since the last write. `like` is such a race without its first
 * events. */
void mz_rwlock_races(struct mz_trace *tr, const struct mz_race *like);
/* How event n, a trylock, would access the lock if it came before the event first. */
enum mz_access mz_rwlock_access_before(const struct mz_trace *tr, mz_number first, mz_number n);

/* ---- await.c, for dependence.c only ---- */

/* Add the races of an await. `like` is such a race without its first events. */
void mz_await_races(struct mz_trace *tr, const struct mz_race *like);

/* ---- initials.c ---- */

/* The first event of the thread with a number above n; 0 if there is none. */
mz_number mz_first_event_after(const struct mz_trace *tr, int thread, mz_number n);
/* Does no event with a number >= n, other than of `thread`, happen before the owner of the clock? */
bool mz_happens_after_only(const struct mz_trace *tr, mz_clock c, int thread, mz_number n);
/* Is the second event of the race, moved before the first, an initial of v? */
bool mz_last_is_initial(const struct mz_trace *tr, const struct mz_race *race);
/* The clock of the second event; if it never happened, the clock that it would have in v. */
mz_clock mz_clock_of_last(struct mz_trace *tr, const struct mz_race *race);
/* Is the thread in I(v) for v = notdep(e, E).p, with the events up to the second event of the race? */
bool mz_is_initial(const struct mz_trace *tr, const struct mz_race *race, int thread);

#endif
