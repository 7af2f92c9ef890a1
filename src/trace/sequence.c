/* The sequence v = notdep(e, E).e' of a race (2017, Algorithm 2, line 5), and its weak initials. If the race
 * has several first events, notdep holds the events that happen after none of them.
 *
 * Events of v that come after e' in E are independent of e', so e' is put before them. Then the core of v (e'
 * and the events of v before e') does not depend on how E goes on after e'.
 *
 * The core answers most questions: an initial of the core is an initial of v, and a step that conflicts with
 * the core conflicts with v. The rest of v is added only when a step neither is in the core nor conflicts
 * with it. */
#include "trace/race.h"

static void add(struct mz_sequence *v, struct mz_elem e, mz_number number, bool needed)
{
    v->needed[v->count] = needed;
    v->numbers[v->count] = number;
    v->elems[v->count++] = e;
}

static bool is_in_notdep(const struct mz_trace *tr, const struct mz_race *race, const struct mz_event *e)
{
    mz_number n = race->first;
    if (mz_clock_at(tr, e->clock)[mz_event_at(tr, n)->thread] >= n) return false;
    return !race->several || !mz_after_first(tr, race, e->clock);
}

/* Add the events of notdep(e, E) with numbers in [from, end). */
static void add_notdep(struct mz_trace *tr, struct mz_sequence *v, const struct mz_race *race, mz_number from,
                       mz_number end)
{
    for (mz_number i = from; i < end; i++) {
        const struct mz_event *e = mz_event_at(tr, i);
        if (is_in_notdep(tr, race, e)) add(v, mz_elem_of(e), i, false);
    }
}

/* Add the core: first the events that happen before e' in v, then e', then the other events of v that come
 * before e' in E. This order makes v->keep small: no element from there on is needed. */
static void add_core(struct mz_trace *tr, struct mz_sequence *v, const struct mz_race *race)
{
    mz_clock clocks = tr->clock_count, past = mz_clock_copy(tr, race->before);
    for (mz_number i = race->first + 1; i < race->split; i++) {
        const struct mz_event *e = mz_event_at(tr, i);
        struct mz_elem elem = mz_elem_of(e);
        if (is_in_notdep(tr, race, e) && mz_conflict(tr, &elem, &race->last))
            mz_clock_join(tr, past, e->clock);
    }
    for (int needed = 1; needed >= 0; needed--) {
        for (mz_number i = race->first + 1; i < race->split; i++) {
            const struct mz_event *e = mz_event_at(tr, i);
            if (mz_clock_covers(tr, past, i) == needed && is_in_notdep(tr, race, e))
                add(v, mz_elem_of(e), i, needed);
        }
        if (!needed) break;
        add(v, race->last, 0, true);
        v->keep = v->count;
    }
    tr->clock_count = clocks;
}

static void link_elems(struct mz_sequence *v)
{
    for (int t = 0; t < MZ_MAX_THREADS; t++) v->first_of_thread[t] = MZ_END;
    v->stamp++;
    for (uint32_t i = v->count; i-- > 0;) {
        const struct mz_elem *e = &v->elems[i];
        if (e->thread == MZ_NOBODY) continue;
        v->next_of_thread[i] = v->first_of_thread[e->thread];
        v->first_of_thread[e->thread] = i;
        bool fresh = v->stamp_of_object[e->object] != v->stamp;
        uint32_t next = fresh ? MZ_END : v->first_of_object[e->object];
        v->next_of_object[i] = next;
        if (next != MZ_END && !mz_access_conflict(e->access, v->elems[next].access))
            next = v->next_conflict[next]; /* the elements between have the same access */
        v->next_conflict[i] = next;
        v->first_of_object[e->object] = i;
        v->stamp_of_object[e->object] = v->stamp;
    }
}

/* Build only the core. The race must stay where it is while the sequence is in use. */
void mz_sequence_build(struct mz_trace *tr, const struct mz_race *race)
{
    struct mz_sequence *v = &tr->sequence;
    v->race = race;
    v->count = 0;
    add_core(tr, v, race);
    v->core = v->count;
    v->whole = false;
    link_elems(v);
}

/* Add the rest of v: the events after e' in E. */
void mz_sequence_complete(struct mz_trace *tr, struct mz_sequence *v)
{
    v->whole = true;
    add_notdep(tr, v, v->race, v->race->split, tr->count + 1);
    if (v->count > v->core) link_elems(v);
}

void mz_sequence_given(struct mz_trace *tr, uint32_t count, uint32_t core, uint32_t keep)
{
    struct mz_sequence *v = &tr->sequence;
    for (uint32_t i = 0; i < count; i++) v->needed[i] = i < keep;
    v->keep = keep;
    v->race = NULL;
    v->count = count;
    v->core = core;
    v->whole = true;
    link_elems(v);
}

/* The first element on the object, before element i, that conflicts with this access; MZ_END: none. */
static uint32_t conflict_on(const struct mz_sequence *v, uint32_t object, uint8_t access, uint32_t i)
{
    uint32_t j = MZ_END;
    if (object && v->stamp_of_object[object] == v->stamp) j = v->first_of_object[object];
    while (j < i) {
        const struct mz_elem *e = &v->elems[j];
        bool conflict = mz_access_conflict(e->access, access);
        if (conflict && e->thread != MZ_NOBODY) return j;
        j = conflict ? v->next_of_object[j] : v->next_conflict[j];
    }
    return MZ_END;
}

/* The same for conflicts across objects that are not those of sections. */
static uint32_t conflict_across(const struct mz_trace *tr, const struct mz_sequence *v,
                                const struct mz_elem *p, uint32_t i)
{
    for (uint32_t j = 0; p->object && j < i && j < v->count; j++)
        if (v->elems[j].thread != MZ_NOBODY && v->elems[j].object && mz_conflict(tr, p, &v->elems[j]))
            return j;
    return MZ_END;
}

/* The same for conflicts across objects, where p or the element is a section. */
static uint32_t conflict_with_section(const struct mz_trace *tr, const struct mz_sequence *v,
                                      const struct mz_elem *p, uint32_t i)
{
    if (mz_is_memory(tr, p->op, p->object)) return conflict_on(v, tr->sections, MZ_WRITES, i);
    if (p->op != MZ_OP_SECTION) return MZ_END;
    for (uint32_t j = 0; j < i && j < v->count; j++)
        if (v->elems[j].thread != MZ_NOBODY && mz_is_memory(tr, v->elems[j].op, v->elems[j].object)) return j;
    return MZ_END;
}

/* The first element that keeps p from coming first, or MZ_END; i is the first element of p's thread. */
static uint32_t obstacle(const struct mz_trace *tr, const struct mz_sequence *v, const struct mz_elem *p,
                         uint32_t i)
{
    uint32_t j = conflict_on(v, p->object, p->access, i);
    if (mz_unlikely(tr->sections)) {
        uint32_t other = conflict_with_section(tr, v, p, j < i ? j : i);
        if (other < j) j = other;
    }
    if (mz_unlikely(tr->across)) {
        uint32_t other = conflict_across(tr, v, p, j < i ? j : i);
        if (other < j) j = other;
    }
    if (j != MZ_END) return j;
    return i != MZ_END && v->elems[i].choice != p->choice ? i : MZ_END;
}

/* Is p in WI(v)? Either its step is in v with nothing before it that conflicts: *at says where. Or it
 * conflicts with nothing in v: *at is MZ_END. If p is not in WI(v), mark the element that shows this as
 * needed. While only the core has been built, MZ_COVERED means that the core does not tell. */
enum mz_cover mz_sequence_weak_initial(const struct mz_trace *tr, struct mz_sequence *v,
                                       const struct mz_elem *p, uint32_t *at)
{
    uint32_t i = *at = v->first_of_thread[p->thread], j = obstacle(tr, v, p, i);
    if (j != MZ_END) {
        v->needed[j] = true;
        if (j >= v->keep) v->keep = j + 1;
        return MZ_UNCOVERED;
    }
    return i < v->core ? MZ_SETTLED : MZ_COVERED;
}

/* Take out the element, which is the first of its thread. */
void mz_sequence_take(struct mz_sequence *v, uint32_t at)
{
    v->first_of_thread[v->elems[at].thread] = v->next_of_thread[at];
    v->elems[at].thread = MZ_NOBODY;
}

const uint32_t *mz_sequence_clock(const struct mz_trace *tr, const struct mz_sequence *v, uint32_t i)
{
    if (v->race) return mz_clock_at(tr, mz_event_at(tr, v->numbers[i])->clock);
    return v->clocks + (size_t)i * MZ_MAX_THREADS;
}

/* Go from the end to the front, and join the clocks of the needed elements. (e' has no clock; its past is
 * needed already.) */
void mz_sequence_close(const struct mz_trace *tr, struct mz_sequence *v)
{
    uint32_t past[MZ_MAX_THREADS] = {0};
    for (uint32_t j = v->keep; j-- > 0;) {
        uint8_t thread = v->elems[j].thread;
        if (thread == MZ_NOBODY || !v->numbers[j]) continue;
        v->needed[j] |= past[thread] >= v->numbers[j];
        if (!v->needed[j]) continue;
        const uint32_t *clock = mz_sequence_clock(tr, v, j);
        for (uint32_t t = 0; t < tr->lanes; t++)
            if (clock[t] > past[t]) past[t] = clock[t];
    }
}
