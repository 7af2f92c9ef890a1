/* Read-write locks: the races of an exclusive lock with the readers before it. Called by dependence.c only.
 *
 * Readers are independent of each other, so an exclusive lock e' has to wait not for one event but for a set of
 * events: since the last exclusive acquisition there may be read acquisitions r1 .. rk, and e' is enabled only where
 * each of them that has happened has been released. For each ri, F is the least set of acquisitions that contains ri
 * and such that e' is enabled after notdep(F, E), the events that happen after no member of F. A thread that still
 * holds the lock there, because its release happens after a member of F or never happens, adds to F the acquisition
 * since which it holds the lock. If e' itself happens after a member of F, it cannot come before ri. Otherwise
 * notdep(F, E).e' reverses the race. No execution is lost: any prefix of an execution after which e' is enabled and
 * which lacks ri also lacks the rest of F, and everything that happens after F. */
#include "trace/race.h"

struct closure { /* F: for each thread, its earliest acquisition in F */
    mz_number of[MZ_MAX_THREADS];
    uint64_t threads;
};

static bool acquires(const struct mz_event *e) { return !mz_op_in(MZ_OPS_RELEASE, e->op); }

/* Put the events that took or gave back a read lock since the last write into tr->shared, latest first; return their
 * number. */
static uint32_t gather(struct mz_trace *tr, const struct mz_object *o)
{
    uint32_t count = 0;
    for (mz_number f = o->last; f > o->last_write; f = mz_event_at(tr, f)->prev_object)
        if (mz_event_at(tr, f)->access == MZ_SHARES) tr->shared[count++] = f;
    return count;
}

/* Does an event with this clock happen after a member of F? */
static bool after(const struct mz_trace *tr, const struct closure *F, mz_clock clock)
{
    const uint32_t *c = mz_clock_at(tr, clock);
    for (uint64_t t = F->threads; t; t &= t - 1)
        if (c[__builtin_ctzll(t)] >= F->of[__builtin_ctzll(t)]) return true;
    return false;
}

/* Add to F the acquisition of each thread that holds the lock after notdep(F, E). Return false if no thread does. */
static bool grow(const struct mz_trace *tr, struct closure *F, uint32_t count)
{
    mz_number since[MZ_MAX_THREADS];
    uint32_t depth[MZ_MAX_THREADS];
    uint64_t seen = 0, holding = 0;
    for (uint32_t i = count; i-- > 0;) {
        const struct mz_event *e = mz_event_at(tr, tr->shared[i]);
        if (after(tr, F, e->clock)) continue;
        if (!(seen & mz_bit(e->thread))) depth[e->thread] = 0;
        seen |= mz_bit(e->thread);
        if (!acquires(e)) {
            if (depth[e->thread] && --depth[e->thread] == 0) holding &= ~mz_bit(e->thread);
        } else if (depth[e->thread]++ == 0) {
            since[e->thread] = tr->shared[i];
            holding |= mz_bit(e->thread);
        }
    }
    F->threads |= holding;
    for (uint64_t t = holding; t; t &= t - 1) F->of[__builtin_ctzll(t)] = since[__builtin_ctzll(t)];
    return holding != 0;
}

/* Add a race whose first events are F, unless it is among the last `added` races. Return the number of races added.
 */
static uint32_t add(struct mz_trace *tr, const struct closure *F, const struct mz_race *like, uint32_t added)
{
    struct mz_race *r = mz_race_new(tr);
    uint32_t start = r->firsts_end;
    *r = *like;
    r->first = UINT32_MAX;
    r->several = (uint8_t)__builtin_popcountll(F->threads);
    r->firsts_end = start;
    for (uint64_t t = F->threads; t; t &= t - 1) {
        mz_number f = F->of[__builtin_ctzll(t)];
        tr->firsts[r->firsts_end++] = f;
        if (f < r->first) r->first = f;
    }
    for (const struct mz_race *q = r - added; q < r; q++) {
        bool same = q->several == r->several;
        for (uint32_t i = 1; same && i <= r->several; i++)
            same = tr->firsts[q->firsts_end - i] == tr->firsts[r->firsts_end - i];
        if (!same) continue;
        tr->race_count--;
        return 0;
    }
    return 1;
}

/* Add the races of an exclusive lock with the readers since the last write. `like` is such a race without its first
 * events. */
void mz_rwlock_races(struct mz_trace *tr, const struct mz_race *like)
{
    uint32_t count = gather(tr, &tr->objects[like->last.object]), added = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct mz_event *r = mz_event_at(tr, tr->shared[i]);
        struct closure F = {.threads = mz_bit(r->thread)};
        if (!acquires(r)) continue;
        F.of[r->thread] = tr->shared[i];
        while (!after(tr, &F, like->before) && grow(tr, &F, count)) {
        }
        if (!after(tr, &F, like->before)) added += add(tr, &F, like, added);
    }
}

/* How event n, a trylock, would access the lock if it came before the event first. The state of the lock there is the
 * state before `first`, changed by the readers between the two events that do not happen after `first`. */
enum mz_access mz_rwlock_access_before(const struct mz_trace *tr, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(tr, first), *second = mz_event_at(tr, n);
    uint64_t state = e->old;
    for (mz_number g = second->prev_object; g > first; g = mz_event_at(tr, g)->prev_object) {
        const struct mz_event *r = mz_event_at(tr, g);
        if (r->access != MZ_SHARES || mz_clock_covers(tr, r->clock, first)) continue;
        if (acquires(r))
            state++;
        else
            state--;
    }
    if (mz_ops[second->op].needs == MZ_NEEDS_NO_HOLDER)
        return state & (MZ_RW_READERS | MZ_RW_WRITER) ? MZ_READS : MZ_WRITES;
    if (state & (MZ_RW_WRITER | MZ_RW_CLAIMS)) return MZ_READS;
    return state & MZ_RW_ORDERED ? MZ_WRITES : MZ_SHARES;
}
