/* Awaits: the races of an operation that waits for a condition over several objects (2017, section 8.2). Called by
 * dependence.c only.
 *
 * Let a be an await of thread p, which has happened in E or is still blocked at the end of E. Algorithm 5, lines 3-8, and
 * Algorithm 6, lines 8-13, look at every event e and at every subsequence u of w = notdep(e, E) with u [= w: a set of events
 * that contains, with each event, everything in w that happens before it. If e disables p after E'.u, then v = u.p reverses
 * a race. (Line 7 of Algorithm 5 has E.u where E'.u is meant.)
 *
 * The condition depends only on the events that conflict with a, the *writers*. Events that happen before a by the order of
 * its thread belong to every u, as p is at the await only after them. So u is determined, as far as the condition is
 * concerned, by the writers that it lacks: a set X that contains, with each writer, all writers that happen after it. Of
 * all u that lack exactly X, take the largest: notdep(firsts of X, E), for the minimal members of X. It has the fewest weak
 * initials: if sleep(E') meets WI(u.p) of the largest one, it meets that of the others (2017, Property 4.7). This is a race
 * with several first events, as those in rwlock.c, and e is the earliest of them.
 *
 * If a has happened, it is also in a race with each writer e that it directly follows, if its condition held before e,
 * even if e did not disable it (2017, section 3.3): their order makes another class.
 *
 * Writers after a in E happen after a, so no u contains them.
 *
 * Sets X are enumerated from the earliest writer on. Their number is exponential only in the number of writers that are
 * pairwise independent: writers of different objects, and additions. Beyond MOST of them for one await the search gives up
 * (tr->crowded), which makes the verdict incomplete. */
#include "trace/race.h"

#define MOST (1u << 16)

struct finder {
    struct mz_trace *tr;
    const struct mz_race *like;
    mz_number *writers; /* that can come after the await, earliest first; tr->shared */
    uint32_t count;
    uint32_t tested;
    struct mz_race first; /* its first events are the firsts of X; they stand at the end of tr->firsts */
};

static bool changes_memory(const struct mz_event *e)
{
    return e->op == MZ_OP_STORE || e->op == MZ_OP_RMW || e->op == MZ_OP_CAS || e->op == MZ_OP_ADD;
}

/* Would the condition hold after E'.u? With `but`, after E'.u.e. The events that u lacks are taken back, latest first. */
static bool holds(struct finder *f, bool but)
{
    struct mz_trace *tr = f->tr;
    uint32_t count = 0;
    for (uint32_t i = f->count; i-- > 0;) {
        const struct mz_event *e = mz_event_at(tr, f->writers[i]);
        if (!mz_after_first(tr, &f->first, e->clock) || !changes_memory(e)) continue;
        if (but && f->writers[i] == f->first.first) continue;
        bool adds = e->op == MZ_OP_ADD;
        tr->unwritten[count++] = (struct mz_unwritten){e->key, adds ? e->expected : e->old, e->size, adds};
    }
    return tr->holds(tr->holds_system, f->like->last.thread, tr->unwritten, count);
}

/* Does the await directly follow e, the only first of X? */
static bool follows_directly(const struct finder *f)
{
    uint32_t after = 0;
    if (!f->like->second || f->first.several != 1) return false;
    for (uint32_t i = 0; i < f->count; i++)
        after += mz_after_first(f->tr, &f->first, mz_event_at(f->tr, f->writers[i])->clock);
    return after == 1;
}

/* Is there no room for another race, and for another set of first events after it? */
static bool is_full(const struct mz_trace *tr, uint32_t firsts)
{
    return tr->race_count + 1 >= 68 * tr->capacity + MZ_AWAIT_RACES ||
           firsts + 2 * MZ_MAX_THREADS >= MZ_MAX_THREADS * (tr->capacity + MZ_AWAIT_RACES);
}

/* X is complete: lines 7 and 8 of Algorithm 5, 12 and 13 of Algorithm 6. Return false if there are too many races. */
static bool test(struct finder *f)
{
    struct mz_trace *tr = f->tr;
    if (++f->tested > MOST || is_full(tr, f->first.firsts_end)) return false;
    if (!holds(f, false) || !(follows_directly(f) || !holds(f, true))) return true;
    struct mz_race *r = mz_race_new(tr);
    MZ_ASSERT(r->firsts_end == f->first.firsts_end - f->first.several);
    *r = *f->like;
    r->first = f->first.first;
    r->several = f->first.several;
    r->firsts_end = f->first.firsts_end;
    /* The next X has its firsts behind those of this race. */
    for (uint32_t i = 0; i < r->several; i++)
        tr->firsts[r->firsts_end + i] = tr->firsts[r->firsts_end - r->several + i];
    f->first.firsts_end += r->several;
    return true;
}

/* Writers from number i on are still to be put into X or u. */
static bool each_set(struct finder *f, uint32_t i)
{
    for (; i < f->count; i++) {
        if (mz_after_first(f->tr, &f->first, mz_event_at(f->tr, f->writers[i])->clock)) continue; /* in X */
        if (!each_set(f, i + 1)) return false;                                                    /* in u */
        f->tr->firsts[f->first.firsts_end++] = f->writers[i]; /* a first of X */
        f->first.several++;
        bool go_on = each_set(f, i + 1);
        f->first.several--;
        f->first.firsts_end--;
        return go_on;
    }
    return test(f);
}

/* The writers that do not happen before what p has done, earliest first. */
static void find_writers(struct finder *f)
{
    struct mz_trace *tr = f->tr;
    mz_number end = f->like->second ? f->like->second : tr->count + 1;
    f->writers = tr->shared;
    for (mz_number n = 1; n < end; n++) {
        struct mz_elem e = mz_elem_of(mz_event_at(tr, n));
        if (e.object && !mz_clock_covers(tr, f->like->before, n) && mz_conflict(tr, &e, &f->like->last))
            f->writers[f->count++] = n;
    }
}

void mz_await_races(struct mz_trace *tr, const struct mz_race *like)
{
    struct finder f = {.tr = tr, .like = like};
    find_writers(&f);
    for (uint32_t i = 0; i < f.count; i++) { /* e */
        uint32_t end = tr->race_count ? tr->races[tr->race_count - 1].firsts_end : 0;
        f.first = (struct mz_race){.first = f.writers[i], .several = 1, .firsts_end = end + 1};
        tr->firsts[end] = f.writers[i];
        if (!each_set(&f, i + 1)) tr->crowded = true;
    }
}
