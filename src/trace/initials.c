/* Initials of v = notdep(e, E).p (2017, Definition 4.1), on clocks, without building v.
 *
 * For a race between event e (number n) and a second event of thread p, v = notdep(e, E).p. A thread is an
 * initial of v if nothing in v happens before f, the first event of the thread in v. Clocks count events
 * globally, so this means: every component of f's clock, except that of its own thread, is at most n - 1. Then
 * e does not happen before f either, so f is in v. */
#include "trace/race.h"

/* The first event of the thread with a number above n; 0 if there is none. */
mz_number mz_first_event_after(const struct mz_trace *tr, int thread, mz_number n)
{
    const mz_number *list = tr->thread_events[thread];
    uint32_t low = 0, high = tr->thread_event_count[thread];
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (list[mid] > n)
            high = mid;
        else
            low = mid + 1;
    }
    return low < tr->thread_event_count[thread] ? list[low] : 0;
}

/* Does no event with a number >= n, other than of `thread`, happen before the owner of the clock? */
bool mz_happens_after_only(const struct mz_trace *tr, mz_clock c, int thread, mz_number n)
{
    const uint32_t *w = mz_clock_at(tr, c);
    uint32_t late = 0;
    for (uint32_t i = 0; i < tr->lanes; i += 8)
        for (uint32_t j = 0; j < 8; j++) late += w[i + j] >= n;
    return late == (w[thread] >= n);
}

/* The next candidate before event r for a conflict with the second event of the race: the previous event on the object; if
 * events on different objects may conflict, simply the previous event. */
static mz_number candidate_before(const struct mz_trace *tr, const struct mz_race *race, mz_number r)
{
    return race->last.op == MZ_OP_SECTION || tr->across ? r - 1 : mz_event_at(tr, r)->prev_object;
}

/* Find an event in v, of another thread, that conflicts with the second event as it would be in v; 0: none.
 * In E such events come after the first and before the second. Search backwards from event `from`. */
static mz_number conflict_in_v(const struct mz_trace *tr, const struct mz_race *race, mz_number from)
{
    for (mz_number r = from; r > race->first; r = candidate_before(tr, race, r)) {
        const struct mz_event *e = mz_event_at(tr, r);
        struct mz_elem elem = mz_elem_of(e);
        if (e->thread == race->last.thread || !mz_conflict(tr, &elem, &race->last)) continue;
        if (!mz_after_first(tr, race, e->clock)) return r;
    }
    return 0;
}

/* The last event before the second that may conflict with it. */
static mz_number before_second(const struct mz_trace *tr, const struct mz_race *race)
{
    if (race->second) return candidate_before(tr, race, race->second);
    if (tr->across) return tr->count;
    return race->last.object ? tr->objects[race->last.object].last : 0;
}

/* Is the second event of the race, moved before the first, an initial of v? */
bool mz_last_is_initial(const struct mz_trace *tr, const struct mz_race *race)
{
    int p = race->last.thread;
    mz_number n = race->first;
    if (mz_clock_at(tr, race->before)[p] > n) return false; /* p has an earlier event in v */
    if (!mz_happens_after_only(tr, race->before, p, n)) return false;
    /* If the first event writes, v has nothing else on its object; if it is a section, v has nothing on
     * memory. If it reads or shares, v may have other reads or shares; if only the second event is a section,
     * v may have any operation on memory; if it is an await, v may change other objects of its condition; if it is a
     * send, v may have a receive that does not find its message, and the first event has sent another one. */
    bool other_memory = race->last.op == MZ_OP_SECTION && mz_event_at(tr, n)->op != MZ_OP_SECTION;
    bool other_objects = race->last.op == MZ_OP_AWAIT || race->last.op == MZ_OP_SEND;
    if (mz_event_at(tr, n)->access == MZ_WRITES && !other_memory && !other_objects) return true;
    return !conflict_in_v(tr, race, before_second(tr, race));
}

/* The clock of the second event; if it never happened, the clock that it would have in v. */
mz_clock mz_clock_of_last(struct mz_trace *tr, const struct mz_race *race)
{
    if (race->second) return mz_event_at(tr, race->second)->clock;
    if (mz_event_at(tr, race->first)->access == MZ_WRITES && race->last.op != MZ_OP_AWAIT)
        return race->before;
    mz_clock clock = mz_clock_copy(tr, race->before);
    mz_number r = conflict_in_v(tr, race, before_second(tr, race));
    for (; r; r = conflict_in_v(tr, race, candidate_before(tr, race, r)))
        mz_clock_join(tr, clock, mz_event_at(tr, r)->clock);
    return clock;
}

/* Is the thread in I(v) for v = notdep(e, E).p, with the events up to the second event of the race? */
bool mz_is_initial(const struct mz_trace *tr, const struct mz_race *race, int thread)
{
    mz_number f = mz_first_event_after(tr, thread, race->first - 1);            /* in E from E' on */
    if (f && mz_after_first(tr, race, mz_event_at(tr, f)->clock)) return false; /* f is not in v */
    if (f && (!race->second || f < race->second))
        return mz_happens_after_only(tr, mz_event_at(tr, f)->clock, thread, race->first);
    return thread == race->last.thread && mz_last_is_initial(tr, race);
}
