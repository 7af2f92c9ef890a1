/* Vector clocks and the journal that takes back changes.
 *
 * Clocks live in a pool that grows and shrinks like a stack along with the path. Each clock has room for all
 * threads, but only its first tr->lanes words are used. When a thread with a higher number turns up,
 * mz_clock_widen() raises tr->lanes and sets the new words of all clocks to zero. The most recent events of a
 * clock are also kept as a set (tr->recent), for questions about many events at once
 * (engine/redundant_race.c). */
#include "trace/trace.h"

void mz_journal_set(struct mz_trace *tr, uint32_t *slot, uint32_t value)
{
    MZ_ASSERT(tr->journal_count < tr->journal_capacity);
    tr->journal[tr->journal_count++] = (struct mz_journal_entry){slot, *slot};
    *slot = value;
}

void mz_journal_undo(struct mz_trace *tr, uint32_t mark)
{
    while (tr->journal_count > mark) {
        struct mz_journal_entry *j = &tr->journal[--tr->journal_count];
        *j->slot = j->old;
    }
}

typedef int32_t quads __attribute__((vector_size(16), may_alias)); /* event numbers are below 2^31 */

static uint32_t *words(struct mz_trace *tr, mz_clock c) { return tr->clocks + (size_t)c * MZ_MAX_THREADS; }

static quads *quads_of(struct mz_trace *tr, mz_clock c) { return (quads *)(void *)words(tr, c); }

static inline quads larger(quads a, quads b)
{
    quads m = a > b;
    return (a & m) | (b & ~m);
}

static mz_clock new_clock(struct mz_trace *tr)
{
    MZ_ASSERT(tr->clock_count < tr->clock_capacity);
    return tr->clock_count++;
}

mz_clock mz_clock_copy(struct mz_trace *tr, mz_clock from)
{
    mz_clock c = new_clock(tr);
    quads *restrict to = quads_of(tr, c);
    const quads *restrict src = quads_of(tr, from);
    for (uint32_t i = 0; i < tr->lanes / 4; i += 2) {
        to[i] = src[i];
        to[i + 1] = src[i + 1];
    }
    tr->recent[c] = tr->recent[from];
    return c;
}

static uint64_t earlier(uint64_t events, mz_number by) { return by < MZ_RECENT ? events >> by : 0; }

static void join_recent(struct mz_recent *to, const struct mz_recent *from)
{
    if (from->last > to->last)
        *to = (struct mz_recent){from->events | earlier(to->events, from->last - to->last), from->last};
    else
        to->events |= earlier(from->events, to->last - from->last);
}

void mz_clock_of_event(struct mz_trace *tr, mz_clock clock, int thread, mz_number n)
{
    struct mz_recent *r = &tr->recent[clock];
    words(tr, clock)[thread] = n;
    *r = (struct mz_recent){earlier(r->events, n - r->last) | (uint64_t)1 << (MZ_RECENT - 1), n};
}

void mz_clock_join(struct mz_trace *tr, mz_clock into, mz_clock from)
{
    quads *restrict to = quads_of(tr, into);
    const quads *restrict src = quads_of(tr, from);
    for (uint32_t i = 0; i < tr->lanes / 4; i += 2) {
        to[i] = larger(to[i], src[i]);
        to[i + 1] = larger(to[i + 1], src[i + 1]);
    }
    join_recent(&tr->recent[into], &tr->recent[from]);
}

mz_clock mz_clock_joined(struct mz_trace *tr, mz_clock a, mz_clock b)
{
    if (a == b || !b) return a;
    if (!a) return b;
    mz_clock c = new_clock(tr);
    quads *restrict to = quads_of(tr, c);
    const quads *restrict p = quads_of(tr, a), *restrict q = quads_of(tr, b);
    for (uint32_t i = 0; i < tr->lanes / 4; i += 2) {
        to[i] = larger(p[i], q[i]);
        to[i + 1] = larger(p[i + 1], q[i + 1]);
    }
    tr->recent[c] = tr->recent[a];
    join_recent(&tr->recent[c], &tr->recent[b]);
    return c;
}

void mz_clock_widen(struct mz_trace *tr, int thread)
{
    uint32_t lanes = ((uint32_t)thread + 8) & ~7u;
    if (lanes <= tr->lanes) return;
    for (mz_clock c = 0; c < tr->clock_count; c++)
        for (uint32_t i = tr->lanes; i < lanes; i++) words(tr, c)[i] = 0;
    tr->lanes = lanes;
}
