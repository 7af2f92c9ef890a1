/* The brute-force oracle: finds everything that a model can do, without the engine. See oracle.h. */
#include <string.h>
#include "oracle.h"

/* Findings. */

void mz_findings_clear(struct mz_findings *f)
{
    f->executions = f->deadlocked = f->failing = 0;
    mz_set_clear(&f->classes);
    mz_set_clear(&f->outcomes);
    mz_set_clear(&f->deadlocks);
    memset(f->failures, 0, sizeof f->failures);
}

void mz_findings_free(struct mz_findings *f)
{
    mz_set_free(&f->classes);
    mz_set_free(&f->outcomes);
    mz_set_free(&f->deadlocks);
}

static void add_deadlock(struct mz_findings *f, const struct mz_model_outcome *o)
{
    uint8_t where[2 * MZ_MODEL_THREADS] = {0};
    bool added;
    for (int t = 0; t < MZ_MODEL_THREADS; t++) {
        if (!(o->blocked & 1u << t)) continue;
        where[2 * t] = o->status[t];
        where[2 * t + 1] = o->pc[t];
    }
    mz_set_add(&f->deadlocks, mz_hash_bytes(where, sizeof where), &added);
    f->deadlocked++;
}

void mz_findings_add(struct mz_findings *f, struct mz_hash form, const struct mz_model_outcome *o)
{
    bool added;
    f->executions++;
    mz_set_add(&f->classes, form, &added);
    mz_set_add(&f->outcomes, mz_hash_bytes(o, sizeof *o), &added);
    if (o->blocked) add_deadlock(f, o);
    if (o->failed) f->failing++;
    for (int t = 0; t < MZ_MODEL_THREADS; t++)
        if (o->failed & 1u << t) f->failures[t] |= 1u << o->pc[t];
}

const char *mz_findings_differ(const struct mz_findings *p, const struct mz_findings *q)
{
    if (memcmp(p->failures, q->failures, sizeof p->failures) != 0) return "the failing assertions differ";
    if (!mz_set_equal(&p->deadlocks, &q->deadlocks)) return "the deadlocks differ";
    if (!mz_set_equal(&p->outcomes, &q->outcomes)) return "the outcomes differ";
    if (!mz_set_equal(&p->classes, &q->classes)) return "the classes differ";
    return NULL;
}

/* By prefixes. */

struct search {
    struct mz_oracle *o;
    struct mz_machine machine;
    enum mz_oracle_answer answer;
};

static uint64_t plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static uint64_t end_of_execution(struct search *r, const struct mz_machine_state *s)
{
    struct mz_model_outcome outcome;
    mz_machine_outcome(&r->machine, s, &outcome);
    mz_findings_add(&r->o->found, s->form, &outcome);
    return 1;
}

static uint64_t visit(struct search *r, const struct mz_machine_state *s);

/* Number of interleavings from here on, over all events that are possible. */
static uint64_t expand(struct search *r, const struct mz_machine_state *s)
{
    uint64_t paths = 0;
    for (int t = 0; t < r->machine.m->thread_count; t++) {
        unsigned choices = mz_machine_choices(&r->machine, s, t);
        for (; choices && r->answer == MZ_ORACLE_DONE; choices &= choices - 1) {
            struct mz_machine_state next = *s;
            mz_machine_step(&r->machine, &next, t, __builtin_ctz(choices));
            if (r->machine.features >> MZ_FEATURE_SECTION & 1 && !r->machine.sections)
                r->answer = MZ_ORACLE_SECTIONS;
            else
                paths = plus(paths, visit(r, &next));
        }
    }
    return paths ? paths : end_of_execution(r, s);
}

static uint64_t visit(struct search *r, const struct mz_machine_state *s)
{
    bool added;
    uint64_t check = mz_machine_check(&r->machine, s);
    struct mz_slot *slot = mz_set_add(&r->o->prefixes, s->form, &added);
    if (!added) {
        if (slot->check != check) r->answer = MZ_ORACLE_INCONSISTENT;
        return slot->value;
    }
    slot->check = check;
    if (r->o->prefixes.count > r->o->max_prefixes) {
        r->answer = MZ_ORACLE_TOO_LARGE;
        return 1;
    }
    uint64_t paths = expand(r, s);
    mz_set_add(&r->o->prefixes, s->form, &added)->value = paths;
    return paths;
}

/* If o->sections is wrong, the first section ends the search. */
static enum mz_oracle_answer run(struct mz_oracle *o, const struct mz_model *m)
{
    struct search r = {.o = o, .answer = MZ_ORACLE_DONE};
    struct mz_machine_state start;
    mz_machine_init(&r.machine, m, o->sections);
    mz_set_clear(&o->prefixes);
    mz_findings_clear(&o->found);
    mz_machine_start(&r.machine, &start);
    o->interleavings = visit(&r, &start);
    o->features = r.machine.features;
    return r.answer;
}

enum mz_oracle_answer mz_oracle_run(struct mz_oracle *o, const struct mz_model *m)
{
    o->sections = false;
    enum mz_oracle_answer answer = run(o, m);
    o->sections = answer == MZ_ORACLE_SECTIONS;
    return o->sections ? run(o, m) : answer;
}

void mz_oracle_free(struct mz_oracle *o)
{
    mz_set_free(&o->prefixes);
    mz_findings_free(&o->found);
}

/* Plainly. */

static bool enumerate(struct mz_machine *k, const struct mz_machine_state *s, uint64_t max,
                      struct mz_findings *found)
{
    bool end = true;
    for (int t = 0; t < k->m->thread_count; t++) {
        unsigned choices = mz_machine_choices(k, s, t);
        for (; choices; choices &= choices - 1) {
            struct mz_machine_state next = *s;
            end = false;
            mz_machine_step(k, &next, t, __builtin_ctz(choices));
            if (!enumerate(k, &next, max, found)) return false;
        }
    }
    if (end) {
        struct mz_model_outcome outcome;
        mz_machine_outcome(k, s, &outcome);
        mz_findings_add(found, s->form, &outcome);
    }
    return found->executions <= max;
}

bool mz_oracle_plain(const struct mz_model *m, bool sections, uint64_t max, struct mz_findings *found)
{
    struct mz_machine machine;
    struct mz_machine_state start;
    mz_machine_init(&machine, m, sections);
    mz_findings_clear(found);
    mz_machine_start(&machine, &start);
    return enumerate(&machine, &start, max, found);
}
