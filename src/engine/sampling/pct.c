/* pct:D, probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte 2010).
 *
 * Each thread gets a random priority, above those of all change points, when it is first seen. The enabled thread with the
 * highest priority runs. After each of D - 1 steps, drawn from 1 to k, the thread that has just run gets the priority of
 * that change point, 0 to D - 2.
 *
 * A walk hits each bug of depth D with probability at least 1/(n k^(D-1)), for n threads and k steps. A bug of depth D is
 * one that shows whenever D pairs of events, suitably chosen, happen in a certain order. That holds if no walk has more than
 * k steps, and for the choices of mz_choose() that the bug needs. k is not known before: it is the most that a walk had so
 * far. A walk with more steps raises it. Then the walks before it had another distribution, and do not count as alike. */
#include "engine/sampling/sampling.h"

#define FIRST_PRIORITY (UINT64_C(1) << 63)

static void begin(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    if (!s->sample.expected) s->sample.expected = s->sample.steps;
    s->pct.known = 0;
    for (unsigned i = 0; i + 1 < s->pct.depth; i++)
        s->pct.change[i] = 1 + (uint32_t)mz_draw_below(s, s->sample.expected ? s->sample.expected : 1);
}

static void apply_changes(struct mz_exploration *x, uint32_t k)
{
    struct mz_pct *p = &x->sampling->pct;
    for (unsigned i = 0; i + 1 < p->depth; i++)
        if (p->change[i] == k) p->priority[x->path.steps[k - 1].thread] = i;
}

static int choose(struct mz_exploration *x, uint32_t k)
{
    struct mz_sampling *s = x->sampling;
    uint64_t enabled = x->nodes[k].enabled;
    int best = -1;
    for (uint64_t t = enabled & ~s->pct.known; t; t &= t - 1)
        s->pct.priority[__builtin_ctzll(t)] = FIRST_PRIORITY | mz_draw(s);
    s->pct.known |= enabled;
    for (uint64_t t = enabled; t; t &= t - 1) {
        int thread = __builtin_ctzll(t);
        if (best < 0 || s->pct.priority[thread] > s->pct.priority[best]) best = thread;
    }
    return best;
}

/* After event n, n steps have been done. The thread has a priority, unless it has always run alone. */
static void event(struct mz_exploration *x, mz_number n)
{
    struct mz_sampling *s = x->sampling;
    int thread = mz_event_at(&x->trace, n)->thread;
    if (!(s->pct.known & mz_bit(thread))) {
        s->pct.priority[thread] = FIRST_PRIORITY | mz_draw(s);
        s->pct.known |= mz_bit(thread);
    }
    apply_changes(x, n);
}

static void end(struct mz_exploration *x, bool is_new_class)
{
    struct mz_sample *sample = &x->sampling->sample;
    (void)is_new_class;
    if (x->path.depth <= sample->expected) return;
    sample->exceeded++;
    sample->expected = x->path.depth;
    sample->alike = 0;
}

const struct mz_sampler mz_sampler_pct = {
    .learns = true, .begin = begin, .choose = choose, .event = event, .end = end};
