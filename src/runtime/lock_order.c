/* The order in which threads take mutexes: a circle in it is a deadlock waiting for its schedule. If the
 * search finds that schedule, it is an error; if this test has none, the circle is worth a warning.
 *
 * An edge a -> b says that some thread locked b while it held a. Edges are kept for the whole search. No
 * warning if one thread alone goes round, or if some other mutex is held along all of the circle. Looked at
 * only when a lock is new on the path and its thread holds others. */
#include "runtime.h"
#include "pthread_objects.h"

#define EDGES  512u
#define TABLE  1024u
#define GATES  4u
#define CIRCLE MZ_WARNING_STEPS

struct edge {
    const void *from, *to;
    uint64_t threads;
    uint64_t pc; /* where b was locked, by the first thread that did */
    uint8_t thread;
    uint8_t gates; /* other mutexes held every time */
    const void *gate[GATES];
};

static struct edge edges[EDGES];
static unsigned edge_count;
static uint16_t table[TABLE]; /* open addressing: number of an edge plus one */

static bool holds(const struct mz_thread *t, const void *m)
{
    for (unsigned i = 0; i < t->held_count; i++)
        if (t->held[i] == m) return true;
    return false;
}

static void narrow_gates(struct edge *e, const struct mz_thread *t)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < e->gates; i++)
        if (holds(t, e->gate[i])) e->gate[kept++] = e->gate[i];
    e->gates = (uint8_t)kept;
}

static void first_gates(struct edge *e, const struct mz_thread *t)
{
    for (unsigned i = 0; i < t->held_count && e->gates < GATES; i++)
        if (t->held[i] != e->from && t->held[i] != e->to) e->gate[e->gates++] = t->held[i];
}

/* ---- circles ---- */

static const struct edge *circle[CIRCLE];

static bool gated(unsigned length)
{
    for (unsigned g = 0; g < circle[0]->gates; g++) {
        bool everywhere = true;
        for (unsigned i = 1; i < length && everywhere; i++) {
            bool here = false;
            for (unsigned k = 0; k < circle[i]->gates; k++) here |= circle[i]->gate[k] == circle[0]->gate[g];
            everywhere = here;
        }
        if (everywhere) return true;
    }
    return false;
}

static bool by_one_thread(unsigned length)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < length; i++) all |= circle[i]->threads;
    return !(all & (all - 1));
}

/* The same circle, perhaps entered elsewhere? */
static bool warned(unsigned length)
{
    const struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->warning_count; i++)
        for (unsigned k = 0; c->warnings[i].steps == length && k < length; k++)
            if (c->warnings[i].step[k].held == (uintptr_t)circle[0]->from &&
                c->warnings[i].step[k].locked == (uintptr_t)circle[0]->to)
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
        w->step[i].held = (uintptr_t)circle[i]->from;
        w->step[i].locked = (uintptr_t)circle[i]->to;
        w->step[i].thread = circle[i]->thread;
        w->step[i].pc = circle[i]->pc;
    }
}

/* A way from circle[length - 1]->to back to the start. */
static bool close_circle(unsigned length)
{
    const void *at = circle[length - 1]->to;
    if (at == circle[0]->from) {
        if (by_one_thread(length) || gated(length)) return false;
        warn(length);
        return true;
    }
    for (unsigned i = 0; i < edge_count && length < CIRCLE; i++) {
        if (edges[i].from != at) continue;
        circle[length] = &edges[i];
        if (close_circle(length + 1)) return true;
    }
    return false;
}

/* Where an edge is, or would go. */
static uint16_t *find(const void *from, const void *to)
{
    uint32_t i = (uint32_t)((((uintptr_t)from * 31) ^ (uintptr_t)to) * 0x9e3779b97f4a7c15ull >> 54);
    while (table[i] && (edges[table[i] - 1].from != from || edges[table[i] - 1].to != to))
        i = (i + 1) % TABLE;
    return &table[i];
}

static void add_edge(const void *from, const void *to, const struct mz_thread *t)
{
    uint64_t me = (uint64_t)1 << rt.self;
    uint16_t *slot = find(from, to);
    struct edge *e = *slot ? &edges[*slot - 1] : NULL;
    if (mz_likely(e != NULL)) {
        if (mz_likely(e->threads & me && !e->gates)) return;
        bool news = !(e->threads & me);
        unsigned gates = e->gates;
        e->threads |= me;
        narrow_gates(e, t);
        if (!news && gates == e->gates) return;
    } else {
        if (edge_count == EDGES) return;
        e = &edges[edge_count++];
        *slot = (uint16_t)edge_count;
        *e = (struct edge){
            .from = from, .to = to, .threads = me, .thread = rt.self, .pc = rt.view.pending[rt.self].pc};
        first_gates(e, t);
    }
    circle[0] = e;
    close_circle(1);
}

/* The running thread has just got m, and holds others. */
void mz_lock_order(const void *m)
{
    const struct mz_thread *t = &rt.run.threads[rt.self];
    for (unsigned i = 0; i < t->held_count; i++)
        if (t->held[i] != m && !((uintptr_t)t->held[i] & 1)) add_edge(t->held[i], m, t);
}
