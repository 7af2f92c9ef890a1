/* Is the sequence v of a race covered by something that has been explored, or will be? Most sequences are.
 * This file answers from clocks, without building v. Only if it finds no cover, sequence.c builds v.
 *
 * A step u can come first in something equivalent to v (2017, Lemma 4.6) in two cases: u is the next step of
 * its thread in v, and nothing in v happens before u; or u is not in v, and conflicts with nothing in v. A
 * whole branch can come first if this holds for each of its steps in turn, when the steps before it have been
 * taken out of v.
 *
 * Of each thread, the events taken out are the first few. So one number for each thread describes them (at first
 * the number of the last event of E'). An event has nothing before it in the rest of v if no component of its
 * clock, except its own, is above the number of that thread. The test need not know which events are missing in v
 * because they happen after e: what happens after those is not in v either.
 *
 * Invariants
 *  V1  An answer other than MZ_UNCOVERED is right. MZ_UNCOVERED means "not known": then sequence.c finds out.
 *  V2  If all events after the first of the race are among the last MZ_RECENT of the path, the events taken out are a
 *      set (gone), and so is the past of each event (x->trace.recent): nothing has to be counted. Otherwise taken[t]
 *      is the number of the last event of thread t that is in E' or taken out. e' has a flag of its own (last). */
#include "engine/frontier.h"

typedef int32_t lanes __attribute__((vector_size(16), may_alias));

struct rest { /* what is left of v */
    const struct mz_race *race;
    bool last; /* e' is taken out */
    /* If all events from the first of the race on are recent (V2): sets of them, bit i is event first + i. */
    bool near;
    uint32_t shift; /* x->latest, shifted right by this, is such a set */
    uint64_t firsts, gone;
    lanes taken[MZ_MAX_THREADS / 4]; /* if not near */
};

#define INLINE static inline __attribute__((always_inline))

void mz_cover_begin(struct mz_exploration *x)
{
    mz_number depth = x->path.depth, n = depth > MZ_RECENT ? depth - MZ_RECENT : 0;
    for (uint32_t t = 0; t < x->trace.lanes; t++) x->latest[t] = 0;
    while (n++ < depth) x->latest[x->trace.briefs[n].thread] |= (uint64_t)1 << (MZ_RECENT - 1 - (depth - n));
}

INLINE uint64_t bit_of(const struct rest *v, mz_number n) { return (uint64_t)1 << (n - v->race->first); }

/* The recent events that happen before event n, and n itself. past_of_last(): those that happen before e', without
 * e' itself. */
INLINE uint64_t past(const struct mz_exploration *x, const struct rest *v, mz_number n)
{
    return x->trace.briefs[n].past >> (MZ_RECENT - 1 - (n - v->race->first));
}
INLINE uint64_t past_of_last(const struct mz_exploration *x, const struct rest *v)
{
    const struct mz_recent *r = &x->trace.recent[v->race->before];
    mz_number first = v->race->first;
    return r->last < first ? 0 : r->events >> (MZ_RECENT - 1 - (r->last - first));
}

static void all_of_v(const struct mz_exploration *x, struct rest *v, const struct mz_race *race)
{
    mz_number events = x->path.depth - race->first; /* after the first */
    v->race = race;
    v->last = false;
    v->near = events < MZ_RECENT;
    if (mz_likely(v->near)) {
        v->shift = MZ_RECENT - 1 - events;
        v->gone = 0;
        v->firsts = 1;
        for (uint32_t i = race->firsts_end - race->several; i < race->firsts_end; i++)
            v->firsts |= bit_of(v, x->trace.firsts[i]);
    } else {
        for (uint32_t i = 0; i < x->trace.lanes / 4; i++)
            v->taken[i] = (lanes){0} + (int32_t)(race->first - 1);
    }
}

INLINE void take_out(struct rest *v, int thread, mz_number n)
{
    if (mz_likely(v->near))
        v->gone |= bit_of(v, n);
    else
        ((mz_number *)v->taken)[thread] = n;
}

INLINE bool is_taken(const struct rest *v, int thread, mz_number n)
{
    return mz_likely(v->near) ? v->gone & bit_of(v, n) : n <= ((const mz_number *)v->taken)[thread];
}

/* The next event of the thread, from E' on, that is not taken out; 0: none. Look at the last two events
 * first: most threads have few events from E' on. */
INLINE mz_number next_of(const struct mz_exploration *x, const struct rest *v, int thread)
{
    if (mz_likely(v->near)) {
        uint64_t left = x->latest[thread] >> v->shift & ~v->gone;
        return left ? v->race->first + (mz_number)__builtin_ctzll(left) : 0;
    }
    const mz_number *list = x->trace.thread_events[thread], n = ((const mz_number *)v->taken)[thread];
    uint32_t i = x->trace.thread_event_count[thread];
    if (!i || list[i - 1] <= n) return 0;
    if (i == 1 || list[i - 2] <= n) return list[i - 1];
    return mz_first_event_after(&x->trace, thread, n);
}

INLINE bool is_in_v(const struct mz_exploration *x, const struct rest *v, mz_number n)
{
    if (mz_likely(v->near)) return !(past(x, v, n) & v->firsts);
    return !mz_after_first(&x->trace, v->race, mz_event_at(&x->trace, n)->clock);
}

/* Count the threads with an event beyond taken[] that happens before the owner of clock c, or is the owner. */
static uint32_t threads_before(const struct mz_exploration *x, const struct rest *v, mz_clock c)
{
    const lanes *w = (const lanes *)(const void *)mz_clock_at(&x->trace, c);
    lanes late = {0}; /* event numbers are small: a signed compare is right */
    for (uint32_t i = 0; i < x->trace.lanes / 4; i++) late += w[i] > v->taken[i];
    return (uint32_t) - (late[0] + late[1] + late[2] + late[3]);
}

/* Does nothing in the rest of v happen before event n? has_no_past() says the same of e'. */
INLINE bool comes_first(const struct mz_exploration *x, const struct rest *v, mz_number n)
{
    if (mz_likely(v->near)) return (past(x, v, n) & ~v->gone) == bit_of(v, n);
    return threads_before(x, v, mz_event_at(&x->trace, n)->clock) == 1;
}
INLINE bool has_no_past(const struct mz_exploration *x, const struct rest *v)
{
    return mz_likely(v->near) ? !(past_of_last(x, v) & ~v->gone) : !threads_before(x, v, v->race->before);
}

/* Does an event in the rest of v, other than e', conflict with u? Look at the events on the object of u, from
 * event `from` backwards. */
static bool conflicts(const struct mz_exploration *x, const struct rest *v, const struct mz_elem *u,
                      mz_number from)
{
    for (mz_number n = from; n > v->race->first; n = x->trace.briefs[n].prev_object) {
        const struct mz_brief *e = &x->trace.briefs[n];
        if (mz_access_conflict(e->access, u->access) && !is_taken(v, e->thread, n) && is_in_v(x, v, n))
            return true;
    }
    return false;
}

static bool last_comes_first(const struct mz_exploration *x, const struct rest *v)
{
    const struct mz_race *r = v->race;
    if (!has_no_past(x, v)) return false;
    if (!r->last.object || x->trace.briefs[r->first].access == MZ_WRITES)
        return true; /* later events on the object happen after the first event: v lacks them */
    return !conflicts(x, v, &r->last,
                      r->second ? x->trace.briefs[r->second].prev_object
                                : x->trace.objects[r->last.object].last);
}

static bool is_foreign(const struct mz_exploration *x, const struct rest *v, const struct mz_elem *u)
{
    if (!u->object) return true;
    if (!v->last && mz_conflict(&x->trace, u, &v->race->last)) return false;
    return !conflicts(x, v, u, x->trace.objects[u->object].last);
}

/* Is u the next step of its thread in v, and can it come first? Then *n is its event, 0 for e'. The answer is
 * MZ_SETTLED if u belongs to the core of v, else MZ_COVERED. *foreign: u is not in v. */
INLINE enum mz_cover own_step(const struct mz_exploration *x, const struct rest *v, const struct mz_elem *u,
                              mz_number *n, bool *foreign)
{
    mz_number f = *n = next_of(x, v, u->thread);
    *foreign = false;
    if (f && is_in_v(x, v, f)) {
        if (x->trace.briefs[f].choice != u->choice || !comes_first(x, v, f)) return MZ_UNCOVERED;
        return f < v->race->split ? MZ_SETTLED : MZ_COVERED;
    }
    *n = 0;
    if (u->thread == v->race->last.thread && !v->last)
        return v->race->last.choice == u->choice && last_comes_first(x, v) ? MZ_SETTLED : MZ_UNCOVERED;
    *foreign = true;
    return MZ_UNCOVERED;
}

static enum mz_cover take(const struct mz_exploration *x, struct rest *v, const struct mz_elem *u)
{
    mz_number n;
    bool foreign;
    enum mz_cover cover = own_step(x, v, u, &n, &foreign);
    if (foreign) return is_foreign(x, v, u) ? MZ_COVERED : MZ_UNCOVERED;
    if (cover == MZ_UNCOVERED) return cover;
    if (n)
        take_out(v, u->thread, n);
    else
        v->last = true;
    return cover;
}

/* Try the steps that are in v first, as they can settle the race; of these first the thread of e', which
 * mostly does. Steps that are not in v cost more: try them last. */
static enum mz_cover by_sleep(const struct mz_exploration *x, uint32_t k, const struct rest *v)
{
    const struct mz_node *node = &x->nodes[k];
    const struct mz_elem *sleep = &x->sleep[node->sleep_start], *end = sleep + node->sleep_count;
    enum mz_cover best = MZ_UNCOVERED;
    uint64_t foreigners = 0;
    uint8_t p = v->race->last.thread;
    for (int others = !(node->asleep & mz_bit(p)); others < 2; others++)
        for (const struct mz_elem *u = sleep; u < end; u++) {
            mz_number n;
            bool foreign;
            if ((u->thread != p) != others) continue;
            enum mz_cover c = own_step(x, v, u, &n, &foreign);
            if (c == MZ_SETTLED) return c;
            if (c > best) best = c;
            if (foreign) foreigners |= mz_bit(u->thread);
        }
    for (const struct mz_elem *u = sleep; u < end && best == MZ_UNCOVERED && foreigners; u++)
        if (foreigners & mz_bit(u->thread) && is_foreign(x, v, u)) best = MZ_COVERED;
    return best;
}

/* Does a branch of the wakeup tree cover v? Walk down to a leaf; at each node take the first step that can
 * come first in v. v is used up. */
static enum mz_cover by_tree(const struct mz_exploration *x, uint32_t list, struct rest *v)
{
    enum mz_cover cover = MZ_SETTLED;
    while (list) {
        const struct mz_wakeup_node *w = &x->trace.wakeup.nodes[list];
        __builtin_prefetch(&x->trace.wakeup.nodes[w->child]);
        __builtin_prefetch(&x->trace.wakeup.nodes[w->next]);
        enum mz_cover c = take(x, v, &w->elem);
        if (c && c < cover) cover = c;
        if (c && !w->child) return w->whose == MZ_SLEEPER ? MZ_UNCOVERED : cover;
        list = c ? w->child : w->next;
    }
    return MZ_UNCOVERED;
}

enum mz_cover mz_covered(const struct mz_exploration *x, uint32_t k, const struct mz_race *race)
{
    struct rest v;
    if (mz_unlikely(x->trace.sections || x->trace.across)) return MZ_UNCOVERED; /* conflicts across objects */
    if (mz_unlikely(x->frontier->needs_leaves)) return MZ_UNCOVERED;
    all_of_v(x, &v, race);
    enum mz_cover cover = by_sleep(x, k, &v);
    if (cover == MZ_UNCOVERED && x->nodes[k].wakeup) cover = by_tree(x, x->nodes[k].wakeup, &v);
    return cover;
}
