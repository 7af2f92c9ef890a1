/* Dependence: which events conflict, which races can be reversed, and the clock of each event.
 *
 * The rules, by operation (all per object; different objects never conflict, but for SECTION):
 *
 *   LOAD, WAIT, TIMEOUT, ONCE of what is done,
 *   failed CAS, TRYLOCK, TRYRDLOCK, TRYWRLOCK, SEM_TRY    read: independent of each other
 *   RDLOCK, successful TRYRDLOCK, a reader's RWUNLOCK     share: independent of each other, not of reads
 *   all others                                            write: dependent with everything
 *   CHOOSE                                                no object
 *   SECTION                                               dependent with every SECTION and all that is
 *                                                         done to memory, futexes too
 *   whatever the object:
 *   LOCK, EXIT, ONCE, SEM_WAIT, RDLOCK, WRLOCK            may be disabled, so not every race of theirs can
 *                                                         be reversed
 *
 * (On an ordered read-write lock, see program.h, what shares elsewhere is a write. Where objects overlap, or
 * there are sections, a failed CAS is a write: how it would end in another order is not known.)
 *
 * A race (e, e') is a pair of dependent events of different threads with nothing between them in the
 * happens-before order (2017, section 3.3). It is reversible if e' was enabled before e. For an operation
 * that may be disabled the events that it directly follows often cannot be reversed (the release before an
 * acquire); then the race is with the last event before which it was enabled: the previous *acquire* of a
 * mutex (2005, section 4.2; 2017, Algorithm 3), the last operation on a semaphore that found it positive. For
 * an exclusive lock after readers it is a set of events: see rwlock.c.
 *
 * What such an operation has to wait for at the end of an execution is a race too, with an event that never
 * happened (2017, Algorithms 3 to 6); and so is a timeout with the signal that came before it. */
#include "exploration.h"

bool mz_is_memory(const struct mz_exploration *x, uint8_t op, uint32_t object)
{
    switch (op) {
    case MZ_OP_LOAD: /* of a semaphore too, as are the others of condition variables: they have no size */
    case MZ_OP_STORE:
    case MZ_OP_RMW:
    case MZ_OP_CAS:
    case MZ_OP_WAIT:
    case MZ_OP_SIGNAL:
    case MZ_OP_BROADCAST:
    case MZ_OP_WAKE:
    case MZ_OP_TIMEOUT:
        return x->objects[object].size > 0;
    default:
        return false;
    }
}

bool mz_conflict_with_section(const struct mz_exploration *x, const struct mz_elem *a,
                              const struct mz_elem *b)
{
    return (a->op == MZ_OP_SECTION && mz_is_memory(x, b->op, b->object)) ||
           (b->op == MZ_OP_SECTION && mz_is_memory(x, a->op, a->object));
}

static bool acquires(uint8_t op)
{
    switch (op) {
    case MZ_OP_LOCK:
    case MZ_OP_TRYLOCK:
    case MZ_OP_EXIT:
    case MZ_OP_ONCE:
    case MZ_OP_WRLOCK:
    case MZ_OP_TRYWRLOCK:
        return true;
    default:
        return false;
    }
}

bool mz_has_holder(uint8_t op) { return op == MZ_OP_LOCK || op == MZ_OP_ONCE || op == MZ_OP_EXIT; }

static bool blocks(uint8_t op)
{
    switch (op) {
    case MZ_OP_LOCK:
    case MZ_OP_EXIT:
    case MZ_OP_ONCE:
    case MZ_OP_SEM_WAIT:
    case MZ_OP_RDLOCK:
    case MZ_OP_WRLOCK:
        return true;
    default:
        return false;
    }
}

/* Was an operation that may be disabled enabled just before event e on its object? */
static bool was_enabled(uint8_t op, const struct mz_event *e)
{
    switch (op) {
    case MZ_OP_SEM_WAIT:
        return e->old > 0;
    case MZ_OP_RDLOCK:
        return !(e->old & (MZ_RW_WRITER | MZ_RW_CLAIMS));
    case MZ_OP_WRLOCK:
        return !(e->old & (MZ_RW_WRITER | MZ_RW_READERS));
    default:
        return e->access == MZ_WRITES && acquires(e->op);
    }
}

/* How event n would access its object if it happened just before the event first. */
static enum mz_access access_before(const struct mz_exploration *x, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(x, first), *second = mz_event_at(x, n);
    if (second->op == MZ_OP_CAS && mz_cas_writes(x, second->object)) return MZ_WRITES;
    if (e->access == MZ_READS) return second->access; /* e changed nothing */
    switch (second->op) {
    case MZ_OP_CAS:
        if (e->op == MZ_OP_SIGNAL || e->op == MZ_OP_BROADCAST || e->op == MZ_OP_WAKE) return second->access;
        return e->old == second->expected ? MZ_WRITES : MZ_READS;
    case MZ_OP_TRYLOCK:
        return acquires(e->op) ? MZ_WRITES : MZ_READS;
    case MZ_OP_SEM_TRY:
        return e->old > 0 ? MZ_WRITES : MZ_READS;
    case MZ_OP_ONCE: /* e is the one that ran the function */
        return MZ_WRITES;
    case MZ_OP_TRYRDLOCK:
    case MZ_OP_TRYWRLOCK:
        return mz_rwlock_access_before(x, first, n);
    default:
        return second->access;
    }
}

/* Whom a signal, event n, would wake if it happened before the event first: any of those who wait then. Those
 * are the ones who wait at n, when all from the first on that v lacks is taken back. (The others are found
 * when it has happened there, as for all choices.) */
static uint8_t choice_before(const struct mz_exploration *x, mz_number first, mz_number n)
{
    uint64_t waiters = mz_event_at(x, n)->old;
    for (mz_number g = mz_event_at(x, n)->prev_object; g >= first && g; g = mz_event_at(x, g)->prev_object) {
        const struct mz_event *e = mz_event_at(x, g);
        if (!mz_clock_covers(x, e->clock, first)) continue;
        if (e->key != mz_event_at(x, n)->key) continue; /* another futex in one object of mixed sizes */
        if (e->op == MZ_OP_WAIT) waiters &= ~mz_bit(e->thread);
        if (e->op == MZ_OP_TIMEOUT) waiters |= mz_bit(e->thread);
        if (e->op == MZ_OP_SIGNAL || e->op == MZ_OP_BROADCAST) waiters = e->old;
    }
    return waiters ? (uint8_t)__builtin_ctzll(waiters) : 0;
}

static void add_race(struct mz_exploration *x, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(x, n);
    struct mz_race *r = mz_race_new(x);
    r->first = first;
    r->second = r->split = n;
    r->before = e->before;
    r->last = mz_elem_of(e);
    r->last.access = (uint8_t)access_before(x, first, n);
    if (e->op == MZ_OP_SIGNAL) r->last.choice = choice_before(x, first, n);
    if (e->op == MZ_OP_WAKE) r->last.choice = 0; /* a number, not a thread: there always is a first */
}

/* Event f directly precedes event n, whose clock is under construction: join it, and say whether they race.
 */
static bool follow(struct mz_exploration *x, mz_clock clock, mz_number f)
{
    if (mz_clock_covers(x, clock, f)) return false;
    mz_clock_join(x, clock, mz_event_at(x, f)->clock);
    return true;
}

/* The event after which there is nothing to follow for an event with this access. */
static mz_number first_to_follow(const struct mz_object *o, uint8_t access)
{
    if (access == MZ_READS && o->last_share <= o->last_write) return o->last_write;
    if (access == MZ_SHARES && o->last_read <= o->last_write) return o->last_write;
    return o->last;
}

/* The last section if an operation on the object conflicts with it, else 0. */
static mz_number section_before(const struct mz_exploration *x, uint8_t op, uint32_t object)
{
    return mz_unlikely(x->last_section) && mz_is_memory(x, op, object) ? x->last_section : 0;
}

/* A section, event n, follows all that was done to memory since the last section, latest first, and that
 * section: what came before happens before it. */
static void follow_memory(struct mz_exploration *x, mz_number n, mz_clock clock)
{
    for (mz_number f = n - 1; f && f >= x->last_section; f--) {
        const struct mz_event *d = mz_event_at(x, f);
        if (f != x->last_section && !mz_is_memory(x, d->op, d->object)) continue;
        if (follow(x, clock, f)) add_race(x, f, n);
    }
}

/* Event n follows what it conflicts with since the last write, latest first, and that write. Reads and shares
 * alternate: what comes before the last of the other kind happens before it. Races are those before which n
 * was enabled; where it was not, or may not have been, last_disabling() has the race. The last section takes
 * its place among them. */
static void follow_all(struct mz_exploration *x, mz_number n, const struct mz_object *o, mz_clock clock)
{
    const struct mz_event *e = mz_event_at(x, n);
    bool may_block = blocks(e->op), followed = false;
    mz_number section = section_before(x, e->op, e->object);
    for (mz_number f = first_to_follow(o, e->access); f; f = mz_event_at(x, f)->prev_object) {
        const struct mz_event *d = mz_event_at(x, f);
        if (f < section) {
            if (follow(x, clock, section)) add_race(x, section, n);
            section = 0;
        }
        if (!mz_access_conflict(d->access, e->access)) {
            if (followed) break;
            continue;
        }
        bool race = !may_block || (d->access == MZ_READS && was_enabled(e->op, d));
        if (follow(x, clock, f) && race) add_race(x, f, n);
        if (d->access == MZ_WRITES) break;
        followed = true;
    }
    if (section && follow(x, clock, section)) add_race(x, section, n);
}

/* The last event on the object that writes it and before which an operation that may be disabled was enabled;
 * 0: none. */
static mz_number last_disabling(const struct mz_exploration *x, const struct mz_object *o, uint8_t op,
                                uint8_t access)
{
    bool by_state = op == MZ_OP_SEM_WAIT || op == MZ_OP_WRLOCK || (op == MZ_OP_RDLOCK && access == MZ_WRITES);
    if (!by_state) return o->last_acquire;
    mz_number f = o->last;
    while (f && !(mz_event_at(x, f)->access == MZ_WRITES && was_enabled(op, mz_event_at(x, f))))
        f = mz_event_at(x, f)->prev_object;
    return f;
}

/* Are there readers of a lock since it was last held exclusively? */
static bool is_shared(const struct mz_object *o) { return o->last_share > o->last_write; }

static void race_with_disabling(struct mz_exploration *x, mz_number n, const struct mz_object *o)
{
    const struct mz_event *e = mz_event_at(x, n);
    if (e->op == MZ_OP_WRLOCK && is_shared(o)) {
        struct mz_race like = {.second = n, .split = n, .before = e->before, .last = mz_elem_of(e)};
        mz_rwlock_races(x, &like);
        return;
    }
    mz_number f = last_disabling(x, o, e->op, e->access);
    if (f && !mz_clock_covers(x, e->before, f)) add_race(x, f, n);
}

/* The event joins the history of its object. */
static void remember(struct mz_exploration *x, mz_number n, struct mz_object *o)
{
    const struct mz_event *e = mz_event_at(x, n);
    mz_journal_set(x, &o->last, n);
    if (e->op == MZ_OP_SECTION) mz_journal_set(x, &x->last_section, n);
    if (e->access == MZ_WRITES) {
        mz_journal_set(x, &o->last_write, n);
        if (acquires(e->op)) mz_journal_set(x, &o->last_acquire, n);
    } else if (e->access == MZ_SHARES) {
        mz_journal_set(x, &o->last_share, n);
    } else if (is_shared(o)) {
        mz_journal_set(x, &o->last_read, n);
    }
}

void mz_dependence_event(struct mz_exploration *x, mz_number n)
{
    struct mz_event *e = mz_event_at(x, n);
    struct mz_object *o = &x->objects[e->object];
    mz_clock clock = mz_clock_copy(x, e->before);
    if (e->object) {
        e->prev_object = o->last;
        if (blocks(e->op)) {
            race_with_disabling(x, n, o);
            if (o->release) mz_clock_join(x, clock, o->release);
        }
        if (mz_unlikely(e->op == MZ_OP_SECTION))
            follow_memory(x, n, clock);
        else
            follow_all(x, n, o, clock);
        remember(x, n, o);
    }
    mz_clock_of_event(x, clock, e->thread, n);
    e->clock = clock;
    x->briefs[n] =
        (struct mz_brief){x->recent[clock].events, e->prev_object, e->thread, e->access, e->choice};
}

uint32_t mz_dependence_blocked(struct mz_exploration *x, int thread)
{
    const struct mz_pending *p = &x->view->pending[thread];
    if (!blocks(p->op)) return 0;
    uint32_t object = mz_object_find(x, p->key, p->size), races = x->race_count;
    const struct mz_object *o = &x->objects[object];
    uint8_t access = p->op == MZ_OP_RDLOCK ? p->access : MZ_WRITES;
    struct mz_race like = {.split = x->path.depth + 1,
                           .before = x->thread_clock[thread],
                           .last = {object, (uint8_t)thread, access, 0, p->op}};
    if (p->op == MZ_OP_WRLOCK && is_shared(o)) {
        mz_rwlock_races(x, &like);
        return x->race_count - races;
    }
    like.first = last_disabling(x, o, p->op, access);
    if (!like.first || mz_clock_covers(x, like.before, like.first)) return 0;
    struct mz_race *r = mz_race_new(x);
    like.firsts_end = r->firsts_end;
    *r = like;
    return 1;
}

bool mz_dependence_timeout(struct mz_exploration *x, mz_number e, int waiter)
{
    if (mz_clock_covers(x, x->thread_clock[waiter], e)) return false;
    struct mz_race *r = mz_race_new(x);
    r->first = e;
    r->split = x->path.depth + 1;
    r->before = x->thread_clock[waiter];
    r->last = (struct mz_elem){mz_event_at(x, e)->object, (uint8_t)waiter, MZ_READS, 0, MZ_OP_TIMEOUT};
    return true;
}

/* May the event be enabled together with an operation that may be disabled and conflicts with it? */
static bool co_enabled(uint8_t op, const struct mz_event *e)
{
    if (op == MZ_OP_WRLOCK && e->access == MZ_SHARES) return e->op != MZ_OP_RWUNLOCK;
    return was_enabled(op, e);
}

/* What a section could come before: the same as in follow_memory(). */
static mz_number last_before_section(const struct mz_exploration *x, mz_clock before)
{
    for (mz_number f = x->path.depth; f && f >= x->last_section; f--) {
        const struct mz_event *e = mz_event_at(x, f);
        if (f != x->last_section && !mz_is_memory(x, e->op, e->object)) continue;
        if (!mz_clock_covers(x, before, f)) return f;
    }
    return 0;
}

mz_number mz_dependence_last(struct mz_exploration *x, int thread)
{
    const struct mz_pending *p = &x->view->pending[thread];
    mz_clock before = x->thread_clock[thread];
    if (p->op == MZ_OP_CHOOSE || p->op == MZ_OP_NONE) return 0;
    if (p->op == MZ_OP_SECTION) return last_before_section(x, before);
    uint32_t object = mz_object_of(x, p);
    const struct mz_object *o = &x->objects[object];
    uint8_t access = p->op == MZ_OP_CAS && mz_cas_writes(x, object) ? MZ_WRITES : p->access;
    bool may_block = blocks(p->op);
    mz_number section = section_before(x, p->op, object);
    if (section && mz_clock_covers(x, before, section)) section = 0;
    if (p->op == MZ_OP_ONCE) access = MZ_WRITES; /* as it is before the one that it conflicts with */
    for (mz_number f = first_to_follow(o, access); f; f = mz_event_at(x, f)->prev_object) {
        const struct mz_event *e = mz_event_at(x, f);
        bool known = mz_clock_covers(x, before, f);
        if (f < section) return section;
        if (known && e->access == MZ_WRITES) return 0;
        if (known || !mz_access_conflict(e->access, access)) continue;
        if (!may_block) return f;
        if (co_enabled(p->op, e)) return f;
    }
    return section;
}

mz_number mz_dependence_before(const struct mz_exploration *x, const struct mz_elem *e, mz_clock before,
                               mz_number f)
{
    for (f = mz_event_at(x, f)->prev_object; f; f = mz_event_at(x, f)->prev_object) {
        const struct mz_event *other = mz_event_at(x, f);
        if (mz_clock_covers(x, before, f) || !mz_access_conflict(other->access, e->access)) continue;
        if (!blocks(e->op) || co_enabled(e->op, other)) return f;
    }
    return 0;
}
