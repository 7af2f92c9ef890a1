/* Common to `check` and `replay`: see rerun.h. */
#define _GNU_SOURCE
#include "cmd/rerun.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define REPLAY_TIME 60.0 /* seconds: one execution; more means that it hangs */

/* For tests: see engine/stateful/state_check.c. */
static uint8_t check_states(void)
{
    const char *steps = getenv("MAZURKA_CHECK_STATES");
    return steps ? (uint8_t)strtoul(steps, NULL, 10) : 0;
}

void mz_rerun_target(struct mz_target *t, const struct mz_settings *s, const struct mz_program *program,
                     const struct mz_list *arguments)
{
    *t = (struct mz_target){.program = program, .arguments = arguments};
    t->show_output = s->verbose;
    t->output_to_stderr = s->on_stdout != 0;
    t->options =
        (struct mz_options_block){.algorithm = s->algorithm,
                                  .strategy = s->strategy,
                                  .strategy_depth = s->strategy_depth,
                                  .seed = s->seed,
                                  .bound = s->bound,
                                  .bound_limit = s->bound_limit,
                                  .sleep_sets = s->sleep_sets,
                                  .eager = s->eager,
                                  .persistent = mz_settings_persistent(s),
                                  .marks = s->marks,
                                  .classes = s->classes != NULL,
                                  .count_sets = s->count_sets,
                                  .exact_match = s->exact_match,
                                  .state_capture = (uint8_t)s->state_capture,
                                  .poke_dead = getenv("MAZURKA_POKE_DEAD") != NULL,   /* for tests */
                                  .strict = getenv("MAZURKA_CHECK_FORESEEN") != NULL, /* for tests */
                                  .check_states = check_states(),
                                  .fences_are_events = getenv("MAZURKA_FENCE_EVENTS") != NULL, /* for tests */
                                  .order = s->order,
                                  .order_seed = s->order_seed,
                                  .allow_races = s->allow_races,
                                  .heap_reuse = s->heap_reuse,
                                  .leaks = s->leaks,
                                  .spurious_wakeups = s->spurious_wakeups,
                                  .backtrack = (uint8_t)s->backtrack,
                                  .safe = (uint8_t)s->safe,
                                  .trusting = getenv("MAZURKA_TRUST_HOOKS") != NULL, /* for tests */
                                  .nondet_given = s->nondet_given,
                                  .nondet_low = s->nondet_low,
                                  .nondet_high = s->nondet_high,
                                  .show_output = s->verbose,
                                  .max_steps = s->max_steps};
}

/* ---- running a schedule again ---- */

static bool is_alike(const struct mz_finding *f, const struct mz_replay *r)
{
    bool same_code = f->kind != MZ_KIND_EXIT_CODE || f->code == r->code;
    bool same_thread = f->kind == MZ_KIND_DEADLOCK || f->kind == MZ_KIND_LIVELOCK || f->thread == r->thread;
    return f->kind == (uint32_t)r->kind && same_thread && same_code;
}

/* The same finding; or a similar one, where addresses differ between runs. */
static const struct mz_finding *same_finding(const struct mz_outcome *outcome, const struct mz_replay *r)
{
    const struct mz_channel *c = outcome->channel;
    for (uint32_t i = 0; i < c->finding_count; i++)
        if (is_alike(&c->findings[i], r) && c->findings[i].hash == r->hash) return &c->findings[i];
    for (uint32_t i = 0; i < c->finding_count; i++)
        if (is_alike(&c->findings[i], r)) return &c->findings[i];
    return NULL;
}

static char *what_came_instead(const struct mz_outcome *outcome)
{
    const struct mz_channel *c = outcome->channel;
    if (outcome->killed || outcome->timed_out) return mz_memory_string("it did not end");
    if (outcome->interrupted) return mz_memory_string("interrupted");
    if (c->end_text[0]) return mz_memory_string(c->end_text);
    if (c->finding_count)
        return mz_format("it ended with %s instead", mz_kind_name((enum mz_kind)c->findings[0].kind));
    return mz_memory_string("it ended without an error");
}

static int run_schedule(struct mz_target *t, const struct mz_replay *r, uint64_t address,
                        struct mz_outcome *outcome)
{
    t->options.mode = MZ_MODE_REPLAY;
    t->options.schedule_length = (uint32_t)r->length;
    t->options.race_address = address;
    t->options.race_size = r->size;
    t->options.goes_round = r->kind == MZ_KIND_LIVELOCK;
    t->options.block_address = r->block;
    t->schedule = r->schedule;
    t->threads = r->threads;
    t->locations = r->locations;
    t->location_count = r->location_count;
    t->time_limit = REPLAY_TIME;
    t->progress = (struct mz_progress){0};
    return mz_target_run(t, outcome);
}

/* The racing variable may have another address in this run (a trace from another machine): replay again, watching
 * that address. */
static int run_watching(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *outcome)
{
    int status = run_schedule(t, r, r->address, outcome);
    const struct mz_finding *f = status == 0 ? same_finding(outcome, r) : NULL;
    if (!f || f->kind != MZ_KIND_DATA_RACE || f->address == r->address) return status;
    uint64_t address = f->address;
    mz_outcome_release(outcome);
    return run_schedule(t, r, address, outcome);
}

int mz_rerun_replay(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *outcome,
                    struct mz_finding_report *finding)
{
    struct mz_finding *death = mz_memory_new(sizeof *death);
    int status = run_watching(t, r, outcome);
    if (status == 0) {
        const struct mz_finding *f = same_finding(outcome, r);
        bool died = !f && mz_collect_death(outcome, death);
        if (died && r->kind == MZ_KIND_CRASH && death->code == r->code) f = death;
        if (f) {
            mz_collect_finding(outcome, f, r->schedule, r->length, finding);
            finding->replayed = true;
        } else {
            finding->replay_problem = what_came_instead(outcome);
        }
    }
    free(death);
    return status;
}
