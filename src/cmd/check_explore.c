/* `mazurka check`: one search, by one worker or several. See check_internal.h. */
#define _GNU_SOURCE
#include "cmd/check_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/files.h"
#include "cmd/fingerprint_of.h"
#include "dist/pool.h"
#include "event/tree_file.h"
#include "launch/mpirun.h"

#define ONLY_SECONDS 10.0 /* --estimate=only without --time-limit */

/* Why can workers of a stateful search not share their states? NULL: they can. */
static const char *why_alone(const struct mz_settings *s, bool cluster)
{
    if (s->portfolio) return "portfolio"; /* they run side by side */
    if (s->algorithm == MZ_ALG_STATIC_STATEFUL) return "persistent sets with states";
    if (s->sleep_sets) return "sleep sets with states";
    if (s->exact_match) return "--state-match=exact";
    if (s->state_capture == MZ_CAPTURE_DELTA) return "--state-capture=delta";
    return cluster ? "stateful algorithms" : NULL;
}

/* A search can be shared by workers, or saved, if it consists of nothing but its tree, or of states that mean the same in
 * every process. */
int mz_check_is_shared(const struct mz_settings *s, bool cluster, bool *shared)
{
    bool wanted = s->jobs > 1 || s->checkpoint || s->resume || cluster;
    const char *alone = mz_algorithm_is_stateful(s->algorithm) ? why_alone(s, cluster) : NULL;
    *shared = wanted && !alone;
    if (!wanted || !alone) return 0;
    if (s->checkpoint || s->resume)
        return mz_fail("--%s is not for %s%s", s->checkpoint ? "checkpoint" : "resume", alone,
                       cluster ? " under mpirun" : "");
    mz_notice("%s explores with one worker%s: %s is not for %s", s->algorithm_name,
              s->portfolio ? " for each algorithm" : "", cluster ? "mpirun" : "-j", alone);
    return 0;
}

/* What the target writes while it searches: the option, and how its files begin. */
struct log_option {
    const char *name, *magic;
};

static struct log_option log_option_of(const struct mz_settings *s)
{
    if (s->classes) return (struct log_option){"classes", MZ_CLASSES_MAGIC};
    return (struct log_option){"record-tree", MZ_TREE_MAGIC};
}

/* Overwrite only files that mazurka wrote. */
static bool is_ours_or_empty(const char *name, const char *expected)
{
    char magic[32];
    size_t size = strlen(expected);
    MZ_ASSERT(size <= sizeof magic);
    struct stat s;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true; /* no such file, or it cannot be written either */
    bool regular = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    ssize_t n = regular ? read(fd, magic, size) : 0;
    close(fd);
    return n <= 0 || ((size_t)n == size && memcmp(magic, expected, size) == 0);
}

static int cannot_record(const struct log_option *option, const char *name, int error)
{
    return mz_fail("--%s: cannot write %s: %s", option->name, name, mz_reason(error));
}

/* Create the file; the target appends to it. */
static int make_log_file(const struct mz_settings *settings, char **path)
{
    struct log_option option = log_option_of(settings);
    const char *name = settings->classes ? settings->classes : settings->record_tree;
    struct stat s;
    char *real = mz_files_follow(name);
    if (!real) return cannot_record(&option, name, errno);
    int status = 0;
    if (stat(real, &s) == 0 && S_ISFIFO(s.st_mode)) status = mz_fail("--%s: %s is a pipe", option.name, name);
    if (status == 0 && !is_ours_or_empty(real, option.magic))
        status = mz_fail("--%s: %s is another file: remove it first", option.name, name);
    if (status == 0) {
        int follow = mz_files_special(real) ? 0 : O_NOFOLLOW;
        int fd = open(real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow, 0666);
        if (fd >= 0) close(fd);
        *path = fd >= 0 ? realpath(real, NULL) : NULL;
        if (!*path) status = cannot_record(&option, name, errno);
    }
    free(real);
    return status;
}

static void look_at_log_file(const struct mz_check *c)
{
    const struct mz_settings *s = &c->settings;
    const struct mz_channel *channel = c->outcome.channel;
    const char *name = s->classes ? s->classes : s->record_tree, *what = s->classes ? "classes" : "tree";
    if (!name || !channel) return;
    if (channel->tree_error)
        mz_notice("the %s could not be written to %s: %s", what, name, strerror((int)channel->tree_error));
    else if (channel->end != MZ_END_COMPLETE && channel->end != MZ_END_ROUNDS &&
             channel->end != MZ_END_THREADS)
        mz_notice("the %s in %s %s not complete", what, name, s->classes ? "are" : "is");
}

/* Send the other ranks home: what follows may take long, and they have no part in it. */
void mz_check_dismiss_ranks(struct mz_check *c)
{
    if (!c->cluster) return;
    mz_cluster_close(c->cluster, MZ_STATUS_FAILED);
    c->cluster = NULL;
}

/* Each worker has only a part of the memory. A single worker has all of it, and optimal can fall back to source.
 * Findings and checkpoints are kept. */
static bool needs_all_memory(const struct mz_check *c)
{
    const struct mz_settings *s = &c->settings;
    const struct mz_channel *channel = c->outcome.channel;
    return channel->end == MZ_END_MEMORY && s->memory_limit && !s->checkpoint && !s->resume &&
           !channel->finding_count && !c->outcome.interrupted && !c->outcome.timed_out;
}

/* Run again in place of a run that was given up: counters start over, time and memory do not. */
static int run_again(struct mz_check *c, struct mz_target *t, const struct mz_pool_options *shared,
                     double rival)
{
    double limit = t->time_limit;
    struct mz_outcome *o = &c->outcome, before = *o;
    double processor = before.sharing.workers ? before.sharing.processor : before.processor;
    mz_outcome_release(o);
    mz_progress_restart(&t->progress, before.seconds);
    t->options.shared = 0;
    t->options.memory_limit = c->settings.memory_limit;
    t->rival = rival;
    if (limit > 0) t->time_limit = limit > before.seconds ? limit - before.seconds : 1e-3;
    int status = shared ? mz_pool_run(t, shared, o) : mz_target_run(t, o);
    o->seconds += before.seconds;
    o->processor += processor;
    if (o->sharing.workers) o->sharing.processor += processor;
    if (before.peak_memory > o->peak_memory) o->peak_memory = before.peak_memory;
    o->time_limit = t->time_limit = limit;
    return status;
}

static bool killed_by_others(const struct mz_outcome *o)
{
    return !o->killed && WIFSIGNALED(o->wait_status) && WTERMSIG(o->wait_status) == SIGKILL;
}

/* Where each execution is a task by itself, messages may cost more than executions: then one worker is faster. The
 * only way to know is to try. If somebody kills the single worker, the whole search is lost: then the pool, which
 * replaces such workers, explores again. */
static int try_alone(struct mz_check *c, struct mz_target *t, struct mz_pool_options *pool)
{
    enum mz_trial trial = mz_pool_trial();
    pool->may_give_up = false;
    if (trial == MZ_TRIAL_TOGETHER) return run_again(c, t, pool, 0);
    int status = run_again(c, t, NULL, trial == MZ_TRIAL_ALONE ? 0 : c->outcome.given_up);
    bool pool_is_better = c->outcome.slower || killed_by_others(&c->outcome);
    if (status == 0 && pool_is_better && !c->outcome.interrupted) return run_again(c, t, pool, 0);
    c->report.lost_workers = c->settings.jobs;
    c->report.too_fine = true;
    return status;
}

static int explore_together(struct mz_check *c, struct mz_target *t, struct mz_pool_options *pool)
{
    int status = mz_pool_run(t, pool, &c->outcome);
    if (status == 0 && c->outcome.given_up > 0) status = try_alone(c, t, pool);
    if (status != 0) return status;
    c->outcome.channel->options.memory_limit = c->settings.memory_limit; /* of all runs together */
    if (c->report.lost_workers || !needs_all_memory(c)) return 0;
    mz_check_dismiss_ranks(c);
    c->report.lost_workers = c->settings.jobs;
    return run_again(c, t, NULL, 0);
}

enum mz_progress_form mz_check_progress_form(const struct mz_settings *s)
{
    const char *name = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && !mz_mpirun_is_parent() && !(name && !strcmp(name, "dumb"));
    if (s->progress == MZ_JSON) return MZ_PROGRESS_JSON;
    if (s->progress == MZ_NEVER || (s->progress == MZ_AUTO && (!terminal || s->quiet)))
        return MZ_PROGRESS_NONE;
    return terminal ? MZ_PROGRESS_LINE : MZ_PROGRESS_LOG;
}

/* What is left of the time limit; 0: there is no limit. */
static double time_left(const struct mz_check *c)
{
    double limit = c->settings.time_limit;
    if (limit <= 0) return 0;
    return limit > c->spent.seconds ? limit - c->spent.seconds : 1e-3;
}

/* Does the algorithm run each class of executions once? That is what a survey counts. */
static bool may_survey(const struct mz_settings *s)
{
    return !mz_algorithm_is_stateful(s->algorithm) && s->sleep_sets && s->algorithm != MZ_ALG_CLASSIC &&
           s->bound == MZ_BOUND_NONE;
}

/* --estimate=only: random executions in place of the search. */
static int survey_only(struct mz_check *c, struct mz_target *t)
{
    if (c->settings.strategy != MZ_STRATEGY_EXHAUSTIVE)
        return mz_fail("--estimate=only draws executions in its own way: leave out --strategy");
    if (!may_survey(&c->settings))
        return mz_fail(
            "--estimate=only needs an algorithm that runs each class of executions once, such as optimal");
    if (c->cluster || c->settings.checkpoint || c->settings.resume || mz_settings_recorded(&c->settings))
        return mz_fail(
            "--estimate=only does not search: it cannot be used with mpirun, --checkpoint, --resume, "
            "--record-tree, --classes or --count-sets");
    t->options.survey = mz_survey_seed();
    if (t->time_limit <= 0) t->time_limit = ONLY_SECONDS;
    int status = mz_target_run(t, &c->outcome);
    if (c->outcome.channel) {
        c->outcome.estimate = mz_survey_read(&c->outcome.channel->survey);
        c->outcome.channel->counters.work_done = c->outcome.channel->counters.blocked = 0;
        mz_list_add(&c->report.notes, "--estimate=only: these are random executions, nothing was searched");
    }
    mz_progress_close(&t->progress);
    return status;
}

int mz_check_explore(struct mz_check *c)
{
    const struct mz_settings *s = &c->settings;
    struct mz_target t;
    mz_rerun_target(&t, s, &c->program, &s->arguments);
    t.options.mode = MZ_MODE_EXPLORE;
    t.options.keep_going = s->keep_going;
    t.options.max_executions = s->max_executions;
    t.options.memory_limit = s->memory_limit;
    t.time_limit = time_left(c);
    t.alongside = s->alongside;
    t.progress = (struct mz_progress){
        .form = mz_check_progress_form(s), .algorithm = s->algorithm_name, .board = s->board};
    if (c->spent.seconds > 0) mz_progress_restart(&t.progress, c->spent.seconds);
    if (s->estimate == MZ_ESTIMATE_ONLY) return survey_only(c, &t);
    if (s->estimate == MZ_ESTIMATE_AUTO && may_survey(s) && s->strategy == MZ_STRATEGY_EXHAUSTIVE)
        t.survey.state = MZ_SURVEY_WAITS;
    bool shared;
    int status = mz_check_is_shared(s, c->cluster != NULL, &shared);
    if (status != 0) return status;
    if (s->record_tree || s->classes) status = make_log_file(s, &t.tree_file);
    if (status != 0) return status;
    if (!shared) {
        status = mz_target_run(&t, &c->outcome);
        mz_progress_close(&t.progress);
        look_at_log_file(c);
        free(t.tree_file);
        return status;
    }
    struct mz_fingerprint fingerprint;
    mz_fingerprint_make(&fingerprint, s, &c->recipe);
    struct mz_pool_options pool = {s->jobs,
                                   s->checkpoint,
                                   s->safe ? NULL : s->resume,
                                   s->checkpoint_interval,
                                   &fingerprint,
                                   c->cluster,
                                   .unseen = &c->report.unseen,
                                   .starts_over = s->safe != MZ_SAFE_OFF,
                                   .may_give_up = !c->cluster};
    t.cluster = c->launched;
    status = explore_together(c, &t, &pool);
    mz_progress_close(&t.progress);
    mz_fingerprint_release(&fingerprint);
    return status;
}
