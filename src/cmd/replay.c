/* `mazurka replay`: run exactly the schedule of a trace file again. */
#define _GNU_SOURCE
#include "cmd/commands.h"

#include "build/build.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "cmd/help.h"
#include "cmd/output.h"
#include "cmd/rerun.h"
#include "cmd/vet.h"

static int changed(const char *trace, const struct mz_recipe *r, const char *used)
{
    const char *what = r->program ? r->program : "the program";
    if (r->compiler && used && strcmp(used, r->compiler) != 0)
        return mz_fail(
            "%s: %s is not the program that the trace was made of, which was built with `%s`, this one with "
            "`%s`: name that compiler in MAZURKA_CC, or use --trust",
            trace, what, r->compiler, used);
    return mz_fail(
        "%s: %s has changed since the trace was made, so its schedule means nothing now: run `mazurka check` "
        "again",
        trace, what);
}

/* Build or find the program of the trace, and check that it has not changed. */
static int prepare(const char *trace, const struct mz_recipe *r, bool trust, struct mz_program *program)
{
    if (!r->binary && r->build.count == 0)
        return mz_fail(
            "%s: the trace names neither a program nor source files: make it again with `mazurka check`",
            trace);
    int status = trust ? 0 : mz_vet_recipe(trace, r);
    if (status == 0 && r->binary)
        status = mz_build_take(r->binary, program);
    else if (status == 0)
        status = mz_build(&r->build, trust ? r->compiler : mz_vet_compiler(r), program);
    if (status == 0 && strcmp(program->identity, r->identity) != 0)
        status = changed(trace, r, program->compiler);
    return status;
}

/* Our own files are not in the directory of the trace. */
static void make_absolute(char **path)
{
    char here[PATH_MAX];
    if (!*path || **path == '/' || !getcwd(here, sizeof here)) return;
    char *whole = mz_format("%s/%s", here, *path);
    free(*path);
    *path = whole;
}

/* Change to the directory where `check` ran, so that relative names mean the same. */
static void enter_directory(const struct mz_recipe *r)
{
    if (r->directory && chdir(r->directory) < 0)
        mz_notice("%s: %s; looking for the program here", r->directory, strerror(errno));
}

static int run(const char *trace, const struct mz_settings *s, const struct mz_recipe *r,
               struct mz_finding_report *expected)
{
    struct mz_report report = {.algorithm = "replay", .verdict = MZ_ERROR, .finding_count = 1};
    struct mz_replay replay = {expected->kind,
                               expected->thread,
                               expected->code,
                               expected->schedule,
                               expected->schedule_length,
                               expected->address,
                               expected->size,
                               expected->hash,
                               expected->block,
                               expected->locations,
                               expected->location_count,
                               expected->slots};
    struct mz_program program = {0};
    struct mz_outcome outcome = {0};
    struct mz_target target;
    int status = prepare(trace, r, s->trust, &program);
    report.findings = mz_memory_new(sizeof *report.findings);
    if (status == 0) {
        mz_rerun_target(&target, s, &program, &r->arguments);
        target.options.allow_races = r->allow_races;
        target.options.heap_reuse = r->heap_reuse;
        target.options.leaks = r->leaks;
        target.options.keep_going = r->keep_going;
        target.options.spurious_wakeups = r->spurious_wakeups;
        target.options.algorithm = mz_algorithm_named(r->algorithm);
        target.options.nondet_given = r->nondet_given;
        target.options.nondet_low = r->nondet_low;
        target.options.nondet_high = r->nondet_high;
        target.options.max_steps = r->max_steps ? r->max_steps : s->max_steps;
        status = mz_rerun_replay(&target, &replay, &outcome, &report.findings[0]);
    }
    if (status == 0 && !report.findings[0].replayed)
        status = mz_fail("%s: not the same outcome: %s", trace, report.findings[0].replay_problem);
    if (status == 0) {
        report.counters = outcome.channel->counters;
        report.seconds = outcome.seconds;
        report.peak_memory = outcome.peak_memory;
        report.interrupted = true;
        report.replay = true;
        report.findings[0].trace = mz_memory_string(trace);
        report.findings[0].execution = expected->execution;
        status = mz_output_report(&report, s);
    }
    mz_report_release(&report);
    mz_outcome_release(&outcome);
    mz_program_release(&program);
    return status;
}

int mz_command_replay(int argc, char **argv)
{
    struct mz_settings s;
    struct mz_recipe recipe = {0};
    struct mz_finding_report finding = {0};
    (void)argc;
    int status = mz_options_parse(&s, MZ_FOR_REPLAY, argv);
    if (status == 0 && (s.help || s.version)) {
        status = s.help ? mz_help("replay") : mz_version();
    } else if (status == 0) {
        if (s.words.count != 1 || s.arguments.count)
            status = mz_fail("replay: one trace file is wanted: mazurka replay TRACE");
        if (status == 0) status = mz_trace_read(s.words.items[0], &recipe, &finding);
        for (int i = 0; mz_writers[i]; i++) make_absolute(&s.output_files[i]);
        if (status == 0) enter_directory(&recipe);
        if (status == 0) status = run(s.words.items[0], &s, &recipe, &finding);
    }
    mz_finding_report_release(&finding);
    mz_recipe_release(&recipe);
    mz_settings_release(&s);
    return status;
}
