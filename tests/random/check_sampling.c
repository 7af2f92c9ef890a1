/* The sampling strategies against the oracle. Every walk is a real execution: the oracle's interpreter can do its steps,
 * ends in the same outcome, and its class is one of those that the oracle knows. The engine's hash of the class is the same
 * for two walks if and only if the oracle's canonical form is. The engine counts classes as we do. In a model with few
 * interleavings, random, pos and mix meet every class. */
#include <inttypes.h>
#include <string.h>
#include "check.h"
#include "model/system.h"
#include "shared.h"
#include "walks.h"

#define WALKS 60    /* of each strategy */
#define MANY  20000 /* where every class must be met: */
#define SMALL 8     /* interleavings; none of them is less likely than 2^-7 */

struct sampled {
    struct mz_replay replay;
    struct mz_set forms,
        hashes; /* classes: by the oracle's form, by the engine's hash; each slot has the other one */
    uint64_t walks;
};

static bool same_class(struct sampled *s, const struct mz_model_execution *e)
{
    struct mz_checker *c = s->replay.c;
    struct mz_class_words class = mz_explore_class(e->exploration);
    struct mz_hash form = s->replay.state.form, hash = {class.word[0], class.word[1]};
    bool is_new_form, is_new_hash;
    struct mz_slot *slot = mz_set_add(&s->forms, form, &is_new_form);
    if (is_new_form) slot->value = hash.a, slot->check = hash.b;
    if (slot->value != hash.a || slot->check != hash.b)
        return mz_differ(c, "equivalent executions have different hashes");
    slot = mz_set_add(&s->hashes, hash, &is_new_hash);
    if (is_new_form != is_new_hash) return mz_differ(c, "executions that are not equivalent have one hash");
    return true;
}

static bool visit(void *arg, const struct mz_model_execution *e)
{
    struct sampled *s = arg;
    struct mz_checker *c = s->replay.c;
    struct mz_model_outcome outcome;
    s->walks++;
    if (!mz_replay_steps(&s->replay, e)) return false;
    mz_machine_outcome(&s->replay.machine, &s->replay.state, &outcome);
    if (memcmp(&outcome, &e->outcome, sizeof outcome) != 0)
        return mz_differ(c, "the model's two interpreters disagree about an outcome");
    /* As long as no walk has met a section, the engine's relation is another one than the oracle's. */
    if (s->replay.machine.sections == c->oracle.sections &&
        !mz_set_has(&c->oracle.found.classes, s->replay.state.form))
        return mz_differ(c, "a walk is of a class that does not exist");
    return same_class(s, e);
}

static void start_over(void *arg, bool sections)
{
    struct sampled *s = arg;
    s->replay.machine.sections = sections;
    mz_set_clear(&s->forms);
    mz_set_clear(&s->hashes);
    s->walks = 0;
}

static bool meets_all(enum mz_strategy_kind strategy)
{
    return strategy == MZ_STRATEGY_RANDOM || strategy == MZ_STRATEGY_POS || strategy == MZ_STRATEGY_MIX;
}

static bool enough(const struct sampled *s, enum mz_strategy_kind strategy)
{
    const struct mz_checker *c = s->replay.c;
    bool all = meets_all(strategy) && c->oracle.interleavings <= SMALL;
    return s->walks >= (all ? MANY : WALKS) || (all && s->forms.count == c->oracle.found.classes.count);
}

static bool same_numbers(struct sampled *s, const struct mz_sample *sample, enum mz_strategy_kind strategy)
{
    struct mz_checker *c = s->replay.c;
    if (sample->walks != s->walks || sample->classes != s->forms.count)
        return mz_differ(c,
                         "%" PRIu64 " walks and %" PRIu64 " classes counted; there were %" PRIu64 " and %u",
                         sample->walks, sample->classes, s->walks, s->forms.count);
    if (meets_all(strategy) && c->oracle.interleavings <= SMALL &&
        s->forms.count != c->oracle.found.classes.count)
        return mz_differ(c, "only %u of %u classes are met in %d walks", s->forms.count,
                         c->oracle.found.classes.count, MANY);
    return true;
}

/* Walks by several workers, which are interrupted and go on from a checkpoint. */
static bool check_shared(struct sampled *s, const struct mz_model *m,
                         const struct mz_model_settings *settings, const struct mz_model_run *run)
{
    struct mz_checker *c = s->replay.c;
    struct mz_model_report report;
    struct mz_sample sample;
    struct mz_shared **shared = &c->shared[c->config];
    if (!*shared) *shared = mz_shared_new(settings, false);
    mz_shared_sample(*shared, m, run, &report, c->shared_seed, &sample);
    c->counts[c->config] = (struct mz_run_counts){.programs = 1, .executions = s->walks};
    if (report.verdict == MZ_MODEL_STOPPED) return false;
    if (report.verdict != MZ_MODEL_EXPLORED)
        return mz_differ(c, "a walk ends with verdict %d", report.verdict);
    if (sample.walks == s->walks && report.complete == s->walks && sample.classes == s->forms.count)
        return true;
    return mz_differ(c,
                     "%" PRIu64 " walks, %" PRIu64 " executions and %" PRIu64
                     " classes counted; there were %" PRIu64 " walks and %u classes",
                     sample.walks, report.complete, sample.classes, s->walks, s->forms.count);
}

static bool check_alone(struct sampled *s, const struct mz_model *m, const struct mz_model_settings *settings,
                        const struct mz_model_run *run)
{
    struct mz_checker *c = s->replay.c;
    struct mz_model_report report = {0};
    struct mz_model_explorer **explorer = &c->explorers[c->config];
    bool good = true;
    if (!*explorer) *explorer = mz_model_explorer_new(settings);
    struct mz_exploration *x = mz_model_begin(*explorer, m);
    mz_explore_set_seed(x, c->shared_seed);
    while (good && !enough(s, settings->strategy)) {
        mz_model_next(*explorer, run, &report);
        good = report.verdict == MZ_MODEL_EXPLORED;
        if (!good && report.verdict != MZ_MODEL_STOPPED)
            mz_differ(c, "a walk ends with verdict %d", report.verdict);
    }
    good = good && same_numbers(s, mz_explore_sample(x), settings->strategy);
    c->counts[c->config] = (struct mz_run_counts){.programs = 1, .executions = s->walks};
    mz_model_end(*explorer, &report);
    return good;
}

bool mz_check_sampling(struct mz_checker *c, const struct mz_model *m, enum mz_strategy_kind strategy)
{
    static struct sampled s; /* the sets keep their memory */
    struct mz_model_run run = {.visit = visit, .start_over = start_over, .arg = &s};
    struct mz_model_settings settings = {.algorithm = MZ_ALG_NONE,
                                         .strategy = strategy,
                                         .strategy_depth = strategy == MZ_STRATEGY_PCT ? MZ_PCT_DEPTH : 0};
    s.replay.c = c;
    mz_machine_init(&s.replay.machine, m, false);
    start_over(&s, false);
    bool shared = c->config >= MZ_CONFIG_SHARED;
    return shared ? check_shared(&s, m, &settings, &run) : check_alone(&s, m, &settings, &run);
}
