/* Which accesses decide about data races: what is known of each place, for the whole search.
 *
 * Most memory needs no history: it belongs to one thread, or is only read, or has a lock that is always held.
 * That is believed of every place until an access shows otherwise; then the place gets a history
 * (race_history.c), and the search starts over with that knowledge, as it does with other knowledge.
 *
 * A thread is *alone* if no other is alive and all that have ended were joined. All that ever happened is
 * ordered before what it does, and all that will happen after it: its accesses are in no race. Of the other
 * accesses to a place these facts are kept, over all executions:
 *
 *   user, MANY       the thread that made them, or that there were several
 *   WRITTEN          one of them was a write
 *   locks            the locks that were held at all of them; by reads, locks for reading too
 *   PLAIN, ATOMIC    there were such
 *
 *  P1  A place without MANY, without WRITTEN, or with a lock is in no race: of two accesses by different
 *      threads either none writes, or a lock orders them. It is MZ_PLACE_FREE.
 *  P2  Whether a thread is alone, which locks it holds, and what it accesses in its next step follow from
 *      the state. So once a search ends without new facts, they hold for all executions, not only for those
 *      that were run.
 *  P3  Other places are MZ_PLACE_FORKED until two conflicting accesses turn up that creating and joining
 *      threads does not order, then MZ_PLACE_FULL. race_history.c has what that means.
 *  P4  Atomic accesses to a place are remembered only if a plain access came after one of them, by a thread
 *      that was not alone. To notice that, it is remembered of mixed places that there was one (touched).
 *
 * Facts are not taken back when the program goes back. The quick ways of shadow.c skip accesses that a thread
 * repeats in the same epoch: within one it only gains locks, and does not cease to be alone; so the first
 * access says all.
 *
 * Starting over pays only when there is enough to learn: it waits for as many executions as all rounds before
 * have taken, or for the end of the search. */
#include "races.h"

#include "../base/region.h"

#define PLACES   (1u << 29)
#define SETS     (1u << 16)
#define LOCKS    4u /* of a set; leaving out locks is safe */
#define ANY_SET  0u /* no access yet */
#define NO_LOCKS 1u
#define PATIENCE 16u

enum { MANY = 1, WRITTEN = 2, PLAIN = 4, ATOMIC = 8, FORKED = 16, FULL = 32, ATOMICS = 64 };

struct place {
    uint8_t user; /* slot + 1 */
    uint8_t flags;
    uint16_t locks;
    uint32_t touched; /* the execution in which it was, see P4 */
};

struct lock_set {
    uint32_t count;
    uint64_t lock[LOCKS];
};

static struct {
    struct place *places;
    struct lock_set *sets;
    uint32_t set_count;
    uint64_t *tracked;
    uint32_t tracked_count;
    bool stale;
    uint32_t round, patience; /* rt.runs when this round began; how long it goes on at least */
} pl;

void mz_places_init(void)
{
    pl.places = mz_region_reserve((size_t)PLACES * sizeof *pl.places);
    pl.sets = mz_region_reserve(SETS * sizeof *pl.sets);
    pl.tracked = mz_region_reserve((size_t)PLACES * sizeof *pl.tracked);
    MZ_ASSERT(pl.places && pl.sets && pl.tracked);
    pl.set_count = 2;
    pl.patience = PATIENCE;
}

/* ---- rounds ---- */

void mz_places_stale(void) { pl.stale = true; }

bool mz_places_restart(bool complete)
{
    if (mz_likely(!pl.stale) || (!complete && rt.runs - pl.round < pl.patience)) return false;
    pl.stale = false;
    pl.round = rt.runs;
    pl.patience *= 2;
    return true;
}

/* ---- sets of locks ---- */

static bool holds(uint64_t lock, bool write)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    for (unsigned i = 0; i < t->held_count; i++)
        if ((uintptr_t)t->held[i] == lock) return !(write && lock & 1);
    return false;
}

static uint16_t set_number(const struct lock_set *s)
{
    if (!s->count) return NO_LOCKS;
    for (uint32_t i = 2; i < pl.set_count; i++) {
        const struct lock_set *other = &pl.sets[i];
        if (other->count == s->count && !mz_raw_memcmp(other->lock, s->lock, s->count * sizeof *s->lock))
            return (uint16_t)i;
    }
    if (pl.set_count == SETS) return NO_LOCKS;
    pl.sets[pl.set_count] = *s;
    return (uint16_t)pl.set_count++;
}

/* The locks of the set that the running thread holds. */
static uint16_t common_locks(uint16_t before, bool write)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    struct lock_set s = {0};
    if (before == NO_LOCKS) return NO_LOCKS;
    for (unsigned i = 0; before == ANY_SET && i < t->held_count && s.count < LOCKS; i++)
        if (holds((uintptr_t)t->held[i], write)) s.lock[s.count++] = (uintptr_t)t->held[i];
    if (before == ANY_SET) return set_number(&s);
    const struct lock_set *old = &pl.sets[before];
    for (unsigned i = 0; i < old->count; i++)
        if (holds(old->lock[i], write)) s.lock[s.count++] = old->lock[i];
    return s.count == old->count ? before : set_number(&s);
}

/* ---- places ---- */

bool mz_alone(int thread)
{
    if (rt.view.alive != mz_slot_bit(thread)) return false;
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (rt.run.threads[s].state == MZ_THREAD_FINISHED && !rt.run.threads[s].joined_by) return false;
    return true;
}

static struct place *place_at(uint32_t place)
{
    MZ_ASSERT(place < PLACES);
    return &pl.places[place];
}

static unsigned level_of(const struct place *p)
{
    return p->flags & FULL ? MZ_PLACE_FULL : p->flags & FORKED ? MZ_PLACE_FORKED : MZ_PLACE_FREE;
}

static bool is_touched(const struct place *p) { return p->touched == rt.execution; }

static bool is_mixed(const struct place *p) { return (p->flags & (PLAIN | ATOMIC)) == (PLAIN | ATOMIC); }

/* Something of it may be part of the state. */
static bool is_tracked(const struct place *p) { return p->flags & FORKED || is_mixed(p); }

static void add_facts(struct place *p, bool write, bool atomic)
{
    p->flags |= atomic ? ATOMIC : PLAIN;
    if (write) p->flags |= WRITTEN;
    if (p->user && p->user != rt.self + 1) p->flags |= MANY;
    p->user = (uint8_t)(rt.self + 1);
    p->locks = common_locks(p->locks, write);
}

unsigned mz_place_access(uint32_t place, uint64_t granule, bool write, bool atomic)
{
    const uint8_t races = PLAIN | MANY | WRITTEN;
    struct place *p = place_at(place);
    if (mz_alone(rt.self)) return level_of(p);
    bool tracked = is_tracked(p);
    uint8_t before = p->flags & (FORKED | ATOMICS);
    add_facts(p, write, atomic);
    if (!atomic && is_touched(p)) p->flags |= ATOMICS;
    if ((p->flags & races) == races && p->locks == NO_LOCKS) p->flags |= FORKED;
    if (!tracked && is_tracked(p)) pl.tracked[pl.tracked_count++] = granule;
    if (tracked != is_tracked(p) || before != (p->flags & (FORKED | ATOMICS))) pl.stale = true;
    return level_of(p);
}

unsigned mz_place_level(uint32_t place) { return level_of(place_at(place)); }

unsigned mz_place_unforked(uint32_t place)
{
    place_at(place)->flags |= FULL;
    pl.stale = true;
    return MZ_PLACE_FULL;
}

bool mz_place_mixed(uint32_t place) { return is_mixed(place_at(place)); }

bool mz_place_atomics(uint32_t place) { return place_at(place)->flags & ATOMICS; }

bool mz_place_touched(uint32_t place) { return is_touched(place_at(place)); }

bool mz_place_touch(uint32_t place, bool touched)
{
    struct place *p = place_at(place);
    if (is_touched(p) == touched) return false;
    mz_keep(&p->touched, sizeof p->touched);
    p->touched = touched ? rt.execution : 0;
    return true;
}

const uint64_t *mz_places_tracked(uint32_t *count)
{
    *count = pl.tracked_count;
    return pl.tracked;
}
