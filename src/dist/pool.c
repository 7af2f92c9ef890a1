/* The run of a search by several workers: see pool.h. */
#define _GNU_SOURCE
#include "dist/pool_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/region.h"
#include "base/memory.h"
#include "base/message.h"
#include "dist/cluster_internal.h"
#include "dist/local.h"
#include "dist/remote.h"
#include "launch/process.h"

#define POLL          0.02
#define GROWING       0.001  /* the same while more workers are to be started */
#define SAVE_PATIENCE 2.0    /* for workers to give back their tasks */
#define LAST_PATIENCE 0.5    /* the same when time is up */
#define LAST_POLL     0.001  /* when processes are about to end */
#define SOON          0.0002 /* the same, in a cluster */
#define LOOK          0.005  /* between two rounds of work that is not urgent */
#define ESTIMATE      50     /* wait this many times the duration of an estimate before the next one */
#define LEAST_MEMORY  ((uint64_t)64 << 10)
#define ROOM          ((size_t)1 << 32)

/* ---- checkpoints ---- */

static bool all_idle(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && !p->workers[i]->hungry) return false;
    return true;
}

/* At intervals, and before the end, workers give back their tasks. If that takes too long, the checkpoint contains
 * the tasks that are still out, to be explored again. In a stateful search it contains what is finished at that moment. */
static void save(struct mz_pool *p, double now)
{
    if (!p->options->checkpoint || p->asked > 0) return;
    if (p->saving == MZ_SAVING_NOT && now - p->saved >= p->options->interval) {
        p->saving = MZ_SAVING_SOON;
        p->saving_since = now;
    }
    double patience = p->finished ? 0 : p->outcome->timed_out ? LAST_PATIENCE : SAVE_PATIENCE;
    if (p->saving == MZ_SAVING_NOT || (!all_idle(p) && now - p->saving_since < patience)) return;
    mz_checkpoint_write(p);
    p->saving = MZ_SAVING_NOT;
    p->saved = mz_process_clock();
    if (p->stop_when_saved) mz_pool_ask_to_stop(p);
}

/* ---- the run ---- */

/* Is the end of a process the next event? */
static bool about_to_end(const struct mz_pool *p) { return p->asked > 0 || mz_local_some_leave(p); }

static void wait_for_something(struct mz_pool *p, double now)
{
    double longest = mz_pool_wanted_here(p, now) < mz_pool_most_here(p) ? GROWING : POLL;
    if (p->cluster)
        mz_local_nap(p, mz_cluster_nap(p->cluster, about_to_end(p) ? SOON : longest));
    else if (about_to_end(p))
        mz_pool_signal(p, mz_process_next_signal(LAST_POLL));
    else
        mz_local_nap(p, longest);
}

/* The tree may be large, so limit the time spent on estimates. Between two estimates, scale the last one. */
static double estimate_work_done(struct mz_pool *p, const struct mz_counters *all)
{
    double begun = mz_process_clock(), now_done = (double)(all->executions + all->blocked + all->cut);
    const double most = (double)MZ_NEARLY_ALL_WORK / (double)MZ_ALL_WORK;
    if (mz_balance_complete(p->balance)) return 1;
    if (begun < p->estimate_due && p->estimated_at > 0) {
        double done = p->work_done * now_done / p->estimated_at;
        return done < most ? done : most;
    }
    struct mz_worker_leaves *leaves = mz_memory_new(MZ_MAX_WORKERS * sizeof *leaves);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_counters *c = &p->workers[i]->outcome.channel->counters;
        leaves[i] = (struct mz_worker_leaves){c->executions + c->blocked + c->cut, c->expected};
    }
    p->work_done = mz_balance_share(p->balance, leaves);
    p->estimated_at = now_done;
    free(leaves);
    double now = mz_process_clock();
    p->estimate_due = now + ESTIMATE * (now - begun);
    return p->work_done;
}

static struct mz_progress_view progress(struct mz_pool *p)
{
    struct mz_progress_view view = {.counters = mz_pool_counters(p),
                                    .workers = p->living ? p->living : p->most};
    const struct mz_survey *survey = &p->target->survey;
    view.work_done =
        mz_survey_share(survey, (double)view.counters.executions, estimate_work_done(p, &view.counters));
    view.total = survey->interval;
    mz_pool_collect(p);
    view.errors = p->found.count;
    return view;
}

/* Other searches have their turns, and may make this one unnecessary. While a checkpoint is made, or the search ends,
 * all workers are needed. */
static void look_alongside(struct mz_pool *p, double now)
{
    struct mz_alongside *a = p->target->alongside;
    if (!a || (now - p->looked_alongside < MZ_ALONGSIDE_EVERY && p->asked <= 0)) return;
    p->looked_alongside = now;
    if (p->asked <= 0) {
        struct mz_progress_view view = {.counters = mz_pool_counters(p), .errors = p->found.count};
        if (a->look(a->data, &view)) mz_pool_interrupt(p);
    }
    bool all = p->asked > 0 || p->saving != MZ_SAVING_NOT;
    uint32_t here = mz_pool_living_here(p), number = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && p->workers[i]->kind->is_here)
            mz_watch_rest(&p->workers[i]->watch, !all && mz_alongside_rests(a, number++, here));
}

/* Work that need not be done for every message. */
static void look_around(struct mz_pool *p, double now)
{
    if (!about_to_end(p) && now - p->looked < LOOK) return;
    p->looked = now;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive) p->workers[i]->kind->reap(p, p->workers[i]);
    mz_pool_signal(p, mz_process_next_signal(0));
    mz_pool_look_at_limits(p, now);
    mz_pool_look_at_parts(p, now);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive) p->workers[i]->kind->look(p->workers[i], now);
    mz_survey_look(&p->target->survey, p->target, now - p->started);
    look_alongside(p, now);
    if (!mz_progress_due(&p->target->progress, now - p->started)) return;
    struct mz_progress_view view = progress(p);
    mz_progress_update(&p->target->progress, &view, now - p->started);
}

/* A search that was complete when it was resumed needs a worker, too: the report uses its channel. */
static bool some_begun(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->outcome.channel->layout.count) return true;
    return false;
}

static bool listen(struct mz_pool *p, double now)
{
    bool more = false;
    for (int i = 0; mz_worker_kinds[i]; i++) more |= mz_worker_kinds[i]->listen(p, now);
    return more;
}

static void send_batches(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && p->workers[i]->kind->batch) mz_worker_flush(p->workers[i]);
}

static void watch(struct mz_pool *p)
{
    for (;;) {
        double now = mz_process_clock();
        if (mz_local_rung(p) && p->cluster) p->cluster->busy = now;
        look_around(p, now);
        bool more = listen(p, now);
        if (mz_balance_complete(p->balance) && some_begun(p)) mz_pool_complete(p);
        save(p, now);
        mz_pool_start_workers(p, now);
        if (p->living == 0) break;
        if (p->asked <= 0) mz_pool_distribute(p);
        send_batches(p);
        if (!more) wait_for_something(p, now);
    }
    p->estimate_due = 0;
    mz_survey_end(&p->target->survey);
    struct mz_progress_view view = progress(p);
    p->outcome->estimate = view.total;
    p->work_done = view.work_done;
    mz_progress_end(&p->target->progress, &view, mz_process_clock() - p->started);
}

static int map_finished(struct mz_pool *p)
{
    void *m = mmap(NULL, mz_finished_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->common_fd,
                   MZ_FINISHED_OFFSET);
    if (m == MAP_FAILED) return -1;
    p->finished = m;
    mz_finished_begin(p->finished, p->memory);
    return 0;
}

/* Another rank has no target yet: it runs no stateful searches. */
int mz_pool_make_common(struct mz_pool *p)
{
    bool stateful = p->target && mz_algorithm_is_stateful((enum mz_algorithm)p->target->options.algorithm);
    size_t size = stateful ? MZ_FINISHED_OFFSET + mz_finished_size() : sizeof *p->common;
    p->common_fd = memfd_create(MZ_COMMON_NAME, MFD_CLOEXEC);
    p->common = MAP_FAILED;
    if (p->common_fd >= 0 && ftruncate(p->common_fd, (off_t)size) == 0)
        p->common = mmap(NULL, sizeof *p->common, PROT_READ | PROT_WRITE, MAP_SHARED, p->common_fd, 0);
    if (p->common != MAP_FAILED && stateful && map_finished(p) < 0) {
        munmap(p->common, sizeof *p->common);
        p->common = MAP_FAILED;
    }
    if (p->common != MAP_FAILED) {
        if (getrandom(&p->common->secret, sizeof p->common->secret, GRND_NONBLOCK) < 0) p->common->secret = 0;
        return 0;
    }
    return mz_fail("cannot make the memory that workers share: %s", mz_reason(errno));
}

static void clean_up(struct mz_pool *p)
{
    mz_pool_end_workers(p);
    for (uint32_t i = 0; i < p->count; i++) mz_worker_free(p->workers[i]);
    free(p->workers);
    for (uint32_t i = 0; i < p->found.count; i++) free(p->found.items[i].steps);
    free(p->found.items);
    free(p->kept);
    mz_balance_free(p->balance);
    mz_region_free(p->message.data, ROOM);
    mz_region_free(p->reply.data, ROOM);
    if (p->common != MAP_FAILED) munmap(p->common, sizeof *p->common);
    if (p->finished) munmap(p->finished, mz_finished_size());
    if (p->common_fd >= 0) close(p->common_fd);
}

/* Tell the user of a long search, unless a single worker has been tried. */
static void advise(const struct mz_pool *p)
{
    const struct mz_outcome *o = p->outcome;
    bool tried = !p->options->may_give_up && !p->cluster;
    if (o->seconds < 1 || tried ||
        !mz_pool_parts_are_small(p, (double)o->channel->counters.executions, o->seconds))
        return;
    mz_notice("nearly every execution was a task by itself: one worker (-j 1) may be faster here");
}

/* There is nothing to report but the cost. */
static void tell_cost(const struct mz_pool *p)
{
    struct mz_outcome *o = p->outcome;
    o->processor = mz_process_used() - p->used_before;
    o->peak_memory = mz_process_peak();
    for (uint32_t i = 0; i < p->count; i++) {
        o->processor += p->workers[i]->processor;
        o->peak_memory += p->workers[i]->outcome.peak_memory;
    }
}

/* Open MPI binds a rank, with all its workers, to one processor, unless it is told not to. */
static void look_at_binding(uint32_t jobs)
{
    uint32_t own = mz_process_processors();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (own >= jobs || own >= all) return;
    mz_notice(
        "each rank may use %u of %ld processors, for %u workers: mpirun --bind-to none, if mpirun binds them",
        own, all, jobs);
}

/* Is there enough memory for the rest of the search, and a little more? */
static int look_at_memory(const struct mz_pool *p)
{
    uint64_t needed = mz_balance_memory(p->balance);
    if (!p->memory || needed <= p->memory - p->memory / 8) return 0;
    return mz_fail("cannot resume from %s: what is left needs --memory-limit=%" PRIu64 "M or more",
                   p->options->resume, (needed / 7 * 8 * (p->options->jobs + 1) >> 20) + 1);
}

int mz_pool_run(struct mz_target *t, const struct mz_pool_options *options, struct mz_outcome *outcome)
{
    struct mz_pool p = {
        .target = t, .options = options, .outcome = outcome, .common_fd = -1, .cluster = options->cluster};
    *outcome = (struct mz_outcome){.program = t->program->path, .time_limit = t->time_limit};
    p.message = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    p.reply = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    p.at_once = getenv("MAZURKA_SHARE_AT_ONCE") != NULL; /* for tests: share small searches, too */
    t->options.shared = p.at_once ? 2 : 1;
    t->options.keep = options->checkpoint != NULL;
    t->options.memory_limit /=
        options->jobs + 1; /* each worker gets an equal part of the limit, and the balancer one */
    p.memory = t->options.memory_limit;
    if (p.memory && p.memory < LEAST_MEMORY)
        p.memory = LEAST_MEMORY; /* the workers report if it is too little */
    p.balance =
        mz_balance_new((enum mz_algorithm)t->options.algorithm, t->options.sleep_sets, t->options.max_steps);
    if (t->options.strategy != MZ_STRATEGY_EXHAUSTIVE) mz_balance_sample(p.balance, t->options.seed);
    int status = mz_pool_make_common(&p);
    bool claims = options->checkpoint && !options->starts_over;
    if (status == 0 && claims) status = mz_checkpoint_try(options->checkpoint);
    if (status == 0 && options->resume) status = mz_checkpoint_read(&p);
    if (status == 0 && options->resume) status = look_at_memory(&p);
    if (status == 0 && claims) status = mz_checkpoint_put_aside(options);
    t->progress.before = (double)(p.before.executions + p.before.blocked + p.before.cut);
    if (p.cluster && status == 0) look_at_binding(options->jobs);
    if (status == 0) mz_remote_meet(&p);
    p.started = p.saved = p.began = mz_process_clock();
    p.used_before = mz_process_used();
    if (p.cluster) p.cluster->busy = p.started;
    if (status == 0) watch(&p);
    if (status == 0 && options->checkpoint && !p.failed) {
        for (uint32_t i = 0; i < p.count; i++) mz_balance_lost(p.balance, i);
        p.cannot_write = false; /* printed again: this one matters */
        mz_checkpoint_write(&p);
        p.is_saved = !p.cannot_write;
    }
    mz_cluster_dismiss(p.cluster);
    outcome->seconds = mz_process_clock() - p.started;
    if (status == 0 && outcome->given_up > 0) {
        tell_cost(&p);
        clean_up(&p);
        return 0;
    }
    if (status == 0 && p.count > 0 && !p.failed) mz_pool_merge(&p);
    if (status == 0 && outcome->interrupted && !p.failed && !outcome->channel)
        status = mz_fail("%s: interrupted before it started", t->program->name);
    if (status == 0 && (p.failed || !outcome->channel)) status = MZ_STATUS_FAILED;
    if (status == 0 && !outcome->channel->started) status = mz_target_no_start(t, outcome);
    if (status == 0) advise(&p);
    clean_up(&p);
    return status;
}
