/* The profile: what random walks did, for samplers that need to know how many events are to come. Objects have the same
 * number in all walks (X2), and threads, too (P3). */
#include "engine/sampling/sampling.h"

static uint32_t number_of(struct mz_profile *p, uint32_t object)
{
    uint32_t i = 0;
    while (i < p->objects && p->object[i] != object) i++;
    if (i == p->objects && i < MZ_PROFILED) p->object[p->objects++] = object;
    return i;
}

/* Threads that have just been started: by the thread of event n. */
static void note_threads(struct mz_exploration *x, mz_number n)
{
    struct mz_profile *p = &x->sampling->profile;
    uint64_t fresh = x->view->alive & ~p->started;
    for (uint64_t t = fresh; t; t &= t - 1)
        p->parent[__builtin_ctzll(t)] = n > 1 ? x->trace.events[n - 2].thread : (uint8_t)__builtin_ctzll(t);
    p->started |= fresh;
}

void mz_profile_event(struct mz_exploration *x, mz_number n)
{
    struct mz_profile *p = &x->sampling->profile;
    const struct mz_event *e = mz_event_at(&x->trace, n);
    note_threads(x, n);
    if (!e->object) return;
    uint32_t i = number_of(p, e->object);
    if (i == MZ_PROFILED) return;
    p->threads[i] |= mz_bit(e->thread);
    p->written[i] |= e->access != MZ_READS;
    p->events[i][e->thread]++;
}

void mz_profile_end(struct mz_exploration *x) { x->sampling->profile.walks++; }
