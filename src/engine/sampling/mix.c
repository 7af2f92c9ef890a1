/* mix: for each walk one of the other samplers, drawn with a weight. The weight of a sampler is the share of its walks that
 * have met a new class of late, and at least a tenth of the largest weight. Half of what it is based on is forgotten
 * every TERM walks.
 *
 * The walks are not drawn from one distribution, and which one depends on the walks before. So the rule of three does not
 * hold for all of them together. */
#include "engine/sampling/sampling.h"

#define TERM  512u
#define LEAST .1 /* of the largest weight */

static const struct {
    const struct mz_sampler *sampler;
    unsigned depth;
} members[MZ_MIX_MEMBERS] = {{&mz_sampler_random, 0},
                             {&mz_sampler_pct, 2},
                             {&mz_sampler_pct, 3},
                             {&mz_sampler_pos, 0},
                             {&mz_sampler_surw, 0}};

static unsigned draw_member(struct mz_sampling *s)
{
    double weight[MZ_MIX_MEMBERS], most = 0, sum = 0;
    for (unsigned i = 0; i < MZ_MIX_MEMBERS; i++) {
        weight[i] = (s->mix.classes[i] + 1) / (s->mix.walks[i] + 1);
        if (weight[i] > most) most = weight[i];
    }
    for (unsigned i = 0; i < MZ_MIX_MEMBERS; i++) {
        if (weight[i] < LEAST * most) weight[i] = LEAST * most;
        sum += weight[i];
    }
    double at = sum * (double)(mz_draw(s) >> 11) * 0x1p-53;
    for (unsigned i = 0; i + 1 < MZ_MIX_MEMBERS; i++)
        if ((at -= weight[i]) < 0) return i;
    return MZ_MIX_MEMBERS - 1;
}

static void begin(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    if (s->mix.turns++ % TERM == TERM - 1)
        for (unsigned i = 0; i < MZ_MIX_MEMBERS; i++) s->mix.walks[i] /= 2, s->mix.classes[i] /= 2;
    s->mix.member = draw_member(s);
    s->pct.depth = members[s->mix.member].depth;
    s->now = members[s->mix.member].sampler;
    if (s->now->begin) s->now->begin(x);
}

static void end(struct mz_exploration *x, bool is_new_class)
{
    struct mz_sampling *s = x->sampling;
    s->mix.walks[s->mix.member]++;
    s->mix.classes[s->mix.member] += is_new_class;
    s->sample.by[s->mix.member].walks++;
    s->sample.by[s->mix.member].classes += is_new_class;
    if (s->now->end) s->now->end(x, is_new_class);
}

const struct mz_sampler mz_sampler_mix = {.learns = true, .begin = begin, .end = end};
