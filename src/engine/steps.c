/* Steps that are possible at a node: for strategies, reductions and frontiers. */
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

struct mz_step mz_default_step_of(struct mz_exploration *x, uint32_t k, uint64_t enabled)
{
    struct mz_step step = {.thread = MZ_NOBODY};
    if (x->last_thread >= 0 && (enabled & mz_bit(x->last_thread))) {
        step.thread = (uint8_t)x->last_thread;
        if (mz_choose(x, k, &step)) return step;
    }
    for (; enabled; enabled &= enabled - 1) {
        step.thread = (uint8_t)__builtin_ctzll(enabled);
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
