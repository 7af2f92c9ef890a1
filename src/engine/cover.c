/* Is the sequence v of a race covered by what has been explored, or is going to be? Most are. The answer is
 * found on clocks, without building v (sequence.c), which is left to those that are not.
 *
 * A step u can come first in something equivalent to v (2017, Lemma 4.6) if it is the next of its thread in v
 * and nothing in v happens before it, or if it is not in v and conflicts with nothing in it. Of a whole
 * branch that goes for each step in turn, with those before it taken out of v. What is taken out is, of each
 * thread, the first few of its events, so a number for each thread says it: an event has nothing before it in
 * what is left of v if no component of its clock, but its own, is above that number. That leaves out all
 * events of E' by itself, and those that v lacks because they happen after e: what happens after them is not
 * in v either.
 *
 * Invariants
 *  V1  What is called covered is. What is not called covered may be: then sequence.c finds it.
 *  V2  taken[t] is the number of the last event of t that is in E' or taken out; e' has a flag of its own. */
#include "exploration.h"

typedef int32_t lanes __attribute__((vector_size(16), may_alias));

struct rest { /* of v */
    const struct mz_race *race;
    bool last; /* e' is taken out */
    lanes taken[MZ_MAX_THREADS / 4];
};

static inline mz_number taken(const struct rest *v, int thread)
{
    return ((const mz_number *)v->taken)[thread];
}
static inline void take_up_to(struct rest *v, int thread, mz_number n)
{
    ((mz_number *)v->taken)[thread] = n;
}

static void all_of_v(const struct mz_exploration *x, struct rest *v, const struct mz_race *race)
{
    v->race = race;
    v->last = false;
    for (uint32_t i = 0; i < x->lanes / 4; i++) v->taken[i] = (lanes){0} + (int32_t)(race->first - 1);
}

/* The first event of the thread with a number above n; 0: none. Most have few after e. */
static inline mz_number next_of(const struct mz_exploration *x, int thread, mz_number n)
{
    const mz_number *list = x->thread_events[thread];
    uint32_t i = x->thread_event_count[thread];
    if (!i || list[i - 1] <= n) return 0;
    if (i == 1 || list[i - 2] <= n) return list[i - 1];
    return mz_first_event_after(x, thread, n);
}

static inline bool is_in_v(const struct mz_exploration *x, const struct rest *v, mz_number n)
{
    return !mz_after_first(x, v->race, mz_event_at(x, n)->clock);
}

/* How many threads have events that are in what is left of v, or not in v at all, and happen before what the
 * clock belongs to? */
static uint32_t threads_before(const struct mz_exploration *x, const struct rest *v, mz_clock c)
{
    const lanes *w = (const lanes *)(const void *)mz_clock_at(x, c);
    lanes late = {0}; /* numbers are small: with or without a sign */
    for (uint32_t i = 0; i < x->lanes / 4; i++) late += w[i] > v->taken[i];
    return (uint32_t) - (late[0] + late[1] + late[2] + late[3]);
}

/* Does something in what is left of v, but e', conflict with it? Looks at the events on its object from
 * `from` back. */
static bool conflicts(const struct mz_exploration *x, const struct rest *v, const struct mz_elem *u,
                      mz_number from)
{
    for (mz_number n = from; n > v->race->first; n = mz_event_at(x, n)->prev_object) {
        const struct mz_event *e = mz_event_at(x, n);
        if (mz_access_conflict(e->access, u->access) && n > taken(v, e->thread) && is_in_v(x, v, n))
            return true;
    }
    return false;
}

static bool last_comes_first(const struct mz_exploration *x, const struct rest *v)
{
    const struct mz_race *r = v->race;
    if (threads_before(x, v, r->before)) return false;
    if (!r->last.object || mz_event_at(x, r->first)->access == MZ_WRITES)
        return true; /* what is on the object after it happens after it */
    return !conflicts(x, v, &r->last,
                      r->second ? mz_event_at(x, r->second)->prev_object : x->objects[r->last.object].last);
}

static bool is_foreign(const struct mz_exploration *x, const struct rest *v, const struct mz_elem *u)
{
    if (!u->object) return true;
    if (!v->last && mz_conflict(x, u, &v->race->last)) return false;
    return !conflicts(x, v, u, x->objects[u->object].last);
}

/* Is u the next of its thread in v, and can it come first? Then it is taken out. MZ_COVERED: it is, and can,
 * but does not belong to the core. */
static enum mz_cover take_own(const struct mz_exploration *x, struct rest *v, const struct mz_elem *u,
                              bool *foreign)
{
    mz_number f = next_of(x, u->thread, taken(v, u->thread));
    *foreign = false;
    if (f && is_in_v(x, v, f)) {
        if (mz_event_at(x, f)->choice != u->choice) return MZ_UNCOVERED;
        if (threads_before(x, v, mz_event_at(x, f)->clock) != 1) return MZ_UNCOVERED;
        take_up_to(v, u->thread, f);
        return f < v->race->split ? MZ_SETTLED : MZ_COVERED;
    }
    if (u->thread == v->race->last.thread && !v->last) {
        if (v->race->last.choice != u->choice || !last_comes_first(x, v)) return MZ_UNCOVERED;
        v->last = true;
        return MZ_SETTLED;
    }
    *foreign = true;
    return MZ_UNCOVERED;
}

static enum mz_cover take(const struct mz_exploration *x, struct rest *v, const struct mz_elem *u)
{
    bool foreign;
    enum mz_cover cover = take_own(x, v, u, &foreign);
    return foreign && is_foreign(x, v, u) ? MZ_COVERED : cover;
}

/* First those that settle it: what is not in v is more work. */
static enum mz_cover by_sleep(const struct mz_exploration *x, uint32_t k, const struct mz_race *race)
{
    const struct mz_node *n = &x->nodes[k];
    enum mz_cover best = MZ_UNCOVERED;
    uint64_t foreigners = 0;
    struct rest v;
    all_of_v(x, &v, race);
    for (uint32_t i = 0; i < n->sleep_count; i++) {
        const struct mz_elem *u = &x->sleep[n->sleep_start + i];
        bool foreign;
        enum mz_cover c = take_own(x, &v, u, &foreign);
        if (c == MZ_SETTLED) return c;
        if (foreign) foreigners |= mz_bit(u->thread);
        if (c == MZ_UNCOVERED) continue;
        best = c;
        take_up_to(&v, u->thread, race->first - 1);
    }
    for (uint32_t i = 0; i < n->sleep_count && best == MZ_UNCOVERED && foreigners; i++) {
        const struct mz_elem *u = &x->sleep[n->sleep_start + i];
        if (foreigners & mz_bit(u->thread) && is_foreign(x, &v, u)) best = MZ_COVERED;
    }
    return best;
}

/* By a branch, down to its leaf: at each node the first step that can come first. */
static enum mz_cover by_tree(const struct mz_exploration *x, uint32_t list, const struct mz_race *race)
{
    enum mz_cover cover = MZ_SETTLED;
    struct rest v;
    all_of_v(x, &v, race);
    while (list) {
        const struct mz_wakeup_node *w = &x->wakeup[list];
        enum mz_cover c = take(x, &v, &w->elem);
        if (c && c < cover) cover = c;
        if (c && !w->child) return w->whose == MZ_SLEEPER ? MZ_UNCOVERED : cover;
        list = c ? w->child : w->next;
    }
    return MZ_UNCOVERED;
}

enum mz_cover mz_covered(const struct mz_exploration *x, uint32_t k, const struct mz_race *race)
{
    if (mz_unlikely(x->sections)) return MZ_UNCOVERED; /* conflicts are not only on objects */
    enum mz_cover cover = by_sleep(x, k, race);
    if (cover == MZ_UNCOVERED && x->nodes[k].wakeup) cover = by_tree(x, x->nodes[k].wakeup, race);
    return cover;
}
