/* pos, partial-order sampling (Yuan, Yang, Gu 2018, Algorithm 2).
 *
 * Each pending operation gets a random priority. The enabled one with the highest priority happens. Then all pending
 * operations that conflict with it get new priorities: so the order of two conflicting operations does not decide the
 * orders of those after them. (Only operations of enabled threads count: the others cannot race with it.) */
#include "engine/sampling/sampling.h"

static void begin(struct mz_exploration *x) { x->sampling->pos.known = 0; }

static int choose(struct mz_exploration *x, uint32_t k)
{
    struct mz_sampling *s = x->sampling;
    uint64_t enabled = x->nodes[k].enabled;
    int best = -1;
    for (uint64_t t = enabled & ~s->pos.known; t; t &= t - 1)
        s->pos.priority[__builtin_ctzll(t)] = mz_draw(s);
    s->pos.known |= enabled;
    for (uint64_t t = enabled; t; t &= t - 1) {
        int thread = __builtin_ctzll(t);
        if (best < 0 || s->pos.priority[thread] > s->pos.priority[best]) best = thread;
    }
    return best;
}

/* Two accesses to different memory, where no objects on different places conflict: the usual case. */
static bool are_apart(const struct mz_exploration *x, const struct mz_event *e, const struct mz_pending *p)
{
    bool across = x->trace.sections || x->trace.across || p->key >> 48;
    return !across && e->key - p->key + 16 > 32;
}

static bool conflicts(struct mz_exploration *x, const struct mz_event *e, int thread)
{
    const struct mz_pending *p = mz_pending_of(x, thread);
    if (are_apart(x, e, p)) return false;
    struct mz_elem a = mz_elem_of(e), b = {mz_object_of(&x->trace, p), (uint8_t)thread, p->access, 0, p->op};
    return mz_conflict(&x->trace, &a, &b);
}

/* The view is still that of the node before the event, except for what the event itself has changed. */
static void event(struct mz_exploration *x, mz_number n)
{
    struct mz_pos *p = &x->sampling->pos;
    const struct mz_event *e = mz_event_at(&x->trace, n);
    p->known &= ~mz_bit(e->thread);
    if (!e->object) return;
    for (uint64_t t = x->nodes[n - 1].enabled & p->known; t; t &= t - 1)
        if (conflicts(x, e, __builtin_ctzll(t))) p->known &= ~(t & -t);
}

const struct mz_sampler mz_sampler_pos = {.begin = begin, .choose = choose, .event = event};
