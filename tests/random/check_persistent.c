/* Theorem 1 of 2005: when DPOR (without sleep sets) leaves a state, the threads that it has explored from there are a
 * persistent set. See check.h.
 *
 * All executions of the engine are kept. Sorted, they are the tree that it has explored. In each of its states, let T be the
 * threads of the branches. The oracle's interpreter then runs all that the other threads can do without T, and looks
 * at each of their steps: it must be independent of the next steps of T, by the interpreter's own relation. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "model/system.h"

#define MAX_STEPS (MZ_MODEL_THREADS * MZ_MODEL_EVENTS)
#define MAX_RUNS  400u
#define MAX_LOOKS 200000u

struct run {
    uint32_t length;
    uint8_t steps[MAX_STEPS][2]; /* thread, choice */
};

struct tree {
    struct mz_checker *c;
    struct mz_machine machine;
    struct run *runs;
    uint32_t count;
    uint32_t looks; /* states that the other threads have reached, in all */
    struct mz_set seen;
};

static bool visit(void *arg, const struct mz_model_execution *e)
{
    struct tree *t = arg;
    if (t->count == MAX_RUNS) return true; /* too many: check nothing */
    struct run *r = &t->runs[t->count++];
    memset(r, 0, sizeof *r);
    r->length = e->length;
    for (uint32_t i = 0; i < e->length; i++) {
        r->steps[i][0] = e->steps[i].thread;
        r->steps[i][1] = e->steps[i].choice;
    }
    return true;
}

static void start_over(void *arg, bool sections)
{
    struct tree *t = arg;
    t->machine.sections = sections;
    t->count = 0;
}

static int in_order(const void *a, const void *b)
{
    return memcmp(((const struct run *)a)->steps, ((const struct run *)b)->steps,
                  sizeof((struct run *)0)->steps);
}

/* Is the next step of thread q independent of the next steps of all threads of the set? */
static bool is_independent(struct tree *t, const struct mz_machine_state *s, int q, uint64_t set)
{
    for (; set; set &= set - 1) {
        int p = __builtin_ctzll(set);
        if (mz_machine_dependent(&t->machine, s, p, s, q)) return false;
    }
    return true;
}

/* Let the other threads run from s. Returns the thread whose step is dependent; -1: none. */
static int disturber(struct tree *t, const struct mz_machine_state *s, uint64_t set)
{
    bool added;
    mz_set_add(&t->seen, s->form, &added);
    if (!added || ++t->looks > MAX_LOOKS) return -1;
    for (int q = 0; q < t->machine.m->thread_count; q++) {
        unsigned choices = set >> q & 1 ? 0 : mz_machine_choices(&t->machine, s, q);
        if (choices && !is_independent(t, s, q, set)) return q;
        for (; choices; choices &= choices - 1) {
            struct mz_machine_state next = *s;
            mz_machine_step(&t->machine, &next, q, __builtin_ctz(choices));
            int found = disturber(t, &next, set);
            if (found >= 0) return found;
        }
    }
    return -1;
}

/* The runs from `from` to `to` begin with the same `depth` steps, which lead to s. */
static bool check_below(struct tree *t, uint32_t from, uint32_t to, uint32_t depth,
                        const struct mz_machine_state *s)
{
    uint64_t set = 0;
    if (t->runs[from].length == depth) return true;
    for (uint32_t i = from; i < to; i++) set |= (uint64_t)1 << t->runs[i].steps[depth][0];
    mz_set_clear(&t->seen);
    int q = disturber(t, s, set);
    if (q >= 0)
        return mz_differ(t->c,
                         "what is explored after %u steps is not persistent: thread %d disturbs the set %llx",
                         depth, q, (unsigned long long)set);
    for (uint32_t i = from, next; i < to; i = next) {
        struct mz_machine_state after = *s;
        const uint8_t *step = t->runs[i].steps[depth];
        for (next = i + 1; next < to && memcmp(t->runs[next].steps[depth], step, 2) == 0; next++) continue;
        mz_machine_step(&t->machine, &after, step[0], step[1]);
        if (!check_below(t, i, next, depth + 1, &after)) return false;
    }
    return true;
}

bool mz_check_persistent(struct mz_checker *c, const struct mz_model *m)
{
    struct tree t = {.c = c, .runs = malloc(MAX_RUNS * sizeof *t.runs)};
    struct mz_model_run run = {.visit = visit, .start_over = start_over, .arg = &t, .max_runs = MAX_RUNS};
    struct mz_model_settings settings = {.algorithm = MZ_ALG_DPOR};
    struct mz_model_report report;
    struct mz_machine_state start;
    if (!t.runs) abort();
    mz_machine_init(&t.machine, m, false);
    if (!c->explorers[c->config]) c->explorers[c->config] = mz_model_explorer_new(&settings);
    mz_model_explore(c->explorers[c->config], m, &run, &report);
    bool good = true;
    if (report.verdict == MZ_MODEL_EXPLORED && t.count && t.count < MAX_RUNS) {
        qsort(t.runs, t.count, sizeof *t.runs, in_order);
        mz_machine_start(&t.machine, &start);
        good = check_below(&t, 0, t.count, 0, &start);
        c->counts[c->config] = (struct mz_run_counts){.programs = 1, .executions = t.count};
    }
    mz_set_free(&t.seen);
    free(t.runs);
    return good;
}
