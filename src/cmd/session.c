/* Common to `check` and `replay`: see session.h. */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "../report/files.h"
#include "../report/memory.h"
#include "../report/printable.h"
#include "../report/report_json.h"

#define REPLAY_TIME 60.0 /* seconds: one execution; more means that it hangs */

/* For tests: see engine/state_check.c. */
static uint8_t check_states(void)
{
    const char *steps = getenv("MAZURKA_CHECK_STATES");
    return steps ? (uint8_t)atoi(steps) : 0;
}

void mz_session_target(struct mz_target *t, const struct mz_settings *s, const struct mz_program *program,
                       const struct mz_list *arguments)
{
    *t = (struct mz_target){.program = program, .arguments = arguments};
    t->show_output = s->verbose;
    t->output_to_stderr = s->json && !s->json_file;
    t->options = (struct mz_options_block){.algorithm = s->algorithm,
                                           .sleep_sets = s->sleep_sets,
                                           .eager = s->eager,
                                           .exact_match = s->exact_match,
                                           .state_capture = (uint8_t)s->state_capture,
                                           .poke_dead = getenv("MAZURKA_POKE_DEAD") != NULL,   /* for tests */
                                           .strict = getenv("MAZURKA_CHECK_FORESEEN") != NULL, /* for tests */
                                           .check_states = check_states(),
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

/* The very same one; or one like it, where addresses differ between runs. */
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

/* The racing variable may lie elsewhere in this run (a trace from another machine): once more, watching
 * there. */
static int run_watching(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *outcome)
{
    int status = run_schedule(t, r, r->address, outcome);
    const struct mz_finding *f = status == 0 ? same_finding(outcome, r) : NULL;
    if (!f || f->kind != MZ_KIND_DATA_RACE || f->address == r->address) return status;
    uint64_t address = f->address;
    mz_outcome_release(outcome);
    return run_schedule(t, r, address, outcome);
}

int mz_session_replay(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *outcome,
                      struct mz_bug *bug)
{
    struct mz_finding *death = mz_memory_new(sizeof *death);
    int status = run_watching(t, r, outcome);
    if (status == 0) {
        const struct mz_finding *f = same_finding(outcome, r);
        bool died = !f && mz_collect_death(outcome, death);
        if (died && r->kind == MZ_KIND_CRASH && death->code == r->code) f = death;
        if (f) {
            mz_collect_bug(outcome, f, r->schedule, r->length, bug);
            bug->replayed = true;
        } else {
            bug->replay_problem = what_came_instead(outcome);
        }
    }
    free(death);
    return status;
}

/* ---- writing ---- */

unsigned mz_session_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) return 80;
    return size.ws_col < 60 ? 60 : size.ws_col > 120 ? 120 : size.ws_col;
}

int mz_session_print(const struct mz_strbuf *b)
{
    bool written = fwrite(mz_strbuf_text(b), 1, b->length, stdout) == b->length;
    written = fflush(stdout) == 0 && written;
    if (written || errno == EPIPE) return 0; /* a reader that has seen enough is no failure */
    return mz_fail("cannot write to standard output: %s", strerror(errno));
}

static int write_json(const struct mz_strbuf *json, const struct mz_settings *s)
{
    if (!s->json_file) return mz_session_print(json);
    if (mz_files_write(s->json_file, mz_strbuf_text(json)) == 0) return 0;
    return mz_fail("cannot write %s: %s", s->json_file, mz_reason(errno));
}

static int write_text(const struct mz_report *report, const struct mz_settings *s, bool sources)
{
    struct mz_strbuf b = {0};
    struct mz_style style = {
        .color = mz_settings_color(s, STDOUT_FILENO), .all = s->verbose, .sources = sources};
    style.width = mz_session_width();
    if (s->quiet)
        mz_text_verdict(&b, report, &style);
    else
        mz_text_report(&b, report, &style);
    int status = mz_session_print(&b);
    mz_strbuf_release(&b);
    return status;
}

/* JSON gets the strings as they are, so it is made first; the text is written first. */
int mz_session_write(struct mz_report *report, const struct mz_settings *s, bool sources)
{
    int status = (int)mz_verdict_status(report->verdict), written = 0;
    bool stdout_is_json = s->json && !s->json_file;
    struct mz_strbuf json = {0};
    if (s->json) mz_report_json(&json, report);
    mz_report_printable(report);
    if (report->verdict != MZ_FAILED && !stdout_is_json) written = write_text(report, s, sources);
    if (s->json) {
        int failed = write_json(&json, s);
        if (failed) written = failed;
    }
    mz_strbuf_release(&json);
    return written ? written : status;
}
