/* Dependence: which events conflict, which races can be reversed, and the clock of each event.
 *
 * Two events of different threads conflict if they are on one object, unless both read it or both share it (enum
 * mz_access). Events on different objects conflict only in three cases (conflict.c). A SECTION conflicts with every other
 * SECTION and with everything that is done to memory, futexes included. An AWAIT conflicts with everything that changes an
 * object of its condition. Two SENDs to one channel conflict (object.c). An operation without an object (CHOOSE) conflicts
 * with nothing.
 *
 * The row of an operation in op.def says how it accesses its object, whether it can block or fail, and when. This
 * file has the rules for each kind of need (enum mz_need), and none for a particular operation but SECTION, CAS and SEND.
 * There are two exceptions. On an ordered read-write lock (program.h), the operations that share other locks write.
 * Where objects overlap or there are sections, a failed CAS counts as a write: its outcome in another order is not
 * known.
 *
 * A race (e, e') is a pair of dependent events of different threads with nothing between them in the happens-before
 * order (2017, section 3.3). The race is reversible if e' was enabled before e. An operation that can block often
 * cannot be reversed with the events that it directly follows (the release before an acquire). Its race is then with
 * the last event before which it was enabled: the previous *acquire* of a mutex (2005, section 4.2; 2017, Algorithm
 * 3), or the last operation on a semaphore that found the count positive. For an exclusive lock after readers this is
 * a set of events: see rwlock.c. The races of an await are in await.c.
 *
 * At the end of an execution, a blocked operation has races too, with events that kept it from happening (2017,
 * Algorithms 3 to 6). So has a timeout that did not happen, with the signal that came before it. */
#include "trace/race.h"

/* Operations that block while a thread does some work, and find the work done afterwards: ONCE. An operation that finds
 * the work done only reads, so two of them do not conflict. In another order, such an operation may come before the work
 * is done. There it writes, and conflicts. */
#define WORK_TO_DO (MZ_OPS_BLOCK & MZ_OPS_FAIL)

static enum mz_need needs(uint8_t op) { return (enum mz_need)mz_ops[op].needs; }
static bool acquires(uint8_t op) { return mz_op_in(MZ_OPS_ACQUIRE, op); }
static bool blocks(uint8_t op) { return mz_op_in(MZ_OPS_BLOCK, op); }

bool mz_has_holder(uint8_t op) { return blocks(op) && needs(op) == MZ_NEEDS_FREE; }

/* Was an operation that can block enabled just before event e on its object? The switches over enum mz_need have no
 * default, so that the compiler names a need without a case. */
static bool was_enabled(uint8_t op, const struct mz_event *e)
{
    switch (needs(op)) {
    case MZ_NEEDS_COUNT:
        return e->old > 0;
    case MZ_NEEDS_NO_WRITER:
        return !(e->old & (MZ_RW_WRITER | MZ_RW_CLAIMS));
    case MZ_NEEDS_NO_HOLDER:
        return !(e->old & (MZ_RW_WRITER | MZ_RW_READERS));
    case MZ_NEEDS_CONDITION: /* not known: await.c evaluates the condition */
        return true;
    case MZ_NEEDS_MESSAGE: /* e sent the message, or took another one */
        return false;
    case MZ_NEEDS_FREE: /* e found it free */
    case MZ_NEEDS_ANY:  /* operations that need ANY or EXPECTED cannot block */
    case MZ_NEEDS_EXPECTED:
        break;
    }
    return e->access == MZ_WRITES && acquires(e->op);
}

/* The value that the second event would find if it came before the first. Additions commute: those that do not happen after
 * the first stay before the second. */
static uint64_t value_before(const struct mz_event *first, const struct mz_event *second)
{
    if (first->access != MZ_SHARES) return first->old;
    uint64_t value = second->old - first->expected;
    return second->size < 8 ? value & ((UINT64_C(1) << 8 * second->size) - 1) : value;
}

/* How event n, an operation that may fail, would access its object if it happened just before the event first, which
 * changed the object. */
static enum mz_access access_if_tried_before(const struct mz_trace *tr, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(tr, first), *second = mz_event_at(tr, n);
    switch (needs(second->op)) {
    case MZ_NEEDS_EXPECTED:
        if (mz_op_in(MZ_OPS_WAKE, e->op)) return (enum mz_access)second->access; /* the value is the same */
        return value_before(e, second) == second->expected ? MZ_WRITES : MZ_READS;
    case MZ_NEEDS_FREE:
        return acquires(e->op) || mz_op_in(WORK_TO_DO, second->op) ? MZ_WRITES : MZ_READS;
    case MZ_NEEDS_COUNT:
        return e->old > 0 ? MZ_WRITES : MZ_READS;
    case MZ_NEEDS_NO_WRITER:
    case MZ_NEEDS_NO_HOLDER:
    case MZ_NEEDS_CONDITION:
    case MZ_NEEDS_MESSAGE:
    case MZ_NEEDS_ANY: /* no operation with this need can fail */
        break;
    }
    return mz_rwlock_access_before(tr, first, n);
}

/* How event n would access its object if it happened just before the event first. */
static enum mz_access access_before(const struct mz_trace *tr, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(tr, first), *second = mz_event_at(tr, n);
    if (second->op == MZ_OP_CAS && mz_cas_writes(tr, second->object)) return MZ_WRITES;
    if (e->access == MZ_READS || !mz_op_in(MZ_OPS_FAIL, second->op)) return (enum mz_access)second->access;
    return access_if_tried_before(tr, first, n);
}

/* A thread that the signal, event n, would wake if it happened before the event first: any of the threads that wait
 * there. To find them, start with the threads that wait at n, and take back the events from `first` on that v lacks.
 * (The engine finds the other choices when the signal has happened there, as for all operations with choices.) */
static uint8_t choice_before(const struct mz_trace *tr, mz_number first, mz_number n)
{
    uint64_t waiters = mz_event_at(tr, n)->old;
    for (mz_number g = mz_event_at(tr, n)->prev_object; g >= first && g;
         g = mz_event_at(tr, g)->prev_object) {
        const struct mz_event *e = mz_event_at(tr, g);
        if (!mz_clock_covers(tr, e->clock, first)) continue;
        if (e->key != mz_event_at(tr, n)->key) continue; /* another futex in one object of mixed sizes */
        unsigned traits = mz_ops[e->op].traits;
        if (traits & MZ_TRAIT_WAITS) waiters &= ~mz_bit(e->thread);
        if (traits & MZ_TRAIT_LEAVES) waiters |= mz_bit(e->thread);
        if ((traits & (MZ_TRAIT_WAKES | MZ_TRAIT_NUMBERS)) == MZ_TRAIT_WAKES) waiters = e->old;
    }
    return waiters ? (uint8_t)__builtin_ctzll(waiters) : 0;
}

/* The object of event n if it happened just before the event first. A send with the same tag would have sent the message that
 * was sent first. */
static uint32_t object_before(const struct mz_trace *tr, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(tr, first), *second = mz_event_at(tr, n);
    bool same_tag =
        e->op == MZ_OP_SEND && second->op == MZ_OP_SEND && e->expected >> 32 == second->expected >> 32;
    return same_tag ? e->object : second->object;
}

static void add_race(struct mz_trace *tr, mz_number first, mz_number n)
{
    if (tr->ignores_races) return;
    const struct mz_event *e = mz_event_at(tr, n);
    struct mz_race *r = mz_race_new(tr);
    r->first = first;
    r->second = r->split = n;
    r->before = e->before;
    r->last = mz_elem_of(e);
    r->last.access = (uint8_t)access_before(tr, first, n);
    r->last.object = object_before(tr, first, n);
    if (mz_unlikely(mz_has_choices(e->op))) /* if choices are numbered, choice 0 is always possible */
        r->last.choice = mz_ops[e->op].traits & MZ_TRAIT_NUMBERS ? 0 : choice_before(tr, first, n);
}

/* Event f directly precedes an event whose clock is under construction: join the clock of f into it. Return whether
 * the two events race. */
static bool follow(struct mz_trace *tr, mz_clock clock, mz_number f)
{
    if (mz_clock_covers(tr, clock, f)) return false;
    mz_clock_join(tr, clock, mz_event_at(tr, f)->clock);
    return true;
}

/* Where to begin the search for events that conflict with an event with this access. No later event on the object
 * conflicts with it. (A read-write lock has no reads between a write and the first share after it: an attempt fails only
 * if a writer holds the lock. Memory has.) */
static mz_number first_to_follow(const struct mz_object *o, uint8_t access)
{
    if (access == MZ_READS && o->last_share <= o->last_write) return o->last_write;
    if (access == MZ_SHARES && !o->size && o->last_read <= o->last_write) return o->last_write;
    return o->last;
}

/* The last section if the operation on the object conflicts with it, else 0. */
static mz_number section_before(const struct mz_trace *tr, uint8_t op, uint32_t object)
{
    return mz_unlikely(tr->last_section) && mz_is_memory(tr, op, object) ? tr->last_section : 0;
}

/* A section, event n, follows the operations on memory since the last section, latest first, and then that section.
 * Everything earlier happens before the last section. */
static void follow_memory(struct mz_trace *tr, mz_number n, mz_clock clock)
{
    for (mz_number f = n - 1; f && f >= tr->last_section; f--) {
        const struct mz_event *d = mz_event_at(tr, f);
        if (f != tr->last_section && !mz_is_memory(tr, d->op, d->object)) continue;
        if (follow(tr, clock, f)) add_race(tr, f, n);
    }
}

/* Event n follows the events on its object that it conflicts with, latest first, up to the last write. If n reads,
 * these are the latest shares; if n shares, the latest reads. What comes before the latest run of them happens before
 * that run, so the walk stops there. The last section is followed in its place among these events.
 *
 * If n cannot block, each event that it directly follows is a race. If n can block, only a read before which n was
 * enabled is a race here; race_with_disabling() finds the others. */
static void follow_all(struct mz_trace *tr, mz_number n, const struct mz_object *o, mz_clock clock)
{
    const struct mz_event *e = mz_event_at(tr, n);
    bool may_block = blocks(e->op), followed = false;
    mz_number section = section_before(tr, e->op, e->object);
    for (mz_number f = first_to_follow(o, e->access); f; f = mz_event_at(tr, f)->prev_object) {
        const struct mz_event *d = mz_event_at(tr, f);
        if (f < section) {
            if (follow(tr, clock, section)) add_race(tr, section, n);
            section = 0;
        }
        if (!mz_access_conflict(d->access, e->access)) {
            if (followed) break;
            continue;
        }
        bool race = !may_block || (d->access == MZ_READS && was_enabled(e->op, d));
        if (follow(tr, clock, f) && race) add_race(tr, f, n);
        if (d->access == MZ_WRITES) break;
        followed = true;
    }
    if (section && follow(tr, clock, section)) add_race(tr, section, n);
}

/* Does everything before event f that conflicts with event n also conflict with f? Then it happens before f. `left`: the
 * objects of an await that have not been written since. */
static bool is_last_to_follow(const struct mz_trace *tr, const struct mz_event *f, const struct mz_event *e,
                              uint32_t *left)
{
    if (e->op == MZ_OP_AWAIT) {
        if (f->access == MZ_WRITES) *left &= ~tr->objects[f->object].awaited;
        return !*left;
    }
    if (e->op != MZ_OP_SEND || tr->whole_channels) return f->access == MZ_WRITES && f->object == e->object;
    /* A receive that found no message follows the receive of the message before. */
    return f->op == MZ_OP_SEND && f->expected + 1 == e->expected &&
           tr->objects[f->object].channel == tr->objects[e->object].channel;
}

/* The same as follow_all() where events on different objects may conflict. */
static void follow_across(struct mz_trace *tr, mz_number n, mz_clock clock)
{
    const struct mz_event *e = mz_event_at(tr, n);
    struct mz_elem elem = mz_elem_of(e);
    uint32_t left = tr->objects[e->object].members;
    bool may_block = blocks(e->op);
    for (mz_number f = n - 1; f; f--) {
        const struct mz_event *d = mz_event_at(tr, f);
        struct mz_elem other = mz_elem_of(d);
        if (!other.object || !mz_conflict(tr, &other, &elem)) continue;
        bool race = !may_block || (d->access == MZ_READS && e->op != MZ_OP_AWAIT && was_enabled(e->op, d));
        if (follow(tr, clock, f) && race) add_race(tr, f, n);
        if (is_last_to_follow(tr, d, e, &left)) break;
    }
}

/* The last event that writes the object and before which an operation that can block was enabled; 0: none. */
static mz_number last_disabling(const struct mz_trace *tr, const struct mz_object *o, uint8_t op,
                                uint8_t access)
{
    bool by_acquires = needs(op) == MZ_NEEDS_FREE || (needs(op) == MZ_NEEDS_NO_WRITER && access != MZ_WRITES);
    if (by_acquires) return o->last_acquire;
    mz_number f = o->last;
    while (f && !(mz_event_at(tr, f)->access == MZ_WRITES && was_enabled(op, mz_event_at(tr, f))))
        f = mz_event_at(tr, f)->prev_object;
    return f;
}

/* Have threads taken or given back the lock for reading since its last exclusive use? */
static bool is_shared(const struct mz_object *o) { return o->last_share > o->last_write; }

/* Does the operation need several readers to have gone? Then its races have sets of first events. */
static bool waits_for_readers(uint8_t op, const struct mz_object *o)
{
    return needs(op) == MZ_NEEDS_NO_HOLDER && is_shared(o);
}

static void race_with_disabling(struct mz_trace *tr, mz_number n, const struct mz_object *o)
{
    const struct mz_event *e = mz_event_at(tr, n);
    struct mz_race like = {.second = n, .split = n, .before = e->before, .last = mz_elem_of(e)};
    if (needs(e->op) == MZ_NEEDS_CONDITION) {
        if (tr->await_races) mz_await_races(tr, &like);
        return;
    }
    if (waits_for_readers(e->op, o)) {
        mz_rwlock_races(tr, &like);
        return;
    }
    mz_number f = last_disabling(tr, o, e->op, e->access);
    if (f && !mz_clock_covers(tr, e->before, f)) add_race(tr, f, n);
}

/* Add event n to the history of its object. */
static void remember(struct mz_trace *tr, mz_number n, struct mz_object *o)
{
    const struct mz_event *e = mz_event_at(tr, n);
    mz_journal_set(tr, &o->last, n);
    if (e->op == MZ_OP_SECTION) mz_journal_set(tr, &tr->last_section, n);
    if (e->access == MZ_WRITES) {
        mz_journal_set(tr, &o->last_write, n);
        if (acquires(e->op)) mz_journal_set(tr, &o->last_acquire, n);
    } else if (e->access == MZ_SHARES) {
        mz_journal_set(tr, &o->last_share, n);
    } else if (is_shared(o)) {
        mz_journal_set(tr, &o->last_read, n);
    }
}

void mz_dependence_event(struct mz_trace *tr, mz_number n)
{
    struct mz_event *e = mz_event_at(tr, n);
    struct mz_object *o = &tr->objects[e->object];
    mz_clock clock = mz_clock_copy(tr, e->before);
    if (e->object) {
        e->prev_object = o->last;
        if (blocks(e->op)) {
            if (!tr->ignores_races) race_with_disabling(tr, n, o);
            if (o->release) mz_clock_join(tr, clock, o->release);
        }
        if (mz_unlikely(e->op == MZ_OP_SECTION))
            follow_memory(tr, n, clock);
        else if (mz_unlikely(tr->across))
            follow_across(tr, n, clock);
        else
            follow_all(tr, n, o, clock);
        remember(tr, n, o);
    }
    mz_clock_of_event(tr, clock, e->thread, n);
    e->clock = clock;
    tr->briefs[n] =
        (struct mz_brief){tr->recent[clock].events, e->prev_object, e->thread, e->access, e->choice};
}

uint32_t mz_dependence_blocked(struct mz_trace *tr, int thread, const struct mz_pending *p)
{
    if (!blocks(p->op)) return 0;
    uint32_t object = mz_object_of(tr, p), races = tr->race_count;
    const struct mz_object *o = &tr->objects[object];
    uint8_t access = mz_ops[p->op].access != MZ_WRITES && !tr->all_writes ? p->access : MZ_WRITES;
    struct mz_race like = {.split = tr->count + 1,
                           .before = tr->thread_clock[thread],
                           .last = {object, (uint8_t)thread, access, 0, p->op}};
    if (needs(p->op) == MZ_NEEDS_CONDITION) {
        mz_await_races(tr, &like);
        return tr->race_count - races;
    }
    if (waits_for_readers(p->op, o)) {
        mz_rwlock_races(tr, &like);
        return tr->race_count - races;
    }
    like.first = last_disabling(tr, o, p->op, access);
    if (!like.first || mz_clock_covers(tr, like.before, like.first)) return 0;
    struct mz_race *r = mz_race_new(tr);
    like.firsts_end = r->firsts_end;
    *r = like;
    return 1;
}

bool mz_dependence_timeout(struct mz_trace *tr, mz_number e, int waiter)
{
    if (tr->ignores_races || mz_clock_covers(tr, tr->thread_clock[waiter], e)) return false;
    struct mz_race *r = mz_race_new(tr);
    r->first = e;
    r->split = tr->count + 1;
    r->before = tr->thread_clock[waiter];
    r->last = (struct mz_elem){mz_event_at(tr, e)->object, (uint8_t)waiter, MZ_READS, 0, MZ_OP_TIMEOUT};
    return true;
}

/* Can event e be enabled together with an operation that can block and conflicts with it? */
static bool co_enabled(const struct mz_trace *tr, uint8_t op, const struct mz_event *e)
{
    /* Where cells are not told apart, e may have sent a later message. */
    if (needs(op) == MZ_NEEDS_MESSAGE) return tr->whole_channels;
    if (needs(op) == MZ_NEEDS_NO_HOLDER && e->access == MZ_SHARES) return !mz_op_in(MZ_OPS_RELEASE, e->op);
    return was_enabled(op, e);
}

/* The last event that a pending section could come before: one of those that follow_memory() follows. */
static mz_number last_before_section(const struct mz_trace *tr, mz_clock before)
{
    for (mz_number f = tr->count; f && f >= tr->last_section; f--) {
        const struct mz_event *e = mz_event_at(tr, f);
        if (f != tr->last_section && !mz_is_memory(tr, e->op, e->object)) continue;
        if (!mz_clock_covers(tr, before, f)) return f;
    }
    return 0;
}

/* mz_dependence_last() and mz_dependence_before() where events on different objects may conflict: the last event with a
 * number up to `from`. */
static mz_number last_across(const struct mz_trace *tr, const struct mz_elem *e, mz_clock before,
                             mz_number from)
{
    for (mz_number f = from; f; f--) {
        const struct mz_event *d = mz_event_at(tr, f);
        struct mz_elem other = mz_elem_of(d);
        if (!other.object || mz_clock_covers(tr, before, f) || !mz_conflict(tr, &other, e)) continue;
        if (!blocks(e->op) || co_enabled(tr, e->op, d)) return f;
    }
    return 0;
}

mz_number mz_dependence_last(struct mz_trace *tr, int thread, const struct mz_pending *p)
{
    mz_clock before = tr->thread_clock[thread];
    if (mz_ops[p->op].object == MZ_OBJECT_NOTHING) return 0;
    if (p->op == MZ_OP_SECTION) return last_before_section(tr, before);
    uint32_t object = mz_object_of(tr, p);
    const struct mz_object *o = &tr->objects[object];
    uint8_t access = p->op == MZ_OP_CAS && mz_cas_writes(tr, object) ? MZ_WRITES : p->access;
    bool may_block = blocks(p->op);
    mz_number section = section_before(tr, p->op, object);
    if (section && mz_clock_covers(tr, before, section)) section = 0;
    if (mz_op_in(WORK_TO_DO, p->op) || tr->all_writes) access = MZ_WRITES;
    struct mz_elem elem = {object, (uint8_t)thread, access, 0, p->op};
    if (mz_unlikely(tr->across)) return last_across(tr, &elem, before, tr->count);
    for (mz_number f = first_to_follow(o, access); f; f = mz_event_at(tr, f)->prev_object) {
        const struct mz_event *e = mz_event_at(tr, f);
        bool known = mz_clock_covers(tr, before, f);
        if (f < section) return section;
        if (known && e->access == MZ_WRITES) return 0;
        if (known || !mz_access_conflict(e->access, access)) continue;
        if (!may_block) return f;
        if (co_enabled(tr, p->op, e)) return f;
    }
    return section;
}

mz_number mz_dependence_before(const struct mz_trace *tr, const struct mz_elem *e, mz_clock before,
                               mz_number f)
{
    if (mz_unlikely(tr->across)) return last_across(tr, e, before, f - 1);
    for (f = mz_event_at(tr, f)->prev_object; f; f = mz_event_at(tr, f)->prev_object) {
        const struct mz_event *other = mz_event_at(tr, f);
        if (mz_clock_covers(tr, before, f) || !mz_access_conflict(other->access, e->access)) continue;
        if (!blocks(e->op) || co_enabled(tr, e->op, other)) return f;
    }
    return 0;
}
