/* The run of a search by several workers: see pool.h. */
#define _GNU_SOURCE
#include "pool_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../base/region.h"
#include "../report/memory.h"
#include "../report/message.h"
#include "cluster_internal.h"
#include "process.h"
#include "remote.h"

#define ALONE         0.002 /* seconds of the first two workers, before more are started; then twice as many */
#define FAR_GRACE     2.0   /* between asking to stop and killing; of workers here: mz_grace() */
#define POLL          0.02
#define SAVE_PATIENCE 2.0    /* for workers to give back what they have */
#define LAST_PATIENCE 0.5    /* the same when time is up */
#define LAST_POLL     0.001  /* when some are about to end */
#define SOON          0.0002 /* the same, in a cluster */
#define LOOK          0.005  /* between looking at what is not urgent */
#define ESTIMATE      50     /* times as long as an estimate took, before there is another */
#define MOST_KILLS    8      /* in a row: it is no accident ... */
#define KILLS_APART   60.0   /* ... unless there are so many seconds between them */
#define TRIAL         0.3    /* seconds until it is seen if sharing is worth it ... */
#define LAST_TRIAL    2.0    /* ... and from then on so much would be thrown away that it goes on */
#define FEW           2000   /* executions: too few to tell by */
#define LONG          400e-6 /* seconds of one: it is worth a message */
#define LEAST_MEMORY  ((uint64_t)64 << 10)
#define ENOUGH_LEFT   1.0 /* seconds, to try something else */
#define ROOM          ((size_t)1 << 32)

/* ---- stopping ---- */

static void ask_all_to_stop(struct mz_pool *p)
{
    if (p->asked <= 0) p->asked = mz_process_clock();
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->workers[i]->alive) mz_worker_ask_to_stop(p->workers[i]);
    }
}

static void end_all_but(struct mz_pool *p, const struct mz_worker *but)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i] != but) mz_worker_end(p, p->workers[i]);
}

/* What others have explored so far does not count; those who have not begun are as good as new. */
static void start_over(struct mz_pool *p, const struct mz_worker *but)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i] != but && p->workers[i]->knows) mz_worker_end(p, p->workers[i]);
    p->before.executions = p->before.blocked = p->before.cut = p->before.transitions = 0;
    p->target->progress.before = 0;
    p->began = mz_process_clock();
    p->parts_before = mz_balance_counts(p->balance).parts;
}

/* Whoever is only about to begin has nothing to tell. */
static void complete(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count && p->asked <= 0; i++)
        if (!p->workers[i]->rank && !p->workers[i]->knows) mz_worker_end(p, p->workers[i]);
    ask_all_to_stop(p);
}

/* Before that, if there is to be a checkpoint, workers give back what they have. */
static void stop_soon(struct mz_pool *p)
{
    if (!p->options->checkpoint || p->stop_when_saved) {
        ask_all_to_stop(p);
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
        ask_all_to_stop(p);
}

void mz_pool_interrupt(struct mz_pool *p)
{
    if (p->outcome->interrupted) return;
    p->outcome->interrupted = true;
    stop_soon(p);
}

/* The second time: at once. */
static void handle_signal(struct mz_pool *p, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    if (p->signalled) end_all_but(p, NULL);
    p->signalled = true;
    mz_pool_interrupt(p);
}

/* Does each execution have to be handed out by itself, and is not worth it? */
static bool parts_are_small(const struct mz_pool *p, double executions, double seconds)
{
    return p->most > 1 && executions >= FEW && seconds * p->most <= LONG * executions &&
           (double)(mz_balance_counts(p->balance).parts - p->parts_before) >= executions / 2;
}

/* Is there enough left of what may be used up for it to matter? */
static bool much_is_left(const struct mz_pool *p, double executions, double now)
{
    double limit = p->target->time_limit, most = (double)p->target->options.max_executions;
    return (limit <= 0 || limit - (now - p->started) > ENOUGH_LEFT) && (most <= 0 || most > 10 * executions);
}

/* Then one worker alone may be faster, which is to be found out (check.c): all is given up, and explored again.
 * What was found is not thrown away, nor what is to be kept. */
static void look_at_parts(struct mz_pool *p, double now)
{
    double seconds = now - p->began;
    if (!p->options->may_give_up || p->options->checkpoint || p->options->resume) return;
    if (p->at_once || p->asked > 0 || seconds < TRIAL || now - p->started > LAST_TRIAL) return;
    double executions = (double)mz_pool_counters(p).executions;
    if (!parts_are_small(p, executions, seconds) || !much_is_left(p, executions, now)) return;
    mz_pool_collect(p);
    if (p->found.count) return;
    p->outcome->given_up = executions / seconds;
    end_all_but(p, NULL);
}

static void look_at_limits(struct mz_pool *p, double now)
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
    double asked = p->asked > 0 ? now - p->asked : 0;
    for (uint32_t i = 0; p->asked > 0 && i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->alive) continue;
        if (w->rank && asked >= FAR_GRACE)
            mz_remote_kill(w, true);
        else if (!w->rank && asked >= mz_grace(p->outcome))
            mz_watch_kill(&w->watch);
    }
    if (asked >= 2 * FAR_GRACE) mz_remote_give_up(p);
}

/* ---- the ends of workers ---- */

uint32_t mz_pool_living_here(const struct mz_pool *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) n += p->workers[i]->alive && !p->workers[i]->rank;
    return n;
}

/* The report says how many there were. */
void mz_pool_fewer(struct mz_pool *p, const char *why)
{
    p->settled = mz_pool_living_here(p);
    if (!p->is_fewer) mz_notice("a worker cannot start: %s; going on with fewer", why);
    p->is_fewer = true;
}

static bool some_started(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->outcome.channel->started) return true;
    return false;
}

/* Where others could, or may, if it was for want of processes or descriptors; then it has said so. */
static bool could_not_start(const struct mz_pool *p, const struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    return !w->rank && !c->started && p->asked <= 0 && mz_pool_living_here(p) > 0 &&
           (c->end_text[0] || some_started(p));
}

/* Others will explore again what it has not told of. */
static void forget(struct mz_pool *p, struct mz_worker *w)
{
    uint64_t made = w->outcome.channel->counters.executions, told = mz_balance_told(p->balance, w->number);
    p->redundant += made > told ? made - told : 0;
    p->lost++;
    mz_balance_lost(p->balance, w->number);
    w->ours = true;
}

/* A kill from outside, or of the system for want of memory: another one goes on with its branch. */
static void count_kill(struct mz_pool *p, const char *why)
{
    double now = mz_process_clock();
    if (now - p->last_kill > KILLS_APART) p->killed = 0;
    p->last_kill = now;
    if (++p->killed < MOST_KILLS || p->outcome->interrupted) return;
    if (mz_pool_counters(p).executions == 0 && p->found.count == 0) {
        p->failed = true;
        mz_fail("%s: %s", p->target->program->name, why);
        ask_all_to_stop(p);
    } else {
        mz_notice("%s: the search ends here", why);
        mz_pool_interrupt(p);
    }
}

static void replace(struct mz_pool *p, struct mz_worker *w)
{
    forget(p, w);
    count_kill(p, "workers are killed again and again, from outside or for want of memory");
}

void mz_pool_lost(struct mz_pool *p, struct mz_worker *w)
{
    mz_worker_gone(p, w);
    forget(p, w);
}

/* Asked to, and it was at its end or had nothing to do, however long it took to leave. */
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
    if (!w->rank) kill(-w->watch.pid, SIGKILL); /* whatever it started itself */
    if (ended_in_order(p, w)) return;
    if (w->outcome.killed || w->outcome.stalled) {
        decide(p, w);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        replace(p, w);
    } else if (could_not_start(p, w)) {
        w->ours = true;
        mz_balance_lost(p->balance, w->number); /* it may have been given the whole search */
        mz_pool_fewer(p, c->end_text[0] ? c->end_text : "it ended before main");
    } else {
        decide(p, w);
    }
}

/* The worker has gone mad, or the program has written over its messages: another one explores its part again. */
static void hear_nonsense(struct mz_pool *p, struct mz_worker *w)
{
    if (w->rank) {
        mz_remote_leave_out(p, w, "it sends messages that make no sense");
        return;
    }
    forget(p, w);
    mz_worker_end(p, w);
    count_kill(p, "the program damages the messages of its workers, again and again");
}

static void hear_worker(struct mz_pool *p, struct mz_worker *w, double patience)
{
    struct mz_message m;
    double began = 0; /* with the first message: mostly there is none */
    while (w->alive && mz_worker_hear(w, &m)) {
        if (began <= 0) began = mz_process_clock();
        mz_pool_hear(p, w, &m);
        if (mz_process_clock() - began > patience) return;
    }
    if (w->alive && !w->rank && mz_ring_damaged(&mz_worker_link(w)->to_command)) hear_nonsense(p, w);
}

static void reap(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->alive || w->rank) continue;
        pid_t done = mz_worker_wait(w, WNOHANG);
        if (done == 0 || (done < 0 && errno == EINTR)) continue;
        hear_worker(p, w, INFINITY); /* its last words */
        if (w->alive) mz_pool_ended(p, w);
    }
}

/* ---- tasks ---- */

/* What is loaded there is not the same: its addresses mean nothing here. */
static void refuse(struct mz_pool *p, struct mz_worker *w, uint32_t missing)
{
    const struct mz_channel *here = p->origin ? p->origin->outcome.channel : w->outcome.channel;
    uint32_t module = missing < p->layout.count ? p->layout.parts[missing].module - 1 : MZ_MAX_MODULES;
    bool known = module < here->module_count && module < MZ_MAX_MODULES;
    char *name = known ? mz_memory_stringn(here->modules[module].path, sizeof here->modules[module].path - 1)
                       : mz_memory_string("library");
    char *why = mz_format("it does not load the same %s as the first worker", name);
    if (w->rank) {
        mz_remote_leave_out(p, w, why);
    } else if (p->options && p->options->resume && !p->origin) {
        p->failed = true;
        mz_fail("cannot resume from %s: since then there is another version of %s", p->options->resume, name);
        ask_all_to_stop(p);
    } else {
        p->failed = true;
        mz_fail(
            "%s: workers cannot share a search here: one of them loads other libraries than the first (%s)",
            p->target->program->name, name);
        ask_all_to_stop(p);
    }
    free(why);
    free(name);
}

/* Objects go by their addresses, and those are as the first worker knows them: one that is here, if there is
 * any, as one elsewhere would have to ask for the slot of each thread. May this one be spoken to? */
static bool agrees(struct mz_pool *p, struct mz_worker *w)
{
    struct mz_channel *c = w->outcome.channel;
    if (w->agreed) return true;
    if (!p->layout.count && !p->origin && (!w->rank || mz_pool_living_here(p) == 0)) p->origin = w;
    if (!p->layout.count) return p->origin == w;
    if (!c->layout.count) return false; /* it has not come that far */
    if (c->layout.count > MZ_MAX_PARTS) {
        hear_nonsense(p, w);
        return false;
    }
    uint32_t missing = mz_layout_misses(&p->layout, &c->layout);
    if (missing < p->layout.count || mz_layout_misses(&c->layout, &p->layout) < c->layout.count) {
        refuse(p, w, missing);
        return false;
    }
    c->reference = p->layout;
    if (w->rank) mz_remote_layout(w, &p->layout);
    return w->agreed = true;
}

void mz_pool_hear(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    enum mz_heard heard = mz_balance_hear(p->balance, w->number, m, &p->reply);
    switch (heard) {
    case MZ_HEARD:
        break;
    case MZ_HEARD_REPLY:
        mz_worker_say(w, &p->reply);
        break;
    case MZ_HEARD_RESTART:
        start_over(p, w);
        break;
    case MZ_HEARD_VOID:
        start_over(p, NULL);
        break;
    case MZ_HEARD_NONSENSE:
        hear_nonsense(p, w);
        break;
    }
    w->hungry = w->alive && !mz_balance_holds(p->balance, w->number);
    if (w->hungry) p->killed = 0;
}

static void hear_all(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (w->rank) continue;
        hear_worker(p, w, MZ_LISTEN);
        if (w->alive) mz_worker_flush(w);
    }
}

static bool give_task(struct mz_pool *p, struct mz_worker *w)
{
    if (!mz_balance_task(p->balance, w->number, !w->knows, &p->message)) return false;
    if (w->rank) mz_remote_slots(p, w->rank, false);
    mz_worker_say(w, &p->message);
    w->knows = true;
    w->hungry = false;
    return true;
}

static void learn_layout(struct mz_pool *p)
{
    if (p->layout.count || !p->origin || !p->origin->outcome.channel->layout.count) return;
    p->layout = p->origin->outcome.channel->layout;
    if (p->layout.count <= MZ_MAX_PARTS) return;
    p->layout.count = 0;
    if (p->origin->alive) hear_nonsense(p, p->origin);
}

/* Who has nothing to do gets a branch; if there are none left, the others are asked for some. */
static void distribute(struct mz_pool *p)
{
    bool wanting = false;
    mz_balance_expect(p->balance, p->living);
    if (p->living > p->most) p->most = p->living;
    learn_layout(p);
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->alive || !w->hungry) continue;
        if (!w->knows && !agrees(p, w)) continue;
        if (p->saving == MZ_SAVING_NOT) wanting |= !give_task(p, w);
    }
    enum mz_share_wish wish = p->saving != MZ_SAVING_NOT ? MZ_SHARE_GIVE_ALL
                              : wanting                  ? MZ_SHARE_GIVE
                                                         : MZ_SHARE_KEEP;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (w->alive && !w->hungry) mz_worker_wish(w, wish);
    }
}

static uint32_t most_here(const struct mz_pool *p) { return p->settled ? p->settled : p->options->jobs; }

/* How many there should be by now: few for a search that is over soon. */
static uint32_t wanted_workers(const struct mz_pool *p, double now)
{
    uint32_t wanted = 2, most = most_here(p);
    for (double t = p->began + ALONE; t <= now && wanted < most; t += ALONE) wanted *= 2;
    return p->at_once || wanted > most ? most : wanted;
}

static void start_workers(struct mz_pool *p, double now)
{
    uint32_t wanted = wanted_workers(p, now);
    if (p->asked > 0 || p->stop_when_saved || p->outcome->given_up > 0) return;
    mz_remote_start(p);
    while (mz_pool_living_here(p) < wanted && p->count < MZ_MAX_WORKERS) {
        if (mz_worker_start(p)) continue;
        p->failed = p->living == 0;
        return;
    }
}

/* ---- checkpoints ---- */

static bool all_idle(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && !p->workers[i]->hungry) return false;
    return true;
}

/* At intervals, and before the end, workers give back all they have; what is in hands when that takes too
 * long is to be explored again. */
static void save(struct mz_pool *p, double now)
{
    if (!p->options->checkpoint || p->asked > 0) return;
    if (p->saving == MZ_SAVING_NOT && now - p->saved >= p->options->interval) {
        p->saving = MZ_SAVING_SOON;
        p->saving_since = now;
    }
    double patience = p->outcome->timed_out ? LAST_PATIENCE : SAVE_PATIENCE;
    if (p->saving == MZ_SAVING_NOT || (!all_idle(p) && now - p->saving_since < patience)) return;
    mz_checkpoint_write(p);
    p->saving = MZ_SAVING_NOT;
    p->saved = mz_process_clock();
    if (p->stop_when_saved) ask_all_to_stop(p);
}

/* ---- the run ---- */

/* Will the end of a process be the next thing? */
static bool about_to_end(const struct mz_pool *p) { return p->asked > 0 || mz_pool_some_leave(p); }

static void wait_for_something(struct mz_pool *p, double now)
{
    double longest = wanted_workers(p, now) < most_here(p) ? ALONE / 2 : POLL;
    if (p->cluster)
        mz_pool_nap(p, mz_cluster_nap(p->cluster, about_to_end(p) ? SOON : longest));
    else if (about_to_end(p))
        handle_signal(p, mz_process_next_signal(LAST_POLL));
    else
        mz_pool_nap(p, longest);
}

/* The tree may be large: an estimate is not made more often than it is worth. Until there is another, the whole
 * is taken to be what it was said to be. */
static double share_done(struct mz_pool *p, const struct mz_counters *all)
{
    double begun = mz_process_clock(), now_done = (double)(all->executions + all->blocked + all->cut);
    const double most = (double)MZ_SHARE_MOST / (double)MZ_SHARE_ONE;
    if (mz_balance_complete(p->balance)) return 1;
    if (begun < p->estimate_due && p->estimated_at > 0) {
        double share = p->share * now_done / p->estimated_at;
        return share < most ? share : most;
    }
    struct mz_worker_leaves *leaves = mz_memory_new(MZ_MAX_WORKERS * sizeof *leaves);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_counters *c = &p->workers[i]->outcome.channel->counters;
        leaves[i] = (struct mz_worker_leaves){c->executions + c->blocked + c->cut, c->expected};
    }
    p->share = mz_balance_share(p->balance, leaves);
    p->estimated_at = now_done;
    free(leaves);
    double now = mz_process_clock();
    p->estimate_due = now + ESTIMATE * (now - begun);
    return p->share;
}

static struct mz_progress_view progress(struct mz_pool *p)
{
    struct mz_progress_view view = {.counters = mz_pool_counters(p),
                                    .workers = p->living ? p->living : p->most};
    view.share = share_done(p, &view.counters);
    mz_pool_collect(p);
    view.errors = p->found.count;
    return view;
}

/* What need not be looked at for every message. */
/* One that has nothing to do may sleep. */
static void look_at_life(struct mz_worker *w, double now) { mz_watch_life(&w->watch, now, w->hungry); }

static void look_around(struct mz_pool *p, double now)
{
    if (!about_to_end(p) && now - p->looked < LOOK) return;
    p->looked = now;
    reap(p);
    handle_signal(p, mz_process_next_signal(0));
    look_at_limits(p, now);
    look_at_parts(p, now);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && !p->workers[i]->rank) look_at_life(p->workers[i], now);
    if (!mz_progress_due(&p->target->progress, now - p->started)) return;
    struct mz_progress_view view = progress(p);
    mz_progress_update(&p->target->progress, &view, now - p->started);
}

/* A search that was complete when it was resumed needs one, too: the report is made of its channel. */
static bool some_begun(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->outcome.channel->layout.count) return true;
    return false;
}

static void watch(struct mz_pool *p)
{
    for (;;) {
        double now = mz_process_clock();
        if (mz_pool_rung(p) && p->cluster) p->cluster->busy = now;
        look_around(p, now);
        hear_all(p);
        bool more = mz_remote_listen(p, now);
        if (mz_balance_complete(p->balance) && some_begun(p)) complete(p);
        save(p, now);
        start_workers(p, now);
        if (p->living == 0) break;
        if (p->asked <= 0) distribute(p);
        mz_remote_flush(p);
        if (!more) wait_for_something(p, now);
    }
    p->estimate_due = 0;
    struct mz_progress_view view = progress(p);
    p->share = view.share;
    mz_progress_end(&p->target->progress, &view, mz_process_clock() - p->started);
}

int mz_pool_make_common(struct mz_pool *p)
{
    p->common_fd = memfd_create(MZ_COMMON_NAME, MFD_CLOEXEC);
    p->common = MAP_FAILED;
    if (p->common_fd >= 0 && ftruncate(p->common_fd, sizeof *p->common) == 0)
        p->common = mmap(NULL, sizeof *p->common, PROT_READ | PROT_WRITE, MAP_SHARED, p->common_fd, 0);
    if (p->common != MAP_FAILED) {
        if (getrandom(&p->common->secret, sizeof p->common->secret, GRND_NONBLOCK) < 0) p->common->secret = 0;
        return 0;
    }
    return mz_fail("cannot make the memory that workers share: %s", mz_reason(errno));
}

static void clean_up(struct mz_pool *p)
{
    end_all_but(p, NULL);
    for (uint32_t i = 0; i < p->count; i++) mz_worker_free(p->workers[i]);
    free(p->workers);
    for (uint32_t i = 0; i < p->found.count; i++) free(p->found.items[i].steps);
    free(p->found.items);
    free(p->kept);
    mz_balance_free(p->balance);
    mz_region_free(p->message.data, ROOM);
    mz_region_free(p->reply.data, ROOM);
    if (p->common != MAP_FAILED) munmap(p->common, sizeof *p->common);
    if (p->common_fd >= 0) close(p->common_fd);
}

/* Who waits for a long search should know, unless one worker has been tried. */
static void advise(const struct mz_pool *p)
{
    const struct mz_outcome *o = p->outcome;
    bool tried = !p->options->may_give_up && !p->cluster;
    if (o->seconds < 1 || tried || !parts_are_small(p, (double)o->channel->counters.executions, o->seconds))
        return;
    mz_notice("nearly every execution had to be handed out by itself: one worker (-j 1) may be faster here");
}

/* There is nothing to tell of it but what it took. */
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

/* Open MPI binds a rank to one processor, and with it all its workers, unless it is told not to. */
static void look_at_binding(uint32_t jobs)
{
    uint32_t own = mz_process_processors();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (own >= jobs || own >= all) return;
    mz_notice(
        "each rank may use %u of %ld processors, for %u workers: mpirun --bind-to none, if mpirun binds them",
        own, all, jobs);
}

/* Is there room for what is left of the search, and for some more? */
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
    p.at_once = getenv("MAZURKA_SHARE_AT_ONCE") != NULL; /* for tests: small searches are shared, too */
    t->options.shared = p.at_once ? 2 : 1;
    t->options.keep = options->checkpoint != NULL;
    t->options.memory_limit /= options->jobs + 1; /* each worker has its share, and the balancer one */
    p.memory = t->options.memory_limit;
    if (p.memory && p.memory < LEAST_MEMORY)
        p.memory = LEAST_MEMORY; /* it is for the workers to say that it is too little */
    p.balance =
        mz_balance_new((enum mz_algorithm)t->options.algorithm, t->options.sleep_sets, t->options.max_steps);
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
        p.cannot_write = false; /* said again: this one matters */
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
