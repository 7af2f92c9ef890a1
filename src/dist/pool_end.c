/* How a search by several workers ends: limits, signals, and the ends of workers. See pool_internal.h. */
#define _GNU_SOURCE
#include "dist/pool_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/message.h"
#include "launch/process.h"

#define MOST_KILLS  8      /* kills in a row that are not an accident ... */
#define KILLS_APART 60.0   /* ... unless this many seconds lie between them */
#define TRIAL       0.3    /* seconds after which we check whether sharing pays ... */
#define LAST_TRIAL  2.0    /* ... and after which giving up would waste too much */
#define FEW         2000   /* executions: too few to decide */
#define LONG        400e-6 /* seconds of one execution that justify a message */
#define ENOUGH_LEFT 1.0    /* seconds that a retry needs */

/* ---- stopping ---- */

void mz_pool_ask_to_stop(struct mz_pool *p)
{
    if (p->asked <= 0) p->asked = mz_process_clock();
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->workers[i]->alive) p->workers[i]->kind->ask_to_stop(p->workers[i]);
    }
}

void mz_pool_end_workers(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) mz_worker_end(p, p->workers[i]);
}

/* Results of other workers do not count any more; workers that have not started a task are as good as new. */
void mz_pool_start_over(struct mz_pool *p, const struct mz_worker *but)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->workers[i] == but || !p->workers[i]->knows) continue;
        mz_worker_end(p, p->workers[i]);
        p->workers[i]->ours = true; /* also if it was killed before */
    }
    p->before.executions = p->before.blocked = p->before.cut = p->before.transitions = 0;
    p->target->progress.before = 0;
    p->began = mz_process_clock();
    p->parts_before = mz_balance_counts(p->balance).parts;
}

/* A worker that has not started yet has nothing to report. */
void mz_pool_complete(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count && p->asked <= 0; i++)
        if (p->workers[i]->kind->is_here && !p->workers[i]->knows) mz_worker_end(p, p->workers[i]);
    mz_pool_ask_to_stop(p);
}

/* With --checkpoint, workers first give back their tasks. */
static void stop_soon(struct mz_pool *p)
{
    if (!p->options->checkpoint || p->stop_when_saved) {
        mz_pool_ask_to_stop(p);
        return;
    }
    p->stop_when_saved = true;
    p->saving = MZ_SAVING_SOON;
    p->saving_since = mz_process_clock();
}

/* The end of this worker is that of the whole run. */
static void decide(struct mz_pool *p, struct mz_worker *w)
{
    uint32_t end = w->outcome.channel->end;
    if (p->last) return;
    p->last = w;
    if (end == MZ_END_EXECUTIONS || end == MZ_END_MEMORY)
        stop_soon(p);
    else
        mz_pool_ask_to_stop(p);
}

void mz_pool_interrupt(struct mz_pool *p)
{
    if (p->outcome->interrupted) return;
    p->outcome->interrupted = true;
    stop_soon(p);
}

/* The second time: at once. */
void mz_pool_signal(struct mz_pool *p, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    if (p->signalled) mz_pool_end_workers(p);
    p->signalled = true;
    mz_pool_interrupt(p);
}

/* Is each execution a task by itself, and too short for that? */
bool mz_pool_parts_are_small(const struct mz_pool *p, double executions, double seconds)
{
    return p->most > 1 && executions >= FEW && seconds * p->most <= LONG * executions &&
           (double)(mz_balance_counts(p->balance).parts - p->parts_before) >= executions / 2;
}

/* Is enough time and execution budget left for a retry to pay? */
static bool much_is_left(const struct mz_pool *p, double executions, double now)
{
    double limit = p->target->time_limit, most = (double)p->target->options.max_executions;
    return (limit <= 0 || limit - (now - p->started) > ENOUGH_LEFT) && (most <= 0 || most > 10 * executions);
}

/* The tests need an outcome that does not depend on the speed of the machine. */
enum mz_trial mz_pool_trial(void)
{
    const char *outcome = getenv("MAZURKA_SHARING_TRIAL");
    if (!outcome) return MZ_TRIAL_MEASURED;
    return strcmp(outcome, "alone") == 0 ? MZ_TRIAL_ALONE : MZ_TRIAL_TOGETHER;
}

/* Then one worker alone may be faster, so check_explore.c tries that: give everything up, and explore it again. Keep
 * findings, and do not give up a search that writes a checkpoint. */
void mz_pool_look_at_parts(struct mz_pool *p, double now)
{
    double seconds = now - p->began;
    bool measured = mz_pool_trial() == MZ_TRIAL_MEASURED;
    if (!p->options->may_give_up || p->options->checkpoint || p->options->resume) return;
    if (p->at_once || p->asked > 0) return;
    if (measured && (seconds < TRIAL || now - p->started > LAST_TRIAL)) return;
    double executions = (double)mz_pool_counters(p).executions;
    if (!mz_pool_parts_are_small(p, executions, measured ? seconds : 0) || !much_is_left(p, executions, now))
        return;
    mz_pool_collect(p);
    if (p->found.count) return;
    p->outcome->given_up = executions / seconds;
    mz_pool_end_workers(p);
}

void mz_pool_look_at_limits(struct mz_pool *p, double now)
{
    double limit = p->target->time_limit;
    if (limit > 0 && now - p->started >= limit && !p->outcome->timed_out) {
        p->outcome->timed_out = true;
        stop_soon(p);
    }
    if (p->memory && !p->too_large && mz_balance_memory(p->balance) > p->memory) {
        p->too_large = true;
        stop_soon(p);
    }
    for (uint32_t i = 0; p->asked > 0 && i < p->count; i++)
        if (p->workers[i]->alive) p->workers[i]->kind->overdue(p, p->workers[i], now - p->asked);
}

/* ---- the ends of workers ---- */

uint32_t mz_pool_living_here(const struct mz_pool *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) n += p->workers[i]->alive && p->workers[i]->kind->is_here;
    return n;
}

/* The report shows the number of lost workers. */
void mz_pool_fewer(struct mz_pool *p, const char *why)
{
    p->settled = mz_pool_living_here(p);
    if (!p->is_fewer) mz_notice("a worker cannot start: %s; continuing with fewer", why);
    p->is_fewer = true;
}

static bool some_started(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->outcome.channel->started) return true;
    return false;
}

/* Other workers could start, or may start later if processes or descriptors were missing; in that case it has been
 * printed. */
static bool could_not_start(const struct mz_pool *p, const struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    return w->kind->is_here && !c->started && p->asked <= 0 && mz_pool_living_here(p) > 0 &&
           (c->end_text[0] || some_started(p));
}

/* Other workers explore again what it has not reported. */
void mz_pool_forget(struct mz_pool *p, struct mz_worker *w)
{
    uint64_t made = w->outcome.channel->counters.executions, told = mz_balance_told(p->balance, w->number);
    mz_balance_lost(p->balance, w->number);
    p->lost++;
    if (p->finished) return;
    p->redundant += made > told ? made - told : 0;
    w->ours = true;
}

/* The worker was killed from outside, or by the system because memory ran out: another worker continues with its
 * branch. */
void mz_pool_count_kill(struct mz_pool *p, const char *why)
{
    double now = mz_process_clock();
    if (now - p->last_kill > KILLS_APART) p->killed = 0;
    p->last_kill = now;
    if (++p->killed < MOST_KILLS || p->outcome->interrupted) return;
    if (mz_pool_counters(p).executions == 0 && p->found.count == 0) {
        p->failed = true;
        mz_fail("%s: %s", p->target->program->name, why);
        mz_pool_ask_to_stop(p);
    } else {
        mz_notice("%s: the search ends here", why);
        mz_pool_interrupt(p);
    }
}

static void replace(struct mz_pool *p, struct mz_worker *w)
{
    mz_pool_forget(p, w);
    mz_pool_count_kill(p, "workers are killed repeatedly, from outside or because memory runs out");
}

void mz_pool_lost(struct mz_pool *p, struct mz_worker *w)
{
    mz_worker_gone(p, w);
    mz_pool_forget(p, w);
}

/* It was asked to stop, and was at its end or idle, however long it took to leave. */
static bool ended_in_order(const struct mz_pool *p, const struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    bool idle = mz_balance_complete(p->balance) || (!c->started && some_started(p));
    return p->asked > 0 &&
           (c->end == MZ_END_COMPLETE || c->end == MZ_END_TIME || (w->outcome.killed && idle));
}

void mz_pool_ended(struct mz_pool *p, struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    int status = w->outcome.wait_status;
    mz_worker_gone(p, w);
    w->kind->clean_up(w);
    if (ended_in_order(p, w)) return;
    bool by_us = w->outcome.killed || w->outcome.stalled;
    if (!by_us && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        replace(p, w);
    } else if (!by_us && could_not_start(p, w)) {
        w->ours = true;
        mz_balance_lost(p->balance, w->number); /* it may have had the whole search */
        mz_pool_fewer(p, c->end_text[0] ? c->end_text : "it ended before main");
    } else {
        decide(p, w);
    }
}
