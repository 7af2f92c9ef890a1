/* Warns of cycles in the order in which threads lock mutexes: with another schedule, such a cycle can be a
 * deadlock. If the search finds that schedule, it reports a deadlock. If this test has no such schedule, the
 * cycle is still worth a warning.
 *
 * An edge a -> b says that some thread locked b while it held a. Edges are kept for the whole search. There
 * is no warning if a single thread made all edges of the cycle, or if all edges have a common *gate*: another
 * mutex that was held each time. mz_mutex_take calls mz_lock_order only for a lock that is new on the path,
 * by a thread that holds other locks. */
#include "base/table.h"
#include "runtime/core/runtime.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#define GATES  4u
#define CIRCLE MZ_WARNING_STEPS

#define lo mz_sync_room.lock_order

static bool holds(const struct mz_thread *t, const void *m)
{
    for (unsigned i = 0; i < t->held_count; i++)
        if (t->held[i] == m) return true;
    return false;
}

static void narrow_gates(struct mz_lock_edge *e, const struct mz_thread *t)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < e->gates; i++)
        if (holds(t, e->gate[i])) e->gate[kept++] = e->gate[i];
    e->gates = (uint8_t)kept;
}

static void first_gates(struct mz_lock_edge *e, const struct mz_thread *t)
{
    for (unsigned i = 0; i < t->held_count && e->gates < GATES; i++)
        if (t->held[i] != e->from && t->held[i] != e->to) e->gate[e->gates++] = t->held[i];
}

/* ---- cycles ---- */

static bool gated(unsigned length)
{
    for (unsigned g = 0; g < lo.circle[0]->gates; g++) {
        bool everywhere = true;
        for (unsigned i = 1; i < length && everywhere; i++) {
            bool here = false;
            for (unsigned k = 0; k < lo.circle[i]->gates; k++)
                here |= lo.circle[i]->gate[k] == lo.circle[0]->gate[g];
            everywhere = here;
        }
        if (everywhere) return true;
    }
    return false;
}

static bool by_one_thread(unsigned length)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < length; i++) all |= lo.circle[i]->threads;
    return !(all & (all - 1));
}

/* Was there a warning of this cycle, perhaps with another edge as the first? */
static bool warned(unsigned length)
{
    const struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->warning_count; i++)
        for (unsigned k = 0; c->warnings[i].steps == length && k < length; k++)
            if (c->warnings[i].step[k].held == (uintptr_t)lo.circle[0]->from &&
                c->warnings[i].step[k].locked == (uintptr_t)lo.circle[0]->to)
                return true;
    return false;
}

static void warn(unsigned length)
{
    struct mz_channel *c = rt.channel;
    if (c->warning_count == MZ_MAX_WARNINGS || warned(length)) return;
    struct mz_warning *w = &c->warnings[c->warning_count++];
    w->steps = length;
    for (unsigned i = 0; i < length; i++) {
        w->step[i].held = (uintptr_t)lo.circle[i]->from;
        w->step[i].locked = (uintptr_t)lo.circle[i]->to;
        w->step[i].thread = lo.circle[i]->thread;
        w->step[i].pc = lo.circle[i]->pc;
    }
}

/* Extends the path by edges from circle[length - 1]->to until it returns to its start. Returns true if there
 * is a cycle that deserves a warning. */
static bool close_circle(unsigned length)
{
    const void *at = lo.circle[length - 1]->to;
    if (at == lo.circle[0]->from) {
        if (by_one_thread(length) || gated(length)) return false;
        warn(length);
        return true;
    }
    for (unsigned i = 0; i < lo.edge_count && length < CIRCLE; i++) {
        if (lo.edges[i].from != at) continue;
        lo.circle[length] = &lo.edges[i];
        if (close_circle(length + 1)) return true;
    }
    return false;
}

static inline bool is_edge(const void *all, uint32_t number, const void *wanted)
{
    const struct mz_lock_edge *e = (const struct mz_lock_edge *)all + (number - 1);
    const void *const *ends = wanted;
    return e->from == ends[0] && e->to == ends[1];
}

/* Returns the slot of an edge, or the empty slot where the edge belongs. */
static uint32_t *find(const void *from, const void *to)
{
    const void *ends[2] = {from, to};
    const struct mz_table table = {lo.slots, MZ_LOCK_TABLE - 1, lo.edge_count};
    return mz_table_find(&table, mz_table_hash(((uintptr_t)from * 31) ^ (uintptr_t)to), is_edge, lo.edges,
                         ends);
}

static void add_edge(const void *from, const void *to, const struct mz_thread *t)
{
    uint64_t me = (uint64_t)1 << rt.self;
    uint32_t *slot = find(from, to);
    struct mz_lock_edge *e = *slot ? &lo.edges[*slot - 1] : NULL;
    if (mz_likely(e != NULL)) {
        if (mz_likely(e->threads & me && !e->gates)) return;
        bool news = !(e->threads & me);
        unsigned gates = e->gates;
        e->threads |= me;
        narrow_gates(e, t);
        if (!news && gates == e->gates) return;
    } else {
        if (lo.edge_count == MZ_LOCK_EDGES) return;
        e = &lo.edges[lo.edge_count++];
        *slot = lo.edge_count;
        *e = (struct mz_lock_edge){
            .from = from, .to = to, .threads = me, .thread = rt.self, .pc = rt.view.pending[rt.self].pc};
        first_gates(e, t);
    }
    lo.circle[0] = e;
    close_circle(1);
}

/* The running thread has just locked m and holds other locks: add the edges. */
void mz_lock_order(const void *m)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    for (unsigned i = 0; i < t->held_count; i++)
        if (t->held[i] != m && !((uintptr_t)t->held[i] & 1)) add_edge(t->held[i], m, t);
}
