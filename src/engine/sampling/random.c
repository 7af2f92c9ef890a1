/* random: uniform over the enabled threads, at each step. */
#include "engine/sampling/sampling.h"

static int choose(struct mz_exploration *x, uint32_t k)
{
    return mz_draw_member(x->sampling, x->nodes[k].enabled);
}

const struct mz_sampler mz_sampler_random = {.choose = choose};
