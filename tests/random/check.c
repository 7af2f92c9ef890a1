/* Compares the engine with the oracle, see check.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "model/system.h"
#include "model/text.h"
#include "shared.h"
#include "shared_states.h"
#include "swap.h"
#include "walks.h"

#define SOME_RUNS 100000 /* more runs than any program within the limits needs */

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
    bool sleep_sets;
    bool all;     /* explores every interleaving */
    bool once;    /* explores no class twice */
    bool optimal; /* is never blocked */
    bool lossy;   /* workers die */
    bool limited; /* memory is limited */
    bool coarse;  /* all accesses to an object are dependent: its happens-before order is not the oracle's */
    bool misses;  /* it is known to miss classes */
    bool persistent;                /* --persistent=static */
    bool marks;                     /* --marks */
    enum mz_strategy_kind strategy; /* not exhaustive: check_sampling.c */
    enum mz_bound bound;            /* check_bounds.c */
} configs[MZ_CONFIG_STATEFUL] = {
    [MZ_CONFIG_NONE] = {"none", MZ_ALG_NONE, false, true, false, false, false},
    [MZ_CONFIG_SLEEP] = {"sleep", MZ_ALG_NONE, true, false, true, false, false},
    [MZ_CONFIG_DPOR_PLAIN] = {"dpor-plain", MZ_ALG_DPOR, false, false, false, false, false},
    [MZ_CONFIG_DPOR] = {"dpor", MZ_ALG_DPOR, true, false, true, false, false},
    [MZ_CONFIG_DPOR_EAGER] = {"dpor-eager", MZ_ALG_DPOR, true, false, true, false, false},
    [MZ_CONFIG_SOURCE] = {"source", MZ_ALG_SOURCE, true, false, true, false, false},
    [MZ_CONFIG_OPTIMAL] = {"optimal", MZ_ALG_OPTIMAL, true, false, true, true, false},
    [MZ_CONFIG_OPTIMAL_SOURCE] = {"optimal-source", MZ_ALG_OPTIMAL, true, false, true, false, false, true},
    [MZ_CONFIG_CLASSIC] = {.name = "classic", .algorithm = MZ_ALG_CLASSIC, .coarse = true},
    [MZ_CONFIG_CLASSIC_SLEEP] = {.name = "classic-sleep",
                                 .algorithm = MZ_ALG_CLASSIC,
                                 .sleep_sets = true,
                                 .coarse = true,
                                 .misses = true},
    [MZ_CONFIG_STATIC] = {.name = "static", .algorithm = MZ_ALG_STATIC},
    [MZ_CONFIG_STATIC_SLEEP] = {.name = "static-sleep",
                                .algorithm = MZ_ALG_STATIC,
                                .sleep_sets = true,
                                .once = true},
    [MZ_CONFIG_DPOR_STATIC] = {.name = "dpor-static", .algorithm = MZ_ALG_DPOR, .persistent = true},
    [MZ_CONFIG_CLASSIC_STATIC] = {.name = "classic-static",
                                  .algorithm = MZ_ALG_CLASSIC,
                                  .coarse = true,
                                  .persistent = true},
    [MZ_CONFIG_DPOR_MARKS] = {.name = "dpor-marks", .algorithm = MZ_ALG_DPOR, .marks = true},
    [MZ_CONFIG_DPOR_STATIC_MARKS] = {.name = "dpor-static-marks",
                                     .algorithm = MZ_ALG_DPOR,
                                     .persistent = true,
                                     .marks = true},
    [MZ_CONFIG_CLASSIC_MARKS] = {.name = "classic-marks",
                                 .algorithm = MZ_ALG_CLASSIC,
                                 .coarse = true,
                                 .marks = true},
    [MZ_CONFIG_PERSISTENT] = {.name = "dpor-persistent", .algorithm = MZ_ALG_DPOR},
    [MZ_CONFIG_LITERAL] = {"literal", MZ_ALG_OPTIMAL, true, false, true, true, false},
    [MZ_CONFIG_RANDOM] = {.name = "random", .strategy = MZ_STRATEGY_RANDOM},
    [MZ_CONFIG_PCT] = {.name = "pct", .strategy = MZ_STRATEGY_PCT},
    [MZ_CONFIG_POS] = {.name = "pos", .strategy = MZ_STRATEGY_POS},
    [MZ_CONFIG_SURW] = {.name = "surw", .strategy = MZ_STRATEGY_SURW},
    [MZ_CONFIG_MIX] = {.name = "mix", .strategy = MZ_STRATEGY_MIX},
    [MZ_CONFIG_PREEMPTIONS] = {.name = "preemptions", .bound = MZ_BOUND_PREEMPTIONS},
    [MZ_CONFIG_DELAYS] = {.name = "delays", .bound = MZ_BOUND_DELAYS},
    [MZ_CONFIG_NONE_SHARED] = {"none-shared", MZ_ALG_NONE, false, true, false, false, false},
    [MZ_CONFIG_SLEEP_SHARED] = {"sleep-shared", MZ_ALG_NONE, true, false, true, false, false},
    [MZ_CONFIG_DPOR_PLAIN_SHARED] = {"dpor-plain-shared", MZ_ALG_DPOR, false, false, false, false, false},
    [MZ_CONFIG_DPOR_SHARED] = {"dpor-shared", MZ_ALG_DPOR, true, false, true, false, false},
    [MZ_CONFIG_SOURCE_SHARED] = {"source-shared", MZ_ALG_SOURCE, true, false, true, false, false},
    [MZ_CONFIG_SOURCE_LOST] = {"source-lost", MZ_ALG_SOURCE, true, false, false, false, true},
    [MZ_CONFIG_OPTIMAL_SHARED] = {"optimal-shared", MZ_ALG_OPTIMAL, true, false, true, true, false},
    [MZ_CONFIG_RANDOM_SHARED] = {.name = "random-shared", .strategy = MZ_STRATEGY_RANDOM},
    [MZ_CONFIG_SURW_SHARED] = {.name = "surw-shared", .strategy = MZ_STRATEGY_SURW},
    [MZ_CONFIG_PREEMPTIONS_SHARED] = {.name = "preemptions-shared", .bound = MZ_BOUND_PREEMPTIONS},
    [MZ_CONFIG_DELAYS_SHARED] = {.name = "delays-shared", .bound = MZ_BOUND_DELAYS},
    [MZ_CONFIG_OPTIMAL_LOST] = {"optimal-lost", MZ_ALG_OPTIMAL, true, false, false, true, true},
};

const char *mz_config_name(enum mz_config config)
{
    if (config >= MZ_CONFIGS) return "oracle";
    return config < MZ_CONFIG_STATEFUL ? configs[config].name : mz_stateful_name(config);
}

bool mz_differ(struct mz_checker *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
    return false;
}

/* One execution of the engine. */

static bool legal(struct mz_replay *r, const struct mz_model_execution *e, uint32_t i)
{
    struct mz_step step = e->steps[i];
    if (step.thread < r->machine.m->thread_count && step.choice < 32 &&
        mz_machine_choices(&r->machine, &r->state, step.thread) & 1u << step.choice)
        return true;
    return mz_differ(r->c, "step %u (thread %d, choice %d) is not possible", i + 1, step.thread, step.choice);
}

bool mz_replay_steps(struct mz_replay *r, const struct mz_model_execution *e)
{
    mz_machine_start(&r->machine, &r->state);
    for (uint32_t i = 0; i < e->length; i++) {
        if (!legal(r, e, i)) return false;
        mz_machine_step(&r->machine, &r->state, e->steps[i].thread, e->steps[i].choice);
        r->clocks[i] = r->state.last;
    }
    for (int t = 0; t < r->machine.m->thread_count; t++)
        if (mz_machine_choices(&r->machine, &r->state, t))
            return mz_differ(r->c, "an execution ends though thread %d is enabled", t);
    return true;
}

static unsigned lane(mz_lanes clock, int thread) { return clock >> 8 * thread & 0xff; }

static bool same_order(struct mz_replay *r, const struct mz_model_execution *e)
{
    for (uint32_t j = 0; j < e->length; j++)
        for (uint32_t i = 0; i < j; i++) {
            int t = e->steps[i].thread;
            bool before = lane(r->clocks[j], t) >= lane(r->clocks[i], t);
            if (mz_explore_happens_before(e->exploration, i, j) == before) continue;
            return mz_differ(
                r->c, "event %u (thread %d) happens %sbefore event %u (thread %d), the engine says %s", i + 1,
                t, before ? "" : "not ", j + 1, e->steps[j].thread, before ? "no" : "yes");
        }
    return true;
}

static bool same_steps(struct mz_replay *r, const struct mz_model_execution *e)
{
    const struct mz_step *steps;
    uint32_t length = mz_explore_steps(e->exploration, &steps);
    if (length == e->length && memcmp(steps, e->steps, length * sizeof *steps) == 0) return true;
    return mz_differ(r->c, "mz_explore_steps() is not what was executed");
}

static bool visit(void *arg, const struct mz_model_execution *e)
{
    struct mz_replay *r = arg;
    struct mz_checker *c = r->c;
    struct mz_model_outcome outcome;
    bool added;
    if (!mz_replay_steps(r, e) || !same_steps(r, e)) return false;
    if (c->limits.order && !configs[c->config].coarse && !same_order(r, e)) return false;
    mz_machine_outcome(&r->machine, &r->state, &outcome);
    if (memcmp(&outcome, &e->outcome, sizeof outcome) != 0)
        return mz_differ(c, "the model's two interpreters disagree about an outcome");
    mz_set_add(&c->sequences, mz_hash_bytes(e->steps, e->length * (uint32_t)sizeof *e->steps), &added);
    if (!added && configs[c->config].once) return mz_differ(c, "the same interleaving is explored twice");
    uint32_t classes = c->engine.classes.count;
    mz_findings_add(&c->engine, r->state.form, &outcome);
    if (configs[c->config].once && classes == c->engine.classes.count)
        return mz_differ(c, "two equivalent executions are explored");
    return true;
}

/* The engine starts over, because it has met an atomic section, or has learned what a thread may do: forget what it has
 * explored. */
static void start_over(void *arg, bool sections)
{
    struct mz_replay *r = arg;
    r->machine.sections = sections;
    mz_findings_clear(&r->c->engine);
    mz_set_clear(&r->c->sequences);
}

/* One algorithm. */

static bool same_totals(struct mz_checker *c, const struct mz_model_report *report)
{
    const struct mz_findings *oracle = &c->oracle.found, *engine = &c->engine;
    if (report->counters.executions != report->complete || report->counters.blocked != report->asleep)
        return mz_differ(
            c, "counted %" PRIu64 " executions, %" PRIu64 " blocked; there were %" PRIu64 " and %" PRIu64,
            report->counters.executions, report->counters.blocked, report->complete, report->asleep);
    if (configs[c->config].misses) return true;
    if (engine->classes.count != oracle->classes.count)
        return mz_differ(c, "%u classes explored, there are %u", engine->classes.count,
                         oracle->classes.count);
    const char *difference = mz_findings_differ(engine, oracle);
    if (difference) return mz_differ(c, "%s", difference);
    if (configs[c->config].all && report->complete != c->oracle.interleavings)
        return mz_differ(c, "%" PRIu64 " interleavings explored, there are %" PRIu64, report->complete,
                         c->oracle.interleavings);
    if (configs[c->config].optimal && report->complete != engine->classes.count)
        return mz_differ(c, "%u classes in %" PRIu64 " executions", engine->classes.count, report->complete);
    if (c->config >= MZ_CONFIG_SHARED && configs[c->config].sleep_sets &&
        report->complete != engine->classes.count)
        return mz_differ(c, "%" PRIu64 " executions counted for %u classes", report->complete,
                         engine->classes.count);
    if (configs[c->config].optimal && report->asleep)
        return mz_differ(c, "%" PRIu64 " executions blocked", report->asleep);
    return true;
}

/* Returns true also if the algorithm explores too much to be finished. */
static bool check_config(struct mz_checker *c, const struct mz_model *m)
{
    struct mz_replay r = {.c = c};
    bool shared = c->config >= MZ_CONFIG_SHARED,
         reduces = configs[c->config].once || (shared && configs[c->config].sleep_sets);
    struct mz_model_run run = {
        .max_runs = reduces ? SOME_RUNS : c->limits.interleavings,
        .visit = visit,
        .start_over = start_over,
        .arg = &r,
        .asks = mz_check_asks(c),
    };
    struct mz_model_report report;
    mz_machine_init(&r.machine, m, false); /* the engine does not know yet whether there are sections */
    mz_findings_clear(&c->engine);
    mz_set_clear(&c->sequences);
    struct mz_model_explorer **explorer = &c->explorers[c->config];
    struct mz_model_settings settings = {.algorithm = configs[c->config].algorithm,
                                         .eager = c->config == MZ_CONFIG_DPOR_EAGER,
                                         .sleep_sets = configs[c->config].sleep_sets,
                                         .persistent = configs[c->config].persistent,
                                         .marks = configs[c->config].marks,
                                         .limited = configs[c->config].limited};
    if (shared) {
        struct mz_shared **s = &c->shared[c->config];
        if (!*s) *s = mz_shared_new(&settings, configs[c->config].lossy);
        mz_shared_set_order(*s, mz_check_order(c), c->shared_seed);
        mz_shared_explore(*s, m, &run, &report, c->shared_seed);
    } else {
        if (!*explorer) *explorer = mz_model_explorer_new(&settings);
        mz_model_set_order(*explorer, mz_check_order(c), c->shared_seed);
        mz_model_explore(*explorer, m, &run, &report);
    }
    switch (report.verdict) {
    case MZ_MODEL_EXPLORED:
        break;
    case MZ_MODEL_STOPPED:
        return false;
    case MZ_MODEL_TOO_MANY:
        return !reduces || mz_differ(c, "more than %d runs", SOME_RUNS);
    case MZ_MODEL_STEP_LIMIT:
        return mz_differ(c, "the engine speaks of a step limit");
    case MZ_MODEL_ILLEGAL:
        return mz_differ(c, "the engine asks for a step that is not enabled");
    case MZ_MODEL_WRONG_ENDING:
        return mz_differ(c, "the engine is wrong about why an execution ends");
    }
    if (r.machine.sections != c->oracle.sections) return mz_differ(c, "the engine is wrong about sections");
    c->counts[c->config] =
        (struct mz_run_counts){.programs = 1, .executions = report.complete, .blocked = report.asleep};
    return same_totals(c, &report);
}

/* The oracle's methods. */

static bool check_swaps(struct mz_checker *c, const struct mz_model *m)
{
    uint32_t classes;
    if (c->oracle.interleavings > c->limits.swaps) return true;
    switch (mz_swap_classes(m, c->oracle.sections, (uint32_t)c->limits.swaps, &classes)) {
    case MZ_SWAP_TOO_LARGE:
        return true;
    case MZ_SWAP_WRONG:
        return mz_differ(c, "independent steps do not commute");
    case MZ_SWAP_DONE:
        break;
    }
    return classes == c->oracle.found.classes.count ||
           mz_differ(c, "%u classes by swaps, %u by canonical forms", classes, c->oracle.found.classes.count);
}

static bool check_plainly(struct mz_checker *c, const struct mz_model *m)
{
    if (c->oracle.interleavings > c->limits.interleavings) return true;
    if (!mz_oracle_plain(m, c->oracle.sections, c->oracle.interleavings, &c->plain) ||
        c->plain.executions != c->oracle.interleavings)
        return mz_differ(c, "%" PRIu64 " interleavings by prefixes, %" PRIu64 " plainly",
                         c->oracle.interleavings, c->plain.executions);
    const char *difference = mz_findings_differ(&c->plain, &c->oracle.found);
    return !difference || mz_differ(c, "by prefixes and plainly: %s", difference);
}

/* Checks that the printed text of a model is read as the same model. */
static bool check_text(struct mz_checker *c, const struct mz_model *m)
{
    char text[MZ_MODEL_TEXT], again[MZ_MODEL_TEXT], error[128];
    struct mz_model parsed;
    size_t length = mz_model_print(m, text, sizeof text);
    if (length >= sizeof text) return mz_differ(c, "the text of a model is too long");
    if (mz_model_parse(text, &parsed, error, sizeof error))
        return mz_differ(c, "the text of a model: %s", error);
    mz_model_print(&parsed, again, sizeof again);
    return strcmp(text, again) == 0 || mz_differ(c, "the text of a model is read as another model");
}

enum mz_answer mz_check_oracle(struct mz_checker *c, const struct mz_model *m)
{
    c->text[0] = '\0';
    memset(c->counts, 0, sizeof c->counts);
    c->config = MZ_CONFIG_ORACLE;
    c->oracle.max_prefixes = c->limits.prefixes;
    c->loops = mz_model_loops(m);
    if (c->loops) return check_text(c, m) ? mz_check_states_oracle(c, m) : MZ_DIFFERENT;
    switch (mz_oracle_run(&c->oracle, m)) {
    case MZ_ORACLE_DONE:
        break;
    case MZ_ORACLE_TOO_LARGE:
        return MZ_TOO_LARGE;
    case MZ_ORACLE_SECTIONS:
    case MZ_ORACLE_INCONSISTENT:
        mz_differ(c, "equivalent prefixes lead to different states");
        return MZ_DIFFERENT;
    }
    if (c->oracle.found.executions != c->oracle.found.classes.count) {
        mz_differ(c, "a class was reached twice by prefixes");
        return MZ_DIFFERENT;
    }
    if (!check_text(c, m) || !check_plainly(c, m) || !check_swaps(c, m)) return MZ_DIFFERENT;
    return mz_check_states_oracle(c, m);
}

static bool check_one(struct mz_checker *c, const struct mz_model *m)
{
    if (c->config >= MZ_CONFIG_STATEFUL) return mz_check_stateful(c, m);
    if (configs[c->config].bound) return mz_check_bounds(c, m, configs[c->config].bound);
    if (configs[c->config].strategy) return mz_check_sampling(c, m, configs[c->config].strategy);
    if (c->config == MZ_CONFIG_PERSISTENT) return mz_check_persistent(c, m);
    return c->config == MZ_CONFIG_LITERAL ? mz_check_literal(c, m) : check_config(c, m);
}

enum mz_answer mz_check_engine(struct mz_checker *c, const struct mz_model *m)
{
    for (int i = 0; i < MZ_CONFIGS; i++) {
        if (!(c->limits.configs & mz_config_bit(i))) continue;
        bool stateful = i >= MZ_CONFIG_STATEFUL;
        if (c->loops && !stateful) continue;
        if (!stateful && configs[i].all && c->oracle.interleavings > c->limits.interleavings) continue;
        c->config = (enum mz_config)i;
        if (!check_one(c, m)) return MZ_DIFFERENT;
    }
    return MZ_SAME;
}

enum mz_answer mz_check(struct mz_checker *c, const struct mz_model *m)
{
    enum mz_answer answer = mz_check_oracle(c, m);
    return answer == MZ_SAME ? mz_check_engine(c, m) : answer;
}

void mz_checker_free(struct mz_checker *c)
{
    mz_oracle_free(&c->oracle);
    mz_findings_free(&c->engine);
    mz_findings_free(&c->plain);
    mz_set_free(&c->sequences);
    mz_set_free(&c->literal);
    mz_reached_free(&c->all);
    mz_reached_free(&c->reached);
    for (int i = 0; i < MZ_CONFIGS; i++) {
        mz_model_explorer_free(c->explorers[i]);
        mz_shared_free(c->shared[i]);
        mz_sharing_free(c->sharing[i]);
    }
}
