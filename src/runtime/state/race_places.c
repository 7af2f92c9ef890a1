/* Which accesses decide about data races: the facts about each place, for the whole search.
 *
 * Most memory needs no history: one thread uses it, or all threads only read it, or a lock is always held. The search
 * believes that of every place until an access shows otherwise. Then the place gets a history (race_history.c), and the
 * search starts over with that fact.
 *
 * A thread is *alone* if no other thread is alive and all ended threads were joined. Everything that ever
 * happened is ordered before what it does, and everything later is ordered after it: its accesses are in no
 * race. For the other accesses to a place, these facts are kept over all executions:
 *
 *   user, MANY       the thread that made them, or that several threads did
 *   WRITTEN          one of them was a write
 *   locks            the locks that were held at all of them; for reads, locks held for reading count, too
 *   PLAIN, ATOMIC    some of them were plain, some were atomic
 *
 *  P1  A place without MANY, without WRITTEN, or with a lock is in no race: of two accesses by different
 *      threads, either none is a write, or a lock orders them. The place is MZ_PLACE_FREE.
 *  P2  The state determines whether a thread is alone, which locks it holds, and what it accesses in its next step. So
 *      when a search ends without new facts, the facts hold for all executions, not only for those that were run.
 *  P3  Other places are MZ_PLACE_FORKED until two conflicting accesses turn up that creating and joining threads does not
 *      order, then MZ_PLACE_FULL. race_history.c explains both.
 *  P4  Atomic accesses to a place are remembered only if a plain access came after one of them, by a thread
 *      that was not alone. To notice that, `touched` remembers that a mixed place had an atomic access.
 *
 * Facts are not rolled back when the program goes back. The fast paths of shadow_hooks.c skip accesses that a
 * thread repeats in the same epoch. Within an epoch a thread only gains locks, and does not cease to be
 * alone, so the first access of an epoch has all facts.
 *
 * Starting over pays only if the search has learned enough. So the search starts over after as many
 * executions as all earlier rounds had, or at its end.
 *
 * In a search by many workers, P2 needs the facts of all workers: each tells its own to the others (core/facts.c), and a
 * fact of another worker is joined to the own facts as if an access had shown it. */
#include "event/finished.h"
#include "base/region.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/room.h"

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
    uint32_t touched; /* the execution in which it was touched, see P4 */
};

struct lock_set {
    uint32_t count;
    uint64_t lock[LOCKS];
};

#define pl mz_state_room.places

void mz_places_init(void)
{
    pl.places = mz_region_reserve((size_t)PLACES * sizeof *pl.places);
    pl.sets = mz_region_reserve(SETS * sizeof *pl.sets);
    pl.tracked = mz_region_reserve((size_t)PLACES * sizeof *pl.tracked);
    if (rt.shared) pl.news = mz_region_reserve((size_t)PLACES * sizeof *pl.news);
    MZ_ASSERT(pl.places && pl.sets && pl.tracked && (pl.news || !rt.shared));
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

/* Returns the locks of the set that the running thread holds. */
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

/* May accesses to the place be part of the state? */
static bool is_tracked(const struct place *p) { return p->flags & FORKED || is_mixed(p); }

static void add_facts(struct place *p, bool write, bool atomic)
{
    p->flags |= atomic ? ATOMIC : PLAIN;
    if (write) p->flags |= WRITTEN;
    if (p->user && p->user != rt.self + 1) p->flags |= MANY;
    if (!(p->flags & MANY)) p->user = (uint8_t)(rt.self + 1);
    p->locks = common_locks(p->locks, write);
}

/* There may be new facts about the place; `before`: the old ones. */
static void conclude(struct place *p, const struct place *before, uint64_t granule)
{
    const uint8_t races = PLAIN | MANY | WRITTEN, level = FORKED | FULL | ATOMICS;
    if ((p->flags & races) == races && p->locks == NO_LOCKS) p->flags |= FORKED;
    if (!is_tracked(before) && is_tracked(p)) pl.tracked[pl.tracked_count++] = granule;
    if (is_tracked(before) != is_tracked(p) || (before->flags & level) != (p->flags & level)) pl.stale = true;
    bool same = p->flags == before->flags && p->user == before->user && p->locks == before->locks;
    if (mz_unlikely(rt.shared) && !same) pl.news[pl.news_count++] = granule;
}

unsigned mz_place_access(uint32_t place, uint64_t granule, bool write, bool atomic)
{
    struct place *p = place_at(place), before = *p;
    if (mz_alone(rt.self)) return level_of(p);
    add_facts(p, write, atomic);
    if (!atomic && is_touched(p)) p->flags |= ATOMICS;
    conclude(p, &before, granule);
    return level_of(p);
}

unsigned mz_place_level(uint32_t place) { return level_of(place_at(place)); }

unsigned mz_place_unforked(uint32_t place, uint64_t granule)
{
    struct place *p = place_at(place), before = *p;
    p->flags |= FULL;
    conclude(p, &before, granule);
    return MZ_PLACE_FULL;
}

/* ---- facts of other workers ---- */

bool mz_places_are_stale(void) { return pl.stale; }

void mz_places_settle(void) { pl.stale = false; }

bool mz_places_tell(struct mz_finished *to)
{
    bool is_atomic;
    for (; pl.news_count; pl.news_count--) {
        uint64_t granule = pl.news[pl.news_count - 1];
        const struct place *p = place_at(mz_shadow_place(granule, &is_atomic));
        const struct lock_set *s = &pl.sets[p->locks];
        struct mz_fact fact = {
            .kind = MZ_FACT_PLACE,
            .small = {(uint32_t)p->flags << 8 | p->user, p->locks > NO_LOCKS ? s->count + 1 : p->locks},
            .words = {granule, s->lock[0], s->lock[1], s->lock[2], s->lock[3]}};
        if (!mz_finished_tell(to, &fact)) return false;
    }
    return true;
}

/* The locks that are in both sets. `count`: as in the fact. */
static uint16_t join_locks(uint16_t own, uint32_t count, const uint64_t *locks)
{
    struct lock_set s = {0};
    if (own == NO_LOCKS || count == ANY_SET) return own;
    if (count == NO_LOCKS) return NO_LOCKS;
    for (uint32_t i = 0; i + 1 < count && i < LOCKS; i++) {
        bool both = own == ANY_SET;
        for (uint32_t j = 0; j < pl.sets[own].count && !both; j++) both = pl.sets[own].lock[j] == locks[i];
        if (both) s.lock[s.count++] = locks[i];
    }
    return own > NO_LOCKS && s.count == pl.sets[own].count ? own : set_number(&s);
}

void mz_place_learn(const struct mz_fact *fact)
{
    bool is_atomic;
    uint8_t user = (uint8_t)fact->small[0];
    struct place *p = place_at(mz_shadow_place(fact->words[0], &is_atomic)), before = *p;
    uint32_t news = pl.news_count;
    p->flags |= (uint8_t)(fact->small[0] >> 8);
    if (user && p->user && user != p->user) p->flags |= MANY;
    if (!p->user) p->user = user;
    p->locks = join_locks(p->locks, fact->small[1], &fact->words[1]);
    conclude(p, &before, fact->words[0]);
    pl.news_count = news;
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
