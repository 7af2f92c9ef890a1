/* Compares the engine's `optimal` with the algorithm of the paper (literal.c), see check.h.
 *
 * Both explore exactly one execution of each class. They may choose different executions, in a different
 * order: the paper inserts whole sequences into wakeup trees, and the engine only the steps that matter. So
 * the classes must be the same, and after every execution, every tree of the engine must satisfy the
 * conditions of the paper (engine_trees.h). */
#include <inttypes.h>
#include <string.h>
#include "check.h"
#include "engine_trees.h"
#include "literal.h"
#include "model/system.h"

struct both {
    struct mz_checker *c;
    struct mz_machine machine;
    struct mz_engine_trees *trees;
    bool ended;     /* a complete execution has just ended */
    uint64_t races; /* in the engine's executions, by the paper's definitions */
    uint64_t near, far;
    const char *wrong;
};

/* ---- the engine's executions ---- */

static bool visit_engine(void *arg, const struct mz_model_execution *e)
{
    struct both *b = arg;
    struct mz_machine_state s;
    bool added;
    mz_machine_start(&b->machine, &s);
    for (uint32_t i = 0; i < e->length; i++)
        mz_machine_step(&b->machine, &s, e->steps[i].thread, e->steps[i].choice);
    mz_set_add(&b->c->sequences, s.form, &added);
    b->ended = mz_engine_trees_before(b->trees, &b->machine, e->exploration);
    if (!b->ended) return mz_differ(b->c, "an execution is too long");
    mz_engine_trees_count(e->exploration, &b->near, &b->far);
    return added || mz_differ(b->c, "two equivalent executions are explored");
}

static void start_over(void *arg, bool sections)
{
    struct both *b = arg;
    b->machine.sections = sections;
    b->ended = false;
    mz_set_clear(&b->c->sequences);
}

/* Runs the engine execution by execution, and checks the trees after each. Returns whether everything was
 * explored and checked. */
static bool run_engine(struct both *b, const struct mz_model *m, const struct mz_model_run *run,
                       struct mz_model_report *report)
{
    struct mz_model_explorer *explorer = b->c->explorers[b->c->config];
    const struct mz_exploration *x = mz_model_begin(explorer, m);
    bool more = true;
    while (more && !b->wrong && b->races < b->c->limits.literal) {
        b->ended = false;
        more = mz_model_next(explorer, run, report);
        if (b->ended) b->wrong = mz_engine_trees_after(b->trees, x, more, &b->races);
    }
    if (b->wrong) mz_differ(b->c, "%s", b->wrong);
    return !more && !b->wrong;
}

/* Returns false if something is wrong. *done: everything was explored; otherwise there was too much to
 * check. */
static bool explore_engine(struct both *b, const struct mz_model *m, bool *done)
{
    struct mz_checker *c = b->c;
    struct mz_model_run run = {.visit = visit_engine, .start_over = start_over, .arg = b};
    struct mz_model_settings settings = {.algorithm = MZ_ALG_OPTIMAL, .sleep_sets = true};
    struct mz_model_report report = {0};
    mz_machine_init(&b->machine, m, false);
    mz_set_clear(&c->sequences);
    if (!c->explorers[c->config]) c->explorers[c->config] = mz_model_explorer_new(&settings);
    b->trees = mz_engine_trees_new();
    *done = run_engine(b, m, &run, &report);
    mz_engine_trees_free(b->trees);
    mz_model_end(c->explorers[c->config], &report);
    if (*done && report.verdict != MZ_MODEL_EXPLORED && !c->text[0])
        return mz_differ(c, "the engine does not come to an end");
    return !c->text[0];
}

/* ---- the paper's executions ---- */

static bool visit_literal(void *arg, const struct mz_machine_state *end)
{
    struct both *b = arg;
    bool added;
    mz_set_add(&b->c->literal, end->form, &added);
    if (!added) b->wrong = "explores two equivalent executions";
    return added;
}

/* Returns true also if there is too much to explore; *done says whether it was explored. */
static bool explore_literal(struct both *b, const struct mz_model *m, struct mz_literal *l, bool *done)
{
    struct mz_checker *c = b->c;
    mz_set_clear(&c->literal);
    *done = false;
    switch (mz_literal_explore(l, m, c->oracle.sections)) {
    case MZ_LITERAL_DONE:
        return *done = true;
    case MZ_LITERAL_TOO_LARGE:
        return true;
    case MZ_LITERAL_STOPPED:
        break;
    case MZ_LITERAL_BLOCKED:
        b->wrong = "is blocked by a sleep set";
        break;
    case MZ_LITERAL_NO_TREE:
        b->wrong = "makes what is not a wakeup tree";
        break;
    }
    return mz_differ(c, "the paper's algorithm %s", b->wrong);
}

bool mz_check_literal(struct mz_checker *c, const struct mz_model *m)
{
    struct both b = {.c = c};
    struct mz_literal l = {.max_races = c->limits.literal, .visit = visit_literal, .arg = &b};
    bool done;
    if (!explore_literal(&b, m, &l, &done)) return false;
    if (!done) return true;
    if (!explore_engine(&b, m, &done)) return false;
    if (!done) return true;
    if (!mz_set_equal(&c->literal, &c->sequences))
        return mz_differ(
            c, "the engine explores %u classes, the paper's algorithm %u, and they are not the same",
            c->sequences.count, c->literal.count);
    if (c->literal.count != c->oracle.found.classes.count)
        return mz_differ(c, "the paper's algorithm explores %u classes, there are %u", c->literal.count,
                         c->oracle.found.classes.count);
    c->counts[c->config] =
        (struct mz_run_counts){.programs = 1, .executions = l.executions, .near = b.near, .far = b.far};
    return true;
}
