/* Steps that are possible at a node: for strategies, reductions and frontiers. */
#include <string.h>
#include "engine/exploration.h"

struct mz_step mz_nobody(struct mz_exploration *x, enum mz_ending ending)
{
    x->ending = ending;
    return (struct mz_step){.thread = MZ_NOBODY};
}

/* The choices of the pending operation of a thread. */
static inline uint64_t choices_of(const struct mz_exploration *x, int thread)
{
    return mz_likely(!x->options.memory) ? x->view->pending[thread].choices : mz_source_choices(x, thread);
}

bool mz_choose(struct mz_exploration *x, uint32_t k, struct mz_step *step)
{
    uint64_t choices = choices_of(x, step->thread);
    if (x->nodes[k].asleep & mz_bit(step->thread)) choices &= ~mz_sleep_choices(x, k, step->thread);
    if (!choices) return false;
    step->choice = (uint8_t)__builtin_ctzll(choices);
    x->nodes[k].choices = choices & (choices - 1);
    return true;
}

/* ---- options.order ---- */

#define RECENT 8 /* steps that --order=random looks at */

/* A random number for node k. It depends only on the seed and on the steps just before: so a search that is run again, by
 * another worker or from a checkpoint, takes the same steps. */
static uint64_t random_at(const struct mz_exploration *x, uint32_t k)
{
    uint64_t z = x->options.order_seed + k * 0x9e3779b97f4a7c15u;
    for (uint32_t i = k > RECENT ? k - RECENT : 0; i <= k; i++) {
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        if (i < k) z ^= x->path.steps[i].thread + 64u * x->path.steps[i].choice;
    }
    return z ^ z >> 31;
}

static int lowest_of(uint64_t threads) { return __builtin_ctzll(threads); }

/* The first of the threads after this one, from the lowest number on if there is none. */
static int next_of(uint64_t threads, int thread)
{
    uint64_t after = thread < 0 ? threads : threads & ~(mz_bit(thread) | (mz_bit(thread) - 1));
    return lowest_of(after ? after : threads);
}

static int first_by_name(const struct mz_exploration *x, uint64_t threads)
{
    int first = lowest_of(threads);
    if (!x->options.thread_name) return first;
    for (uint64_t t = threads & (threads - 1); t; t &= t - 1) {
        int other = lowest_of(t);
        const char *a = x->options.thread_name(x->options.system, first);
        if (strcmp(x->options.thread_name(x->options.system, other), a) < 0) first = other;
    }
    return first;
}

int mz_pick_thread(const struct mz_exploration *x, uint32_t k, uint64_t threads, int last)
{
    switch (x->options.order) {
    case MZ_ORDER_NAMES:
        return first_by_name(x, threads);
    case MZ_ORDER_ROUND_ROBIN:
        return next_of(threads, last);
    case MZ_ORDER_DESCENDING:
        return 63 - __builtin_clzll(threads);
    case MZ_ORDER_RANDOM:
        for (uint64_t n = random_at(x, k) % (uint64_t)__builtin_popcountll(threads); n; n--)
            threads &= threads - 1;
        return lowest_of(threads);
    default:
        return lowest_of(threads);
    }
}

struct mz_step mz_default_step_of(struct mz_exploration *x, uint32_t k, uint64_t enabled)
{
    struct mz_step step = {.thread = MZ_NOBODY};
    bool again = x->options.order <= MZ_ORDER_NAMES && x->last_thread >= 0;
    if (mz_likely(again) && (enabled & mz_bit(x->last_thread))) {
        step.thread = (uint8_t)x->last_thread;
        if (mz_choose(x, k, &step)) return step;
    }
    for (; enabled; enabled &= ~mz_bit(step.thread)) {
        step.thread = (uint8_t)mz_pick_thread(x, k, enabled, x->last_thread);
        if (mz_choose(x, k, &step)) return step;
    }
    return (struct mz_step){.thread = MZ_NOBODY};
}

struct mz_step mz_default_step(struct mz_exploration *x, uint32_t k)
{
    return mz_default_step_of(x, k, x->nodes[k].enabled);
}

struct mz_step mz_scheduled_step(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = x->options.schedule[k];
    bool fits = step.thread < MZ_MAX_THREADS && (x->nodes[k].enabled & mz_bit(step.thread)) &&
                step.choice < 64 && (choices_of(x, step.thread) & mz_bit(step.choice));
    uint32_t source = step.source;
    step.source = MZ_SOURCE_NEWEST;
    if (fits && x->options.memory) mz_source_serve(x, &step);
    if (!fits || step.source != source) return mz_nobody(x, MZ_ENDING_DIVERGED);
    x->nodes[k + 1].wakeup = 0;
    return step;
}

struct mz_step mz_unforeseen(struct mz_exploration *x)
{
    MZ_ASSERT(!x->options.deterministic);
    x->diverged = true;
    return (struct mz_step){.thread = MZ_NOBODY};
}
