/* `mazurka check`: build, explore, replay what was found, report. */
#define _GNU_SOURCE
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../event/tree_file.h"
#include "../report/files.h"
#include "../report/memory.h"
#include "cc_line.h"
#include "cluster.h"
#include "help.h"
#include "origin.h"
#include "pool.h"
#include "portfolio.h"
#include "session.h"
#include "tempdir.h"

struct check {
    struct mz_settings settings;
    struct mz_program program;
    struct mz_recipe recipe;
    struct mz_outcome outcome; /* of the exploration */
    struct mz_report report;
    struct mz_finding *death;   /* if the target died without a word */
    struct mz_cluster *cluster; /* NULL: mpirun did not start us, or the other ranks have left */
    bool launched;              /* mpirun started us */
    struct {                    /* by searches that were thrown away */
        double seconds, processor;
        uint64_t peak_memory;
    } spent;
};

/* ---- what to run ---- */

static bool is_option(const char *word) { return word[0] == '-' && word[1]; }

/* A single word that is neither a source nor something for the linker is a program. */
static const char *given_program(const struct mz_list *words)
{
    static const char *const endings[] = {".o", ".a", ".so"};
    const char *word = words->count ? words->items[0] : NULL;
    if (words->count != 1 || is_option(word) || mz_cc_is_source_name(word)) return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(word), e = strlen(endings[i]);
        if (n > e && !strcmp(word + n - e, endings[i])) return word; /* mz_elf_check says what is wrong */
    }
    return word;
}

static int mixed_words(const struct mz_list *words)
{
    const char *program = NULL;
    bool sources = false, flags = false;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i], *dot = strrchr(mz_files_base(word), '.');
        if (is_option(word)) {
            flags = true;
            i += mz_cc_takes_value(word);
        } else if (mz_cc_is_source_name(word)) {
            sources = true;
        } else if (!dot && word[0] != '@') {
            program = word;
        }
    }
    if (program && sources)
        return mz_fail("check: %s is no source file: give C or C++ files, or one program", program);
    if (program && flags)
        return mz_fail(
            "check: compiler flags make no sense for %s, which is built already (arguments of the program "
            "go behind --)",
            program);
    if (!sources) return mz_fail("check: no source file and no program given: mazurka check FILE.c");
    return 0;
}

/* Where plain accesses are sequentially consistent, the compiler must not take them out of loops: no
 * optimization, unless one is asked for. */
static void set_optimization(struct mz_settings *s)
{
    struct mz_list words = {0};
    mz_list_add(&words, "-O0");
    mz_list_append(&words, &s->words);
    mz_list_release(&s->words);
    s->words = words;
}

/* Better now than when all is done. */
static int look_at_targets(struct mz_settings *s)
{
    const char *const targets[] = {s->json_file, s->trace};
    struct stat status;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i] && stat(targets[i], &status) == 0 && S_ISDIR(status.st_mode)) {
            if (i == 0) s->json = false;
            return mz_fail("cannot write %s: it is a directory", targets[i]);
        }
    return 0;
}

#define ADDRESSES                                                                                            \
    ((uint64_t)1 << 40) /* reserved, for the program and for the search: far more than is used */

static int look_at_limits(void)
{
    struct rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) < 0 || addresses.rlim_cur >= ADDRESSES) return 0;
    return mz_fail("a limit of address space this low is not supported: raise it (ulimit -v unlimited); "
                   "--memory-limit is about memory");
}

static int prepare(struct check *c)
{
    struct mz_recipe *r = &c->recipe;
    const char *given = given_program(&c->settings.words);
    if (look_at_targets(&c->settings) != 0 || look_at_limits() != 0) return MZ_STATUS_FAILED;
    if (c->settings.words.count == 0)
        return mz_fail("check: nothing to check: mazurka check FILE.c, or a program built with `mazurka cc`");
    int status = given ? 0 : mixed_words(&c->settings.words);
    if (!given && c->settings.allow_races) set_optimization(&c->settings);
    if (status == 0)
        status = given ? mz_build_take(given, &c->program) : mz_build(&c->settings.words, NULL, &c->program);
    if (status != 0) return status;
    r->directory = getcwd(NULL, 0);
    r->program = mz_memory_string(c->program.name);
    r->binary = given ? realpath(given, NULL) : NULL;
    r->compiler = mz_memory_string(c->program.compiler);
    if (!given) mz_list_append(&r->build, &c->settings.words);
    mz_list_append(&r->arguments, &c->settings.arguments);
    memcpy(r->identity, c->program.identity, sizeof r->identity);
    r->algorithm = mz_memory_string(c->settings.algorithm_name);
    r->allow_races = c->settings.allow_races;
    r->heap_reuse = c->settings.heap_reuse;
    r->leaks = c->settings.leaks;
    r->keep_going = c->settings.keep_going;
    r->spurious_wakeups = c->settings.spurious_wakeups;
    r->nondet_given = c->settings.nondet_given;
    r->nondet_low = c->settings.nondet_low;
    r->nondet_high = c->settings.nondet_high;
    r->max_steps = c->settings.max_steps;
    return 0;
}

/* ---- exploring ---- */

/* Only a search whose tree is all there is can be shared by workers, or be saved. */
static int is_shared(const struct mz_settings *s, bool cluster, bool *shared)
{
    bool stateful = s->algorithm >= MZ_ALG_STATEFUL;
    *shared = !stateful && (s->jobs > 1 || s->checkpoint || s->resume || cluster);
    if (!stateful) return 0;
    if (s->checkpoint || s->resume)
        return mz_fail("--%s is not for %s, which knows the states that it has seen",
                       s->checkpoint ? "checkpoint" : "resume", s->algorithm_name);
    if (s->jobs > 1 || cluster)
        mz_notice(
            "%s explores with one worker%s: %s is not for algorithms that know the states they have seen",
            s->algorithm_name, s->portfolio ? " for each algorithm" : "", cluster ? "mpirun" : "-j");
    return 0;
}

/* Only what was written by us is overwritten. */
static bool is_tree_or_empty(const char *name)
{
    char magic[sizeof MZ_TREE_MAGIC - 1];
    struct stat s;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true; /* there is none, or it cannot be written either */
    bool regular = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    ssize_t n = regular ? read(fd, magic, sizeof magic) : 0;
    close(fd);
    return n <= 0 || (n == sizeof magic && memcmp(magic, MZ_TREE_MAGIC, sizeof magic) == 0);
}

static int cannot_record(const char *name, int error)
{
    return mz_fail("--record-tree: cannot write %s: %s", name, mz_reason(error));
}

/* The target appends to it. */
static int make_tree_file(const char *name, char **path)
{
    struct stat s;
    char *real = mz_files_follow(name);
    int status = real ? 0 : cannot_record(name, errno);
    if (status == 0 && stat(real, &s) == 0 && S_ISFIFO(s.st_mode))
        status = mz_fail("--record-tree: %s is a pipe", name);
    if (status == 0 && !is_tree_or_empty(real))
        status = mz_fail("--record-tree: %s is another file: remove it first", name);
    if (status == 0) {
        int follow = mz_files_special(real) ? 0 : O_NOFOLLOW;
        int fd = open(real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow, 0666);
        if (fd >= 0) close(fd);
        *path = fd >= 0 ? realpath(real, NULL) : NULL;
        if (!*path) status = cannot_record(name, errno);
    }
    free(real);
    return status;
}

static void look_at_tree_file(const struct check *c)
{
    const struct mz_channel *channel = c->outcome.channel;
    if (!c->settings.record_tree || !channel) return;
    if (channel->tree_error)
        mz_notice("the tree could not be written to %s: %s", c->settings.record_tree,
                  strerror((int)channel->tree_error));
    else if (channel->end != MZ_END_COMPLETE && channel->end != MZ_END_ROUNDS)
        mz_notice("the tree in %s is not complete", c->settings.record_tree);
}

/* What follows may take long, and they have no part in it. */
static void send_others_home(struct check *c)
{
    if (!c->cluster) return;
    mz_cluster_close(c->cluster, MZ_STATUS_FAILED);
    c->cluster = NULL;
}

/* Each worker has its share of the memory: alone, there is more of it, and optimal can fall back to source.
 * What workers found is not thrown away, nor is what a checkpoint holds. */
static bool needs_all_memory(const struct check *c)
{
    const struct mz_settings *s = &c->settings;
    const struct mz_channel *channel = c->outcome.channel;
    return channel->end == MZ_END_MEMORY && s->memory_limit && !s->checkpoint && !s->resume &&
           !channel->finding_count && !c->outcome.interrupted && !c->outcome.timed_out;
}

/* Instead of a run that was given up: what is counted starts over, what it took does not. */
static int run_again(struct check *c, struct mz_target *t, const struct mz_pool_options *shared, double rival)
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

/* Where each execution is handed out by itself, messages may cost more than it does: then one worker is faster. The
 * only way to know is to try. */
static int try_alone(struct check *c, struct mz_target *t, struct mz_pool_options *pool)
{
    int status = run_again(c, t, NULL, c->outcome.given_up);
    pool->may_give_up = false;
    if (status == 0 && c->outcome.slower && !c->outcome.interrupted) return run_again(c, t, pool, 0);
    c->report.lost_workers = c->settings.jobs;
    c->report.too_fine = true;
    return status;
}

static int explore_together(struct check *c, struct mz_target *t, struct mz_pool_options *pool)
{
    int status = mz_pool_run(t, pool, &c->outcome);
    if (status == 0 && c->outcome.given_up > 0) status = try_alone(c, t, pool);
    if (status != 0) return status;
    c->outcome.channel->options.memory_limit = c->settings.memory_limit; /* of all together */
    if (c->report.lost_workers || !needs_all_memory(c)) return 0;
    send_others_home(c);
    c->report.lost_workers = c->settings.jobs;
    return run_again(c, t, NULL, 0);
}

static enum mz_progress_form progress_form(const struct mz_settings *s)
{
    const char *name = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && !mz_cluster_is_launched() && !(name && !strcmp(name, "dumb"));
    if (s->progress == MZ_JSON) return MZ_PROGRESS_JSON;
    if (s->progress == MZ_NEVER || (s->progress == MZ_AUTO && (!terminal || s->quiet)))
        return MZ_PROGRESS_NONE;
    return terminal ? MZ_PROGRESS_LINE : MZ_PROGRESS_LOG;
}

/* Of the time limit; 0: there is none. */
static double time_left(const struct check *c)
{
    double limit = c->settings.time_limit;
    if (limit <= 0) return 0;
    return limit > c->spent.seconds ? limit - c->spent.seconds : 1e-3;
}

static int explore(struct check *c)
{
    const struct mz_settings *s = &c->settings;
    struct mz_target t;
    mz_session_target(&t, s, &c->program, &s->arguments);
    t.options.mode = MZ_MODE_EXPLORE;
    t.options.keep_going = s->keep_going;
    t.options.max_executions = s->max_executions;
    t.options.memory_limit = s->memory_limit;
    t.time_limit = time_left(c);
    t.progress =
        (struct mz_progress){.form = progress_form(s), .algorithm = s->algorithm_name, .board = s->board};
    if (c->spent.seconds > 0) mz_progress_restart(&t.progress, c->spent.seconds);
    bool shared;
    int status = is_shared(s, c->cluster != NULL, &shared);
    if (status != 0) return status;
    if (s->record_tree) status = make_tree_file(s->record_tree, &t.tree_file);
    if (status != 0) return status;
    if (!shared) {
        status = mz_target_run(&t, &c->outcome);
        mz_progress_close(&t.progress);
        look_at_tree_file(c);
        free(t.tree_file);
        return status;
    }
    struct mz_origin origin;
    mz_origin_make(&origin, s, &c->recipe);
    struct mz_pool_options pool = {s->jobs,
                                   s->checkpoint,
                                   s->safe ? NULL : s->resume,
                                   s->checkpoint_interval,
                                   &origin,
                                   c->cluster,
                                   .unseen = &c->report.unseen,
                                   .starts_over = s->safe != MZ_SAFE_OFF,
                                   .may_give_up = !c->cluster};
    t.cluster = c->launched;
    status = explore_together(c, &t, &pool);
    mz_progress_close(&t.progress);
    mz_origin_release(&origin);
    return status;
}

/* ---- findings ---- */

static char *trace_name(const struct check *c, size_t number)
{
    if (c->settings.trace)
        return number == 1 ? mz_memory_string(c->settings.trace)
                           : mz_format("%s.%zu", c->settings.trace, number);
    return mz_format("mazurka-%s-%zu.trace", mz_files_base(c->program.name), number);
}

static void write_trace(const struct check *c, struct mz_bug *bug, size_t number)
{
    char *name = trace_name(c, number);
    if (mz_trace_write(name, &c->recipe, bug) == 0) {
        bug->trace = name;
        return;
    }
    mz_notice("cannot write the trace file %s: %s", name, mz_reason(errno));
    free(name);
}

/* Is it an error of the program? Either it has been replayed; or there was no time for that; or the program does not
 * do the same twice, which cannot be replayed: that is believed if nothing was gone back on to find it. */
static bool is_certain(const struct check *c, const struct mz_bug *bug)
{
    if (bug->replayed || c->outcome.interrupted) return true;
    return bug->kind == MZ_KIND_NONDETERMINISM && c->settings.safe == MZ_SAFE_RERUN;
}

#define REPLAYS 3

/* Somebody may kill the process that replays (SIGKILL, perhaps for lack of memory): that says nothing of the finding. */
static void replay(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *again,
                   struct mz_bug *bug)
{
    for (int i = 0; i < REPLAYS; i++) {
        if (i) {
            mz_outcome_release(again);
            *again = (struct mz_outcome){0};
            free(bug->replay_problem);
            bug->replay_problem = NULL;
        }
        mz_session_replay(t, r, again, bug);
        bool killed = WIFSIGNALED(again->wait_status) && WTERMSIG(again->wait_status) == SIGKILL;
        if (bug->replayed || !killed || again->killed || again->interrupted) return;
    }
}

static void explain(struct check *c, const struct mz_finding *f, size_t number)
{
    const struct mz_step *schedule = mz_outcome_schedule(&c->outcome, f);
    uint64_t block = f->area == MZ_AREA_HEAP ? f->object_start : 0;
    const struct mz_channel *channel = c->outcome.channel;
    size_t locations = f->locations < channel->location_count ? f->locations : channel->location_count;
    struct mz_replay r = {
        (enum mz_kind)f->kind, f->thread, f->code,         schedule, f->steps, 0, 0, f->hash, block,
        channel->locations,    locations, channel->threads};
    struct mz_bug *bug = &c->report.bugs[c->report.bug_count++];
    struct mz_outcome again = {0};
    struct mz_target t;
    if (f->kind == MZ_KIND_DATA_RACE) r.address = f->address, r.size = f->size;
    mz_session_target(&t, &c->settings, &c->program, &c->settings.arguments);
    t.show_output = false;
    t.options.keep_going = c->settings.keep_going;
    if (c->outcome.interrupted)
        bug->replay_problem = mz_memory_string("interrupted before that");
    else
        replay(&t, &r, &again, bug);
    if (again.interrupted) c->outcome.interrupted = true; /* nor are the others waited for */
    if (f == c->death && f->code == SIGKILL && !bug->replayed) {
        mz_bug_release(bug);
        c->report.bug_count--;
        c->outcome.lost = true; /* it is no fault of the program's */
        mz_outcome_release(&again);
        return;
    }
    if (!bug->replayed) { /* then what the exploration knows has to do */
        char *problem = bug->replay_problem;
        mz_collect_bug(&c->outcome, f, schedule, f->steps, bug);
        bug->replay_problem = problem;
    }
    bug->execution = f->execution;
    mz_bug_set_locations(bug, channel->locations, locations);
    if (is_certain(c, bug)) write_trace(c, bug, number);
    mz_outcome_release(&again);
}

static void explain_all(struct check *c)
{
    const struct mz_channel *channel = c->outcome.channel;
    size_t count = channel->finding_count, number = 0;
    c->death = mz_memory_new(sizeof *c->death);
    bool died = mz_collect_death(&c->outcome, c->death);
    c->report.bugs = mz_memory_new((count + 1) * sizeof *c->report.bugs);
    for (size_t i = 0; i < count; i++) explain(c, &channel->findings[i], ++number);
    if (died) explain(c, c->death, ++number);
}

/* For tests: a finding that does not replay is a bug of ours. A program that is not deterministic need not. */
static int must_replay(const struct check *c)
{
    if (!getenv("MAZURKA_MUST_REPLAY") || c->outcome.interrupted) return 0;
    for (size_t i = 0; i < c->report.bug_count; i++) {
        const struct mz_bug *bug = &c->report.bugs[i];
        if (!bug->replayed && bug->kind != MZ_KIND_NONDETERMINISM)
            return mz_fail("internal error: finding %zu (%s) does not replay: %s", i + 1,
                           mz_kind_name(bug->kind), bug->replay_problem ? bug->replay_problem : "?");
    }
    return 0;
}

/* ---- a search that cannot be trusted ---- */

static const struct mz_bug *uncertain_bug(const struct check *c)
{
    for (size_t i = 0; i < c->report.bug_count; i++)
        if (!is_certain(c, &c->report.bugs[i])) return &c->report.bugs[i];
    return NULL;
}

/* Memory changed without a hook, or a finding cannot be replayed: going back did not lead to the states that it was
 * believed to lead to. How safely must it all be searched again? MZ_SAFE_OFF: it need not. */
static enum mz_safe must_be_safe(const struct check *c)
{
    if (c->outcome.interrupted || c->settings.safe == MZ_SAFE_RERUN) return MZ_SAFE_OFF;
    if (uncertain_bug(c)) return MZ_SAFE_RERUN;
    return c->outcome.channel->end == MZ_END_UNSEEN ? MZ_SAFE_PAGES : MZ_SAFE_OFF;
}

static void forget_bugs(struct check *c)
{
    for (size_t i = 0; i < c->report.bug_count; i++) mz_bug_release(&c->report.bugs[i]);
    free(c->report.bugs);
    free(c->death);
    c->report.bugs = NULL;
    c->report.bug_count = 0;
    c->death = NULL;
}

/* Throw away what the search found, but for what it did not see. */
static void start_over(struct check *c, enum mz_safe safe)
{
    const struct mz_bug *bug = uncertain_bug(c);
    struct mz_outcome *o = &c->outcome;
    mz_collect_unseen(o, &c->report.unseen);
    if (bug)
        mz_list_addf(&c->report.unseen,
                     "a first search came to \"%s\", which could not be replayed (%s): the search was run "
                     "again, every "
                     "execution from the start",
                     bug->message ? bug->message : mz_kind_name(bug->kind),
                     bug->replay_problem ? bug->replay_problem : "it ended differently");
    c->spent.seconds += o->seconds;
    c->spent.processor += o->sharing.workers ? o->sharing.processor : o->processor;
    if (o->peak_memory > c->spent.peak_memory) c->spent.peak_memory = o->peak_memory;
    forget_bugs(c);
    mz_outcome_release(o);
    send_others_home(c);
    c->settings.safe = safe;
}

static void add_spent(struct check *c)
{
    struct mz_outcome *o = &c->outcome;
    o->seconds += c->spent.seconds;
    o->processor += c->spent.processor;
    if (o->sharing.workers) o->sharing.processor += c->spent.processor;
    if (c->spent.peak_memory > o->peak_memory) o->peak_memory = c->spent.peak_memory;
    if (c->spent.seconds > 0) o->time_limit = c->settings.time_limit;
}

/* What cannot be replayed is no error, but neither is anything verified then. */
static void drop_uncertain(struct check *c)
{
    struct mz_report *r = &c->report;
    size_t kept = 0;
    for (size_t i = 0; i < r->bug_count; i++) {
        struct mz_bug *bug = &r->bugs[i];
        if (is_certain(c, bug)) {
            r->bugs[kept++] = *bug;
            continue;
        }
        char *text = mz_format(
            "%s (%s:%u): found, but not when the same schedule was replayed (%s); the outcome depends "
            "on more than the schedule",
            bug->message ? bug->message : mz_kind_name(bug->kind), bug->file ? bug->file : "?", bug->line,
            bug->replay_problem ? bug->replay_problem : "it ended differently");
        free(r->unreplayed);
        r->unreplayed = text;
        mz_bug_release(bug);
    }
    r->bug_count = kept;
    if (kept && r->unreplayed) mz_list_add(&r->unseen, r->unreplayed);
}

static int explore_safely(struct check *c)
{
    for (;;) {
        int status = explore(c);
        if (status != 0) return status;
        explain_all(c);
        if ((status = must_replay(c)) != 0) return status;
        enum mz_safe safe = must_be_safe(c);
        if (safe == MZ_SAFE_OFF) break;
        start_over(c, safe);
    }
    drop_uncertain(c);
    add_spent(c);
    return 0;
}

/* ---- the whole ---- */

static void fail_report(struct check *c)
{
    c->report.verdict = MZ_FAILED;
    c->report.interrupted = true;
    free(c->report.reason);
    c->report.reason = mz_memory_string(mz_last_failure());
}

static int explore_and_report(struct check *c, int status)
{
    c->report.algorithm = c->settings.algorithm_name;
    c->report.checkpoint = c->settings.checkpoint;
    c->report.strict = c->settings.strict;
    if (status == 0) status = explore_safely(c);
    if (status != 0) {
        fail_report(c);
    } else {
        c->report.program = mz_memory_string(c->program.name);
        mz_collect_run(&c->outcome, &c->report);
        if (c->report.verdict == MZ_FAILED) mz_fail("%s: %s", c->program.name, c->report.reason);
    }
    return mz_session_write(&c->report, &c->settings, true);
}

/* A member of a portfolio. */
static int check_with(void *data, const struct mz_settings *settings)
{
    struct check *c = data;
    c->settings = *settings;
    free(c->recipe.algorithm);
    c->recipe.algorithm = mz_memory_string(settings->algorithm_name);
    return explore_and_report(c, 0);
}

static int check(struct check *c)
{
    int status = mz_cluster_open(&c->cluster);
    c->launched = c->cluster != NULL;
    if (status == 0) status = prepare(c);
    bool shared;
    if (status == 0 && c->settings.portfolio) {
        status = is_shared(&c->settings, c->cluster != NULL, &shared);
        send_others_home(c);
    }
    if (status == 0 && c->settings.portfolio) {
        struct mz_progress progress = {.form = progress_form(&c->settings),
                                       .algorithm = c->settings.algorithm_name};
        return mz_portfolio(&c->settings, &progress, check_with, c);
    }
    return explore_and_report(c, status);
}

int mz_command_check(int argc, char **argv)
{
    struct check c = {0};
    (void)argc;
    if (mz_cluster_rank() > 0) mz_message_mute(); /* rank 0 says it */
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
    if (c.cluster) mz_tempdir_remove(); /* MPI may not let us come back */
    mz_cluster_close(c.cluster, status);
    return status;
}
