/* surw, selectively uniform random walk (Zhao, Zhou, Lin, Chen, Yang, Pei 2025).
 *
 * A random walk over threads favours some orders: threads with few events end early. If thread t has r(t) events left,
 * taking it with probability r(t) / sum(r) makes all orders of independent threads equally likely. It is impossible for
 * all events at once (there are too many irrelevant ones), so each walk draws one object of those that several threads
 * access and some thread changes, and makes the orders of the events on that object uniform. An *intended* thread is drawn
 * by the weights r. The other threads may do whatever they do elsewhere, uniformly drawn, but not access the object. When
 * the intended thread has accessed it, another one is drawn. The events of a thread that has not been created yet count
 * for the thread that creates it.
 *
 * r comes from the profile: the mean of the pilots, less what the thread has done in this walk. If the intended thread
 * cannot go on, it is drawn again from those that stand before the object. */
#include "engine/sampling/sampling.h"

/* Draw the object of this walk; none if no object is shared and changed. */
static void begin(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    const struct mz_profile *p = &s->profile;
    uint32_t count = 0;
    s->surw.interest = MZ_PROFILED;
    s->surw.intended = -1;
    s->surw.started = 0;
    for (int t = 0; t < MZ_MAX_THREADS; t++) s->surw.done[t] = 0;
    for (uint32_t i = 0; i < p->objects; i++)
        if ((p->threads[i] & (p->threads[i] - 1)) && p->written[i] && mz_draw_below(s, ++count) == 0)
            s->surw.interest = i;
}

/* Events on the object that the thread has left, times the number of pilots. Not 0: the thread may have more to do than in
 * any pilot, and every order should be possible. */
static uint64_t left(const struct mz_sampling *s, int thread)
{
    uint64_t all = s->profile.events[s->surw.interest][thread];
    uint64_t done = (uint64_t)s->surw.done[thread] * s->profile.walks;
    return all > done ? all - done : 1;
}

/* The thread of the set that stands for this one: itself, or the one that is to create it. */
static int stands_for(const struct mz_sampling *s, int thread)
{
    while (!(s->surw.started & mz_bit(thread)) && s->profile.parent[thread] != thread)
        thread = s->profile.parent[thread];
    return thread;
}

/* A thread of the set, which is not empty, by what it and those that it is to create have left. */
static int draw_by_weight(struct mz_sampling *s, uint64_t set)
{
    uint64_t weight[MZ_MAX_THREADS] = {0}, sum = 0;
    for (uint64_t t = s->profile.threads[s->surw.interest]; t; t &= t - 1) {
        int own = stands_for(s, __builtin_ctzll(t));
        if (!(set & mz_bit(own))) continue;
        weight[own] += left(s, __builtin_ctzll(t));
        sum += left(s, __builtin_ctzll(t));
    }
    if (!sum) return mz_draw_member(s, set);
    uint64_t n = mz_draw_below(s, sum);
    for (uint64_t t = set; t; t &= t - 1) {
        int thread = __builtin_ctzll(t);
        if (n < weight[thread]) return thread;
        n -= weight[thread];
    }
    return mz_draw_member(s, set);
}

static bool is_before_object(struct mz_exploration *x, int thread)
{
    uint32_t object = x->sampling->profile.object[x->sampling->surw.interest];
    return mz_object_of(&x->trace, mz_pending_of(x, thread)) == object;
}

/* New threads have begun: the events that counted for the intended thread may be those of one of them. */
static void note_threads(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    uint64_t fresh = x->view->alive & ~s->surw.started, family = 0;
    if (!fresh) return;
    s->surw.started |= fresh;
    for (uint64_t t = fresh; t; t &= t - 1)
        if (s->profile.parent[__builtin_ctzll(t)] == s->surw.intended) family |= t & -t;
    if (family) s->surw.intended = draw_by_weight(s, family | mz_bit(s->surw.intended));
}

static int choose(struct mz_exploration *x, uint32_t k)
{
    struct mz_sampling *s = x->sampling;
    uint64_t free = x->nodes[k].enabled, kept_back = 0;
    if (s->surw.interest == MZ_PROFILED) return mz_draw_member(s, free);
    note_threads(x);
    if (s->surw.intended < 0 || !(x->view->alive & mz_bit(s->surw.intended)))
        s->surw.intended = draw_by_weight(s, x->view->alive);
    while (free) {
        int thread = mz_draw_member(s, free);
        if (thread == s->surw.intended || !is_before_object(x, thread)) return thread;
        free &= ~mz_bit(thread);
        kept_back |= mz_bit(thread);
    }
    return s->surw.intended = draw_by_weight(s, kept_back);
}

static void event(struct mz_exploration *x, mz_number n)
{
    struct mz_sampling *s = x->sampling;
    const struct mz_event *e = mz_event_at(&x->trace, n);
    if (s->surw.interest == MZ_PROFILED || e->object != s->profile.object[s->surw.interest]) return;
    s->surw.done[e->thread]++;
    s->surw.intended = -1;
}

const struct mz_sampler mz_sampler_surw = {.learns = true, .begin = begin, .choose = choose, .event = event};
