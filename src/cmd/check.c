/* `mazurka check`: build, explore, replay what was found, report. */
#include "cmd/check_internal.h"

#include <stdlib.h>
#include "base/memory.h"
#include "build/build.h"
#include "cmd/commands.h"
#include "cmd/companions.h"
#include "cmd/help.h"
#include "cmd/output.h"
#include "cmd/portfolio.h"
#include "launch/tempdir.h"

/* One search; in a safer mode if its result cannot be trusted. */
static int search(struct mz_check *c)
{
    for (;;) {
        int status = mz_check_explore(c);
        if (status != 0 || mz_companions_have_answer()) return status;
        mz_check_explain(c);
        if ((status = mz_check_must_replay(c)) != 0) return status;
        enum mz_safe safe = mz_check_must_be_safe(c);
        if (safe != MZ_SAFE_OFF)
            mz_check_start_over(c, safe);
        else if (!mz_check_next_bound(c))
            return 0;
    }
}

static int explore_safely(struct mz_check *c)
{
    int status = search(c);
    if (status == 0 && mz_check_may_decide(c)) status = mz_check_decide(c, search);
    if (status != 0) return status;
    mz_check_drop_uncertain(c);
    mz_check_add_spent(c);
    return 0;
}

static void fail_report(struct mz_check *c)
{
    c->report.verdict = MZ_FAILED;
    c->report.interrupted = true;
    free(c->report.reason);
    c->report.reason = mz_memory_string(mz_last_failure());
}

/* An error, or all that there is to explore. */
static bool is_answer(const struct mz_check *c)
{
    return c->report.finding_count || c->outcome.channel->end == MZ_END_COMPLETE;
}

static int explore_and_report(struct mz_check *c, int status)
{
    c->report.algorithm = c->settings.algorithm_name;
    if (c->settings.strategy != MZ_STRATEGY_EXHAUSTIVE) c->report.strategy = c->settings.strategy_name;
    c->report.checkpoint = c->settings.checkpoint;
    c->report.strict = c->settings.strict;
    if (status == 0) status = explore_safely(c);
    const struct mz_member *better = mz_companions_end(status == 0 && is_answer(c));
    if (better) return mz_member_pass_on(better, &c->settings);
    if (status != 0) {
        fail_report(c);
    } else {
        c->report.program = mz_memory_string(c->program.name);
        mz_collect_run(&c->outcome, &c->report);
        mz_companions_tell(&c->report);
        if (c->report.verdict == MZ_FAILED) mz_fail("%s: %s", c->program.name, c->report.reason);
    }
    return mz_output_report(&c->report, &c->settings);
}

/* A member of several searches, in a process of its own. */
static int check_with(void *data, const struct mz_settings *settings)
{
    struct mz_check *c = data;
    c->settings = *settings;
    c->outcome = (struct mz_outcome){0};
    c->spent.seconds = settings->begun;
    free(c->recipe.algorithm);
    c->recipe.algorithm = mz_memory_string(settings->algorithm_name);
    return explore_and_report(c, 0);
}

static int check(struct mz_check *c)
{
    int status = mz_cluster_open(&c->cluster);
    c->launched = c->cluster != NULL;
    if (status == 0) status = mz_check_prepare(c);
    bool shared;
    if (status == 0 && c->settings.portfolio) {
        status = mz_check_is_shared(&c->settings, c->cluster != NULL, &shared);
        mz_check_dismiss_ranks(c);
    }
    if (status == 0 && c->settings.portfolio) {
        struct mz_progress progress = {.form = mz_check_progress_form(&c->settings),
                                       .algorithm = c->settings.algorithm_name};
        return mz_portfolio(&c->settings, &progress, check_with, c);
    }
    if (status == 0) mz_companions_prepare(&c->settings, check_with, c);
    return explore_and_report(c, status);
}

int mz_command_check(int argc, char **argv)
{
    struct mz_check c = {0};
    (void)argc;
    if (mz_cluster_rank() > 0) mz_message_mute(); /* rank 0 prints it */
    int status = mz_options_parse(&c.settings, MZ_FOR_CHECK, argv);
    if (status == 0) status = mz_cluster_check_settings();
    if (status == 0 && (c.settings.help || c.settings.version))
        status = c.settings.help ? mz_help("check") : mz_version();
    else if (mz_cluster_rank() > 0)
        status = status == 0 ? mz_agent() : status;
    else if (status == 0)
        status = check(&c);
    free(c.death);
    mz_report_release(&c.report);
    mz_recipe_release(&c.recipe);
    mz_program_release(&c.program);
    mz_outcome_release(&c.outcome);
    mz_settings_release(&c.settings);
    if (c.cluster) mz_tempdir_remove(); /* MPI may not return */
    mz_cluster_close(c.cluster, status);
    return status;
}
