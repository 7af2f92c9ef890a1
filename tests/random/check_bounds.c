/* --preemptions and --delays against the oracle, which enumerates all interleavings within the bound by its own
 * interpreter. Each execution of the engine is a real one, within the bound; in the end the classes, outcomes, deadlocks and
 * failing assertions are exactly those within the bound. If the engine says that the bound has excluded nothing, there are no
 * others at all. */
#include <inttypes.h>
#include <string.h>
#include "check.h"
#include "machine_state.h"
#include "model/system.h"
#include "shared.h"
#include "walks.h"

#define MOST_STEPS 200000 /* of the enumeration: larger programs are left out */

struct within {
    struct mz_replay replay;
    struct mz_machine machine;
    struct mz_findings found; /* by the enumeration */
    enum mz_bound bound;
    uint32_t limit;
    uint64_t steps;
    bool excluded; /* some interleaving is beyond the bound */
};

/* Is the thread in the middle of its work, so that another thread's step preempts it? */
static bool goes_on(struct mz_machine *k, const struct mz_machine_state *s, int thread)
{
    return thread >= 0 && s->threads[thread].mode != SLEEP && mz_machine_choices(k, s, thread);
}

/* Count one by one the enabled threads that have their turn before this one. */
static uint32_t delays(struct mz_machine *k, const struct mz_machine_state *s, int last, int thread)
{
    int n = k->m->thread_count;
    uint32_t count = 0;
    for (int t = last < 0 ? 0 : last; t != thread; t = (t + 1) % n) count += mz_machine_choices(k, s, t) != 0;
    return count;
}

static uint32_t cost(const struct within *w, struct mz_machine *k, const struct mz_machine_state *s, int last,
                     int thread)
{
    if (w->bound == MZ_BOUND_DELAYS) return delays(k, s, last, thread);
    return thread != last && goes_on(k, s, last);
}

/* All executions within the bound. Returns false if there are too many. */
static bool enumerate(struct within *w, const struct mz_machine_state *s, int last, uint32_t left)
{
    bool end = true;
    if (++w->steps > MOST_STEPS) return false;
    for (int t = 0; t < w->machine.m->thread_count; t++) {
        unsigned choices = mz_machine_choices(&w->machine, s, t);
        if (!choices) continue;
        end = false;
        uint32_t c = cost(w, &w->machine, s, last, t);
        w->excluded |= c > left;
        for (; choices && c <= left; choices &= choices - 1) {
            struct mz_machine_state next = *s;
            mz_machine_step(&w->machine, &next, t, __builtin_ctz(choices));
            if (!enumerate(w, &next, t, left - c)) return false;
        }
    }
    if (end) {
        struct mz_model_outcome outcome;
        mz_machine_outcome(&w->machine, s, &outcome);
        mz_findings_add(&w->found, s->form, &outcome);
    }
    return true;
}

static uint32_t total_cost(struct within *w, const struct mz_model_execution *e)
{
    struct mz_machine_state s;
    uint32_t sum = 0;
    mz_machine_start(&w->replay.machine, &s);
    for (uint32_t i = 0; i < e->length; i++) {
        sum += cost(w, &w->replay.machine, &s, i ? e->steps[i - 1].thread : -1, e->steps[i].thread);
        mz_machine_step(&w->replay.machine, &s, e->steps[i].thread, e->steps[i].choice);
    }
    return sum;
}

static bool visit(void *arg, const struct mz_model_execution *e)
{
    struct within *w = arg;
    struct mz_checker *c = w->replay.c;
    struct mz_model_outcome outcome;
    if (!mz_replay_steps(&w->replay, e)) return false;
    mz_machine_outcome(&w->replay.machine, &w->replay.state, &outcome);
    if (memcmp(&outcome, &e->outcome, sizeof outcome) != 0)
        return mz_differ(c, "the model's two interpreters disagree about an outcome");
    if (total_cost(w, e) > w->limit)
        return mz_differ(c, "an execution costs more than the bound, %u", w->limit);
    mz_findings_add(&c->engine, w->replay.state.form, &outcome);
    return true;
}

static void start_over(void *arg, bool sections)
{
    struct within *w = arg;
    w->replay.machine.sections = sections;
    mz_findings_clear(&w->replay.c->engine);
}

static bool same(struct within *w, const struct mz_model_report *report)
{
    struct mz_checker *c = w->replay.c;
    if (report->verdict == MZ_MODEL_STOPPED) return false;
    if (report->verdict != MZ_MODEL_EXPLORED)
        return mz_differ(c, "the search ends with verdict %d", report->verdict);
    /* If no execution within the bound has a section, the engine's classes are those of the finer relation. */
    const char *difference = mz_findings_differ(&c->engine, &w->found);
    bool finer = w->replay.machine.sections != w->machine.sections;
    if (difference && !(finer && !strcmp(difference, "the classes differ")))
        return mz_differ(c, "within %u: %s (%u classes, there are %u)", w->limit, difference,
                         c->engine.classes.count, w->found.classes.count);
    if (report->counters.beyond && !w->excluded)
        return mz_differ(c, "the bound %u excludes nothing", w->limit);
    if (!report->counters.beyond && mz_findings_differ(&w->found, &c->oracle.found))
        return mz_differ(c, "the engine says that the bound %u excludes nothing", w->limit);
    return true;
}

static void explore(struct within *w, const struct mz_model *m, const struct mz_model_run *run,
                    struct mz_model_report *report)
{
    struct mz_checker *c = w->replay.c;
    struct mz_model_settings settings = {.algorithm = MZ_ALG_NONE, .bound = w->bound};
    struct mz_model_explorer **explorer = &c->explorers[c->config];
    if (c->config >= MZ_CONFIG_SHARED) {
        struct mz_shared **s = &c->shared[c->config];
        if (!*s) *s = mz_shared_new(&settings, false);
        mz_shared_set_bound(*s, w->limit);
        mz_shared_explore(*s, m, run, report, c->shared_seed);
        return;
    }
    if (!*explorer) *explorer = mz_model_explorer_new(&settings);
    mz_model_set_bound(*explorer, w->limit);
    mz_model_explore(*explorer, m, run, report);
}

bool mz_check_bounds(struct mz_checker *c, const struct mz_model *m, enum mz_bound bound)
{
    static struct within w; /* the sets keep their memory */
    struct mz_model_run run = {.visit = visit, .start_over = start_over, .arg = &w};
    struct mz_model_report report;
    struct mz_machine_state start;
    w.replay.c = c;
    w.bound = bound;
    w.limit = (uint32_t)(c->shared_seed % 4);
    w.steps = 0;
    w.excluded = false;
    mz_machine_init(&w.machine, m, c->oracle.sections);
    mz_findings_clear(&w.found);
    mz_machine_start(&w.machine, &start);
    if (!enumerate(&w, &start, -1, w.limit)) return true;
    mz_machine_init(&w.replay.machine, m, false);
    mz_findings_clear(&c->engine);
    explore(&w, m, &run, &report);
    c->counts[c->config] =
        (struct mz_run_counts){.programs = 1, .executions = report.complete, .blocked = report.asleep};
    return same(&w, &report);
}
