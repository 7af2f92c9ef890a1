/* The strategy that samples: see sampling.h.
 *
 * A walk begins at the first choice of an execution. At each node with several enabled threads the sampler draws one of
 * them; if the operation has several choices, one of these is drawn uniformly. When the execution has ended, its class is
 * counted, and all is taken back. There is always another walk: a limit ends the search.
 *
 * Not every walk is a complete execution: a walk may be part of another execution (mz_explore_cut), or reach the step
 * limit. It counts as a walk, and as `cut`, and has no class.
 *
 * If operations turn out to be dependent that were independent so far (trace.outdated), the classes met are void, and the
 * numbers start over. Findings stay.
 *
 * In a shared sample (options.share) there is always another walk of the task, until it has been done. */
#include "engine/sampling/sampling.h"
#include "base/region.h"
#include "engine/frontier.h"
#include "engine/strategy.h"

static const struct mz_sampler *const samplers[MZ_STRATEGY_COUNT] = {
#define STRATEGY(constant, name, sampler, repeats) &mz_sampler_##sampler,
#define mz_sampler_exhaustive                      mz_sampler_random /* never sampled */
#include "event/strategy.def"
#undef mz_sampler_exhaustive
#undef STRATEGY
};

/* ---- beginning and end of a search ---- */

void mz_sampling_init(struct mz_exploration *x)
{
    const struct mz_explore_options *o = &x->options;
    struct mz_sampling *s = x->sampling = mz_region_reserve(sizeof *s);
    MZ_ASSERT(s != NULL);
    s->sampler = samplers[o->strategy];
    s->repeats = mz_strategy_repeats(o->strategy);
    s->pct.depth = o->strategy_depth;
    s->sample.seed = o->seed;
    s->hash.thread_name = o->thread_name;
    s->hash.system = o->system;
    mz_class_hash_init(&s->hash, x->trace.capacity);
    mz_class_set_init(&s->set, MZ_MOST_CLASSES);
}

void mz_sampling_release(struct mz_exploration *x)
{
    mz_class_hash_release(&x->sampling->hash);
    mz_class_set_release(&x->sampling->set);
    mz_region_free(x->sampling, sizeof *x->sampling);
}

void mz_sampling_clear(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    mz_class_set_clear(&s->set);
    s->sample = (struct mz_sample){.seed = s->sample.seed};
    s->profile = (struct mz_profile){0};
    s->mix = (struct mz_mix){0};
    s->begun = false;
    s->met_count = 0;
}

const struct mz_sample *mz_explore_sample(const struct mz_exploration *x)
{
    return x->sampling ? &x->sampling->sample : NULL;
}

struct mz_class_words mz_explore_class(const struct mz_exploration *x)
{
    const struct mz_class *c = &x->sampling->hash.forms[x->path.depth];
    return (struct mz_class_words){{c->a, c->b}};
}

void mz_explore_set_seed(struct mz_exploration *x, uint64_t seed)
{
    x->sampling->sample.seed = x->options.seed = seed;
    x->sampling->number = 0;
}

/* ---- a walk ---- */

static bool is_pilot(const struct mz_sampling *s)
{
    return s->sampler->learns && s->profile.walks < MZ_PILOTS;
}

static void begin_walk(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    s->begun = true;
    s->random = mz_draw_mix(mz_draw_mix(s->sample.seed) ^ (s->number + 1) * 0x9e3779b97f4a7c15u);
    s->number++;
    s->now = is_pilot(s) ? &mz_sampler_random : s->sampler;
    if (s->now->begin) s->now->begin(x);
}

static uint8_t draw_choice(struct mz_exploration *x, int thread)
{
    uint64_t choices = x->view->pending[thread].choices;
    return (uint8_t)(choices & (choices - 1) ? mz_draw_member(x->sampling, choices)
                                             : __builtin_ctzll(choices));
}

static struct mz_step choose(struct mz_exploration *x, uint32_t k)
{
    struct mz_sampling *s = x->sampling;
    uint64_t enabled = x->nodes[k].enabled;
    if (!s->begun) begin_walk(x);
    if (!enabled) return mz_nobody(x, MZ_ENDING_MAXIMAL);
    int thread = enabled & (enabled - 1) ? s->now->choose(x, k) : __builtin_ctzll(enabled);
    return (struct mz_step){.thread = (uint8_t)thread, .choice = draw_choice(x, thread)};
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    struct mz_sampling *s = x->sampling;
    MZ_ASSERT(!races);
    if (!n) return;
    mz_class_hash_event(&s->hash, &x->trace, n);
    if (s->now->event) s->now->event(x, n);
    if (mz_unlikely(is_pilot(s))) mz_profile_event(x, n);
}

/* ---- the end of a walk ---- */

static uint32_t threads_of(const struct mz_exploration *x)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < x->trace.lanes; t++) count += x->trace.thread_event_count[t] != 0;
    return count;
}

static void note_sizes(struct mz_exploration *x)
{
    struct mz_sample *sample = &x->sampling->sample;
    uint32_t threads = threads_of(x);
    if (threads > sample->threads) sample->threads = threads;
    if (x->path.depth > sample->steps) sample->steps = x->path.depth;
}

/* The class of the walk that has ended; NULL: it was cut. */
static const struct mz_class *class_of(const struct mz_exploration *x)
{
    if (x->ending != MZ_ENDING_MAXIMAL || x->cut) return NULL;
    return &x->sampling->hash.forms[x->path.depth];
}

static bool count_class(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    if (!class_of(x)) return false;
    bool is_new = mz_class_set_add(&s->set, *class_of(x), 1);
    s->sample.complete = s->set.met;
    s->sample.classes = mz_class_set_count(&s->set);
    s->sample.once = s->set.once;
    s->sample.twice = s->set.twice;
    s->sample.shift = s->set.shift;
    return is_new;
}

static void count_walk(struct mz_exploration *x)
{
    struct mz_sampling *s = x->sampling;
    bool was_pilot = is_pilot(s), is_new = count_class(x);
    note_sizes(x);
    s->sample.walks++;
    s->sample.alike += s->repeats && !was_pilot;
    if (was_pilot)
        mz_profile_end(x);
    else if (s->sampler->end)
        s->sampler->end(x, is_new);
}

void mz_sampling_abandon(struct mz_exploration *x) { x->sampling->sample.walks++; }

static bool end(struct mz_exploration *x)
{
    if (x->ending == MZ_ENDING_STEP_LIMIT && !x->trace.outdated) {
        x->ending = MZ_ENDING_MAXIMAL;
        x->cut = true;
    }
    mz_count_execution(x);
    if (x->trace.outdated) {
        mz_start_over(x);
        if (x->frontier->restarted) x->frontier->restarted(x);
        return true;
    }
    if (mz_is_cut_short(x)) return false;
    count_walk(x);
    bool more = !x->share || mz_sampling_goes_on(x, class_of(x));
    x->sampling->begun = false;
    mz_rewind_all(x);
    return more;
}

const struct mz_strategy mz_strategy_sampling = {.choose = choose, .event = event, .end = end};
