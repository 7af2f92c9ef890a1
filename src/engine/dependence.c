/* Dependence: which events conflict, which races can be reversed, and the clock of each event.
 *
 * The rules, by operation (all per object; different objects never conflict):
 *
 *   LOAD, failed CAS, failed TRYLOCK, WAIT   read: independent of each other
 *   all others                               write: dependent with everything
 *   CHOOSE                                   no object
 *   LOCK, EXIT, SEM_WAIT                     may be disabled, so not every race of theirs can be reversed
 *
 * A race (e, e') is a pair of dependent events of different threads with nothing between them in the
 * happens-before order (2017, section 3.3). It is reversible if e' was enabled before e. For an operation
 * that may be disabled the events that it directly follows often cannot be reversed (the release before an
 * acquire); then the race is with the last event before which it was enabled: the previous *acquire* of a
 * mutex (2005, section 4.2; 2017, Algorithm 3), the last operation on a semaphore that found it positive.
 * What such an operation has to wait for at the end of an execution is a race too, with an event that never
 * happened (2017, Algorithms 3 to 6). */
#include "exploration.h"

static bool acquires(uint8_t op) { return op == MZ_OP_LOCK || op == MZ_OP_TRYLOCK || op == MZ_OP_EXIT; }
static bool blocks(uint8_t op) { return op == MZ_OP_LOCK || op == MZ_OP_EXIT || op == MZ_OP_SEM_WAIT; }

/* How event e' would access its object if it happened just before e, which it directly follows. */
static enum mz_access access_before(const struct mz_exploration *x, const struct mz_event *e,
                                    const struct mz_event *second)
{
    if (second->op == MZ_OP_CAS && x->objects[second->object].mixed) return MZ_WRITES;
    if (e->access == MZ_READS) return second->access; /* e changed nothing */
    if (second->op == MZ_OP_CAS) return e->old == second->expected ? MZ_WRITES : MZ_READS;
    if (second->op == MZ_OP_TRYLOCK) return acquires(e->op) ? MZ_WRITES : MZ_READS;
    return second->access;
}

/* Does thread t's last WAIT before event n not happen after event first? Then it waits also if first does not
 * happen. */
static bool waits_anyway(const struct mz_exploration *x, int t, mz_number first, mz_number n)
{
    for (uint32_t i = x->thread_event_count[t]; i-- > 0;) {
        mz_number w = x->thread_events[t][i];
        if (w >= n || mz_event_at(x, w)->op != MZ_OP_WAIT) continue;
        return !mz_clock_covers(x, mz_event_at(x, w)->clock, first);
    }
    return false;
}

/* Whom a signal would wake if it happened just before the event first: any of those who wait then. The others
 * are found when it has happened there, as for all choices. */
static uint8_t choice_before(const struct mz_exploration *x, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(x, first);
    uint64_t waiters = e->old;
    if (e->op == MZ_OP_WAIT) {
        waiters = 0;
        for (uint64_t t = mz_event_at(x, n)->old; t; t &= t - 1)
            if (waits_anyway(x, __builtin_ctzll(t), first, n)) waiters |= t & -t;
    }
    return waiters ? (uint8_t)__builtin_ctzll(waiters) : 0;
}

static void add_race(struct mz_exploration *x, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(x, n);
    struct mz_race *r = &x->races[x->race_count++];
    r->first = first;
    r->second = r->split = n;
    r->settled = false;
    r->before = e->before;
    r->last = mz_elem_of(e);
    r->last.access = (uint8_t)access_before(x, mz_event_at(x, first), e);
    if (e->op == MZ_OP_SIGNAL) r->last.choice = choice_before(x, first, n);
}

/* Event f directly precedes event n, whose clock is under construction: join it, and say whether they race.
 */
static bool follow(struct mz_exploration *x, mz_clock clock, mz_number f)
{
    if (mz_clock_covers(x, clock, f)) return false;
    mz_clock_join(x, clock, mz_event_at(x, f)->clock);
    return true;
}

static void reads(struct mz_exploration *x, mz_number n, const struct mz_object *o, mz_clock clock)
{
    if (o->last_write && follow(x, clock, o->last_write)) add_race(x, o->last_write, n);
}

/* A write follows all reads since the last write, latest first, and the last write. */
static void writes(struct mz_exploration *x, mz_number n, const struct mz_object *o, mz_clock clock,
                   bool races)
{
    for (mz_number f = o->last; f; f = mz_event_at(x, f)->prev_object) {
        if (follow(x, clock, f) && races) add_race(x, f, n);
        if (mz_event_at(x, f)->access == MZ_WRITES) break;
    }
}

/* The last event on the object before which an operation that may be disabled was enabled; 0: none. */
static mz_number last_disabling(const struct mz_exploration *x, const struct mz_object *o, uint8_t op)
{
    if (op != MZ_OP_SEM_WAIT) return o->last_acquire;
    mz_number f = o->last;
    while (f && mz_event_at(x, f)->old == 0) f = mz_event_at(x, f)->prev_object;
    return f;
}

void mz_dependence_event(struct mz_exploration *x, mz_number n)
{
    struct mz_event *e = mz_event_at(x, n);
    struct mz_object *o = &x->objects[e->object];
    mz_clock clock = mz_clock_copy(x, e->before);
    if (!e->object) {
        /* conflicts with nothing */
    } else if (blocks(e->op)) {
        mz_number f = last_disabling(x, o, e->op);
        if (f && !mz_clock_covers(x, e->before, f)) add_race(x, f, n);
        if (o->release) mz_clock_join(x, clock, o->release);
        writes(x, n, o, clock, false);
    } else if (e->access == MZ_READS) {
        reads(x, n, o, clock);
    } else {
        writes(x, n, o, clock, true);
    }
    x->clocks[(size_t)clock * MZ_MAX_THREADS + e->thread] = n;
    e->clock = clock;
    if (!e->object) return;
    e->prev_object = o->last;
    mz_journal_set(x, &o->last, n);
    if (e->access == MZ_WRITES) mz_journal_set(x, &o->last_write, n);
    if (e->access == MZ_WRITES && acquires(e->op)) mz_journal_set(x, &o->last_acquire, n);
}

bool mz_dependence_blocked(struct mz_exploration *x, int thread, struct mz_race *race)
{
    const struct mz_pending *p = &x->view->pending[thread];
    if (!blocks(p->op)) return false;
    uint32_t object = mz_object_find(x, p->key, p->size);
    mz_number f = last_disabling(x, &x->objects[object], p->op);
    mz_clock before = x->thread_clock[thread];
    if (!f || mz_clock_covers(x, before, f)) return false;
    *race = (struct mz_race){.first = f,
                             .split = x->path.depth + 1,
                             .last = {object, (uint8_t)thread, MZ_WRITES, 0, p->op},
                             .before = before};
    return true;
}

mz_number mz_dependence_last(struct mz_exploration *x, int thread)
{
    const struct mz_pending *p = &x->view->pending[thread];
    mz_clock before = x->thread_clock[thread];
    if (p->op == MZ_OP_CHOOSE || p->op == MZ_OP_NONE) return 0;
    const struct mz_object *o = &x->objects[mz_object_find(x, p->key, p->size)];
    if (blocks(p->op)) {
        mz_number f = last_disabling(x, o, p->op);
        return f && !mz_clock_covers(x, before, f) ? f : 0;
    }
    for (mz_number f = o->last; f; f = mz_event_at(x, f)->prev_object) {
        bool write = mz_event_at(x, f)->access == MZ_WRITES;
        bool writes_too = p->access == MZ_WRITES || (p->op == MZ_OP_CAS && o->mixed);
        if ((write || writes_too) && !mz_clock_covers(x, before, f)) return f;
        if (write) break;
    }
    return 0;
}
