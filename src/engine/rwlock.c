/* Read-write locks: the races of an exclusive lock with the readers before it.
 *
 * Readers are independent of each other, so what an exclusive lock e' has to wait for is not one event but a
 * set: since the last exclusive acquisition there may be read acquisitions r1 .. rk, and e' is enabled only
 * where all that are there have been released. For each ri let F be the least set of them that contains ri
 * and such that e' is enabled after notdep(F, E), what happens after no member of F: whoever still holds the
 * lock there, because its release happens after a member of F or never came, joins F with the acquisition
 * since which it does. If e' itself happens after a member of F, it cannot come before ri; otherwise the race
 * is reversed by notdep(F, E).e'. Nothing is lost: any beginning of an execution after which e' is enabled
 * and which lacks ri also lacks the rest of F, and all that happens after it. */
#include "exploration.h"

struct closure { /* F: of each thread its earliest acquisition in F */
    mz_number of[MZ_MAX_THREADS];
    uint64_t threads;
};

static bool acquires(const struct mz_event *e) { return e->op != MZ_OP_RWUNLOCK; }

/* Those who took or gave back a read lock since the last write, into x->shared, latest first. */
static uint32_t gather(struct mz_exploration *x, const struct mz_object *o)
{
    uint32_t count = 0;
    for (mz_number f = o->last; f > o->last_write; f = mz_event_at(x, f)->prev_object)
        if (mz_event_at(x, f)->access == MZ_SHARES) x->shared[count++] = f;
    return count;
}

static bool after(const struct mz_exploration *x, const struct closure *F, mz_clock clock)
{
    const uint32_t *c = mz_clock_at(x, clock);
    for (uint64_t t = F->threads; t; t &= t - 1)
        if (c[__builtin_ctzll(t)] >= F->of[__builtin_ctzll(t)]) return true;
    return false;
}

/* Whoever holds the lock after notdep(F, E) joins F; false if nobody does. */
static bool grow(const struct mz_exploration *x, struct closure *F, uint32_t count)
{
    mz_number since[MZ_MAX_THREADS];
    uint32_t depth[MZ_MAX_THREADS];
    uint64_t seen = 0, holding = 0;
    for (uint32_t i = count; i-- > 0;) {
        const struct mz_event *e = mz_event_at(x, x->shared[i]);
        if (after(x, F, e->clock)) continue;
        if (!(seen & mz_bit(e->thread))) depth[e->thread] = 0;
        seen |= mz_bit(e->thread);
        if (!acquires(e)) {
            if (depth[e->thread] && --depth[e->thread] == 0) holding &= ~mz_bit(e->thread);
        } else if (depth[e->thread]++ == 0) {
            since[e->thread] = x->shared[i];
            holding |= mz_bit(e->thread);
        }
    }
    F->threads |= holding;
    for (uint64_t t = holding; t; t &= t - 1) F->of[__builtin_ctzll(t)] = since[__builtin_ctzll(t)];
    return holding != 0;
}

/* A race with the firsts F; not again if it is one of the last `added`. */
static uint32_t add(struct mz_exploration *x, const struct closure *F, const struct mz_race *like,
                    uint32_t added)
{
    struct mz_race *r = mz_race_new(x);
    uint32_t start = r->firsts_end;
    *r = *like;
    r->first = UINT32_MAX;
    r->several = (uint8_t)__builtin_popcountll(F->threads);
    r->firsts_end = start;
    for (uint64_t t = F->threads; t; t &= t - 1) {
        mz_number f = F->of[__builtin_ctzll(t)];
        x->firsts[r->firsts_end++] = f;
        if (f < r->first) r->first = f;
    }
    for (const struct mz_race *q = r - added; q < r; q++) {
        bool same = q->several == r->several;
        for (uint32_t i = 1; same && i <= r->several; i++)
            same = x->firsts[q->firsts_end - i] == x->firsts[r->firsts_end - i];
        if (!same) continue;
        x->race_count--;
        return 0;
    }
    return 1;
}

/* Adds the races of an exclusive lock with the readers since the last write. `like` has all of a race but the
 * firsts. */
void mz_rwlock_races(struct mz_exploration *x, const struct mz_race *like)
{
    uint32_t count = gather(x, &x->objects[like->last.object]), added = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct mz_event *r = mz_event_at(x, x->shared[i]);
        struct closure F = {.threads = mz_bit(r->thread)};
        if (!acquires(r)) continue;
        F.of[r->thread] = x->shared[i];
        while (!after(x, &F, like->before) && grow(x, &F, count)) {
        }
        if (!after(x, &F, like->before)) added += add(x, &F, like, added);
    }
}

/* How event n, a trylock, would access the lock if it came before the event first: the state there is the one
 * before the first, changed by those readers in between that do not happen after it. */
enum mz_access mz_rwlock_access_before(const struct mz_exploration *x, mz_number first, mz_number n)
{
    const struct mz_event *e = mz_event_at(x, first), *second = mz_event_at(x, n);
    uint64_t state = e->old;
    for (mz_number g = second->prev_object; g > first; g = mz_event_at(x, g)->prev_object) {
        const struct mz_event *r = mz_event_at(x, g);
        if (r->access != MZ_SHARES || mz_clock_covers(x, r->clock, first)) continue;
        if (acquires(r))
            state++;
        else
            state--;
    }
    if (second->op == MZ_OP_TRYWRLOCK) return state & (MZ_RW_READERS | MZ_RW_WRITER) ? MZ_READS : MZ_WRITES;
    if (state & (MZ_RW_WRITER | MZ_RW_CLAIMS)) return MZ_READS;
    return state & MZ_RW_ORDERED ? MZ_WRITES : MZ_SHARES;
}
