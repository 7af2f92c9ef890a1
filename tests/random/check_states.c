/* Compares the stateful algorithms with the oracle of all states (states.h).
 *
 * Each execution of the engine, including those that end in a known state, is replayed step by step in the
 * oracle's interpreter. That checks that the steps are possible, that an execution ends in a known state if
 * and only if it says so, and that no state is expanded twice; and it shows what was reached. In the end, the
 * engine must have reached all final states, deadlocks, failing assertions and local states of threads that
 * the oracle knows, and no others. Without reduction, it must have reached exactly the states and transitions
 * that the oracle knows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "model/system.h"
#include "shared_states.h"

#define SOME_RUNS 2000 /* for configurations that forget states */

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
    enum mz_order order;
    bool exact;
    bool all;    /* visits every state */
    bool misses; /* it is known to miss states */
    bool sleeps; /* with sleep sets: explores some states more than once, and finds no endless cycles */
} configs[MZ_CONFIGS] = {
    [MZ_CONFIG_STATEFUL] = {"stateful", MZ_ALG_STATEFUL, MZ_ORDER_SEQUENTIAL, false, true},
    [MZ_CONFIG_EXACT] = {"stateful-exact", MZ_ALG_STATEFUL, MZ_ORDER_RANDOM, true, true},
    [MZ_CONFIG_S_POR] = {"s-por", MZ_ALG_S_POR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_S_POR_RANDOM] = {"s-por-random", MZ_ALG_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_DE_S_POR] = {"de-s-por", MZ_ALG_DE_S_POR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_DE_S_POR_VISITED] = {"de-s-por-visited", MZ_ALG_DE_S_POR, MZ_ORDER_VISITED_FIRST, false,
                                    false},
    [MZ_CONFIG_DL_S_POR] = {"dl-s-por", MZ_ALG_DL_S_POR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_DL_S_POR_RANDOM] = {"dl-s-por-random", MZ_ALG_DL_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_DL_S_POR_VISITED] = {"dl-s-por-visited", MZ_ALG_DL_S_POR, MZ_ORDER_VISITED_FIRST, false,
                                    false},
    [MZ_CONFIG_DL_S_POR_LEARNED] = {"dl-s-por-learned", MZ_ALG_DL_S_POR, MZ_ORDER_LEARNED, false, false},
    [MZ_CONFIG_SDPOR] = {"sdpor", MZ_ALG_SDPOR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_SDPOR_RANDOM] = {"sdpor-random", MZ_ALG_SDPOR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_SDPOR_NAIVE] = {.name = "sdpor-naive", .algorithm = MZ_ALG_SDPOR_NAIVE, .misses = true},
    [MZ_CONFIG_SDPOR_INITIAL] = {.name = "sdpor-initial", .algorithm = MZ_ALG_SDPOR_INITIAL},
    [MZ_CONFIG_SDPOR_INITIAL_RANDOM] = {"sdpor-initial-random", MZ_ALG_SDPOR_INITIAL, MZ_ORDER_RANDOM, false,
                                        false},
    [MZ_CONFIG_STATIC_STATEFUL] = {.name = "static-stateful", .algorithm = MZ_ALG_STATIC_STATEFUL},
    [MZ_CONFIG_STATEFUL_SLEEP] = {.name = "stateful-sleep", .algorithm = MZ_ALG_STATEFUL, .sleeps = true},
    [MZ_CONFIG_STATIC_STATEFUL_SLEEP] = {.name = "static-stateful-sleep",
                                         .algorithm = MZ_ALG_STATIC_STATEFUL,
                                         .sleeps = true},
    [MZ_CONFIG_STATEFUL_SHARES] = {"stateful-shares", MZ_ALG_STATEFUL, MZ_ORDER_SEQUENTIAL, false, true},
    [MZ_CONFIG_S_POR_SHARES] = {"s-por-shares", MZ_ALG_S_POR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_DE_S_POR_SHARES] = {"de-s-por-shares", MZ_ALG_DE_S_POR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_DL_S_POR_SHARES] = {"dl-s-por-shares", MZ_ALG_DL_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_DL_S_POR_LEARNED_SHARES] = {"dl-s-por-learned-shares", MZ_ALG_DL_S_POR, MZ_ORDER_LEARNED,
                                           false, false},
    [MZ_CONFIG_SDPOR_SHARES] = {"sdpor-shares", MZ_ALG_SDPOR, MZ_ORDER_SEQUENTIAL, false, false},
    [MZ_CONFIG_FORGETS] = {"stateful-forgets", MZ_ALG_STATEFUL, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_S_POR_FORGETS] = {"s-por-forgets", MZ_ALG_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_DE_S_POR_FORGETS] = {"de-s-por-forgets", MZ_ALG_DE_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_DL_S_POR_FORGETS] = {"dl-s-por-forgets", MZ_ALG_DL_S_POR, MZ_ORDER_RANDOM, false, false},
    [MZ_CONFIG_SDPOR_FORGETS] = {"sdpor-forgets", MZ_ALG_SDPOR, MZ_ORDER_RANDOM, false, false},
};

static bool forgets(const struct mz_checker *c) { return c->config >= MZ_CONFIG_FORGETS; }

static bool shares(const struct mz_checker *c)
{
    return c->config >= MZ_CONFIG_SHARES && c->config < MZ_CONFIG_FORGETS;
}

/* May the search explore a state twice? */
static bool repeats(const struct mz_checker *c) { return shares(c) || forgets(c); }

const char *mz_stateful_name(enum mz_config config) { return configs[config].name; }

/* The previous execution, state by state: the next execution mostly begins like it. */
struct replay {
    struct mz_checker *c;
    struct mz_machine machine;
    struct mz_machine_state *states; /* states[i]: after i steps */
    struct mz_step *steps;
    uint32_t length, size;
};

static void make_room(struct replay *r, uint32_t length)
{
    if (length < r->size) return;
    r->size = 2 * length + 64;
    r->states = realloc(r->states, (r->size + 1) * sizeof *r->states);
    r->steps = realloc(r->steps, r->size * sizeof *r->steps);
    if (!r->states || !r->steps) abort();
}

/* Replays one step; the state before it is known. */
static bool step(struct replay *r, uint32_t i, struct mz_step s)
{
    if (s.thread >= r->machine.m->thread_count || s.choice >= 32 ||
        !(mz_machine_choices(&r->machine, &r->states[i], s.thread) & 1u << s.choice))
        return mz_differ(r->c, "step %u (thread %d, choice %d) is not possible", i + 1, s.thread, s.choice);
    r->states[i + 1] = r->states[i];
    r->steps[i] = s;
    mz_machine_step(&r->machine, &r->states[i + 1], s.thread, s.choice);
    return true;
}

static bool start(struct replay *r)
{
    r->length = 0;
    make_room(r, 0);
    mz_machine_start(&r->machine, &r->states[0]);
    return mz_reached_add(&r->c->reached, &r->machine, &r->states[0]);
}

static bool visit(void *arg, const struct mz_model_execution *e)
{
    struct replay *r = arg;
    struct mz_checker *c = r->c;
    uint32_t i = 0;
    bool fresh = false, added = c->reached.states.count == 0 && start(r);
    make_room(r, e->length);
    while (i < e->length && i < r->length && memcmp(&e->steps[i], &r->steps[i], sizeof *r->steps) == 0) i++;
    for (; i < e->length; i++) {
        if (!step(r, i, e->steps[i])) return false;
        added = mz_reached_add(&c->reached, &r->machine, &r->states[i + 1]);
        if (fresh && !added && i + 1 < e->length && !repeats(c) && !configs[c->config].sleeps)
            return mz_differ(c, "the execution goes on though the state after step %u was there before",
                             i + 1);
        fresh |= added;
    }
    r->length = e->length;
    if (e->revisits && added)
        return mz_differ(c, "an execution ends in a new state as if it were an old one");
    if (e->asleep)
        return configs[c->config].sleeps || mz_differ(c, "an execution is asleep without sleep sets");
    if (!e->revisits && !added && !repeats(c)) return mz_differ(c, "a final state is explored twice");
    return true;
}

static void endless(void *arg, uint64_t threads, uint64_t writers)
{
    struct replay *r = arg;
    mz_reached_trap(&r->c->reached, threads, writers);
}

static void start_over(void *arg, bool sections)
{
    struct replay *r = arg;
    (void)sections;
    mz_reached_clear(&r->c->reached);
    r->length = 0;
}

/* Workers that died have reached states that were not finished; so the states of all workers are at least those that are
 * finished. */
static bool same_counts(struct mz_checker *c, const struct mz_model_report *report)
{
    const struct mz_counters *n = &report->counters;
    const struct mz_reached *reached = &c->reached;
    if (shares(c))
        return n->states <= reached->states.count ||
               mz_differ(c, "%" PRIu64 " states finished, there were %u", n->states, reached->states.count);
    if (n->executions != report->complete || n->revisited != report->revisiting)
        return mz_differ(c, "counted %" PRIu64 " executions, %" PRIu64 " revisited", n->executions,
                         n->revisited);
    if (forgets(c) ? n->states < reached->states.count : n->states != reached->states.count)
        return mz_differ(c, "counted %" PRIu64 " states, there were %u", n->states, reached->states.count);
    return true;
}

static bool same_totals(struct mz_checker *c, const struct mz_model_report *report)
{
    const struct mz_counters *n = &report->counters;
    const struct mz_reached *all = &c->all, *reached = &c->reached;
    if (!same_counts(c, report)) return false;
    if (configs[c->config].misses) return true;
    const char *difference = mz_findings_differ(&reached->finals, &all->finals);
    if (difference) return mz_differ(c, "%s", difference);
    if (!mz_set_equal(&reached->locals, &all->locals))
        return mz_differ(c, "%u local states reached, there are %u", reached->locals.count,
                         all->locals.count);
    if (!configs[c->config].sleeps && !mz_set_equal(&reached->traps, &all->traps))
        return mz_differ(c, "%u endless cycles reached, there are %u", reached->traps.count,
                         all->traps.count);
    if (!configs[c->config].all) return true;
    if (n->states != all->states.count)
        return mz_differ(c, "%" PRIu64 " states reached, there are %u", n->states, all->states.count);
    if (!shares(c) && n->transitions != all->transitions)
        return mz_differ(c, "%" PRIu64 " transitions, there are %" PRIu64, n->transitions, all->transitions);
    return true;
}

static void explore(struct mz_checker *c, const struct mz_model *m, const struct mz_model_settings *settings,
                    const struct mz_model_run *run, struct mz_model_report *report)
{
    struct mz_model_explorer **explorer = &c->explorers[c->config];
    struct mz_sharing **sharing = &c->sharing[c->config];
    if (shares(c)) {
        if (!*sharing) *sharing = mz_sharing_new(settings);
        mz_sharing_explore(*sharing, m, run, report, c->shared_seed);
    } else {
        if (!*explorer) *explorer = mz_model_explorer_new(settings);
        mz_model_explore(*explorer, m, run, report);
    }
}

bool mz_check_stateful(struct mz_checker *c, const struct mz_model *m)
{
    struct replay r = {.c = c};
    struct mz_model_run run = {.visit = visit,
                               .endless = endless,
                               .start_over = start_over,
                               .arg = &r,
                               .asks = mz_check_asks(c),
                               .max_runs = forgets(c) ? SOME_RUNS : 0};
    struct mz_model_report report;
    struct mz_model_settings settings = {
        .algorithm = configs[c->config].algorithm,
        .exact = configs[c->config].exact,
        .sleep_sets = configs[c->config].sleeps,
        .order = configs[c->config].order,
        .order_seed = 1,
        .limited = forgets(c),
    };
    mz_machine_init(&r.machine, m, false);
    mz_reached_clear(&c->reached);
    explore(c, m, &settings, &run, &report);
    free(r.states);
    free(r.steps);
    if (report.verdict == MZ_MODEL_STOPPED) return false;
    /* An algorithm that forgets states may need too many runs. */
    if (report.verdict == MZ_MODEL_TOO_MANY) return true;
    if (report.verdict != MZ_MODEL_EXPLORED)
        return mz_differ(c, "the exploration ends with verdict %d", report.verdict);
    c->counts[c->config] = (struct mz_run_counts){
        .programs = 1,
        .executions = report.complete,
        .states = report.counters.states,
        .transitions = report.counters.transitions,
        .revisited = report.revisiting,
        .outcomes = c->reached.finals.outcomes.count,
    };
    return same_totals(c, &report);
}

/* In programs without loops, compares the two oracles with each other. */
enum mz_answer mz_check_states_oracle(struct mz_checker *c, const struct mz_model *m)
{
    if (c->loops) {
        mz_findings_clear(&c->oracle.found);
        c->oracle.interleavings = c->oracle.features = 0;
        c->oracle.sections = false; /* so far */
    }
    /* No stateful configuration is selected. */
    if (!(c->limits.configs >> MZ_CONFIG_STATEFUL)) return MZ_SAME;
    uint32_t most = c->loops ? c->limits.states : UINT32_MAX;
    if (!mz_states_run(m, c->oracle.sections, most, &c->all)) return MZ_TOO_LARGE;
    if (c->loops && c->all.sections) mz_states_run(m, true, most, &c->all);
    if (c->loops) return MZ_SAME;
    const struct mz_findings *p = &c->all.finals, *q = &c->oracle.found;
    if (memcmp(p->failures, q->failures, sizeof p->failures) == 0 &&
        mz_set_equal(&p->deadlocks, &q->deadlocks) && mz_set_equal(&p->outcomes, &q->outcomes))
        return MZ_SAME;
    mz_differ(c, "states and classes lead to different ends");
    return MZ_DIFFERENT;
}
