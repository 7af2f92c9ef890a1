/* The run of a search by several workers: see pool.h. */
#define _GNU_SOURCE
#include "pool_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../base/region.h"
#include "../report/memory.h"
#include "../report/message.h"
#include "process.h"

#define ALONE         0.05 /* seconds of the first worker, before others are started */
#define GRACE         2.0  /* between asking to stop and killing */
#define POLL          0.02
#define SAVE_PATIENCE 2.0   /* for workers to give back what they have */
#define LAST_POLL     0.001 /* when all are about to end */
#define MOST_KILLS    8     /* in a row: it is no accident */
#define ROOM          ((size_t)1 << 32)

/* ---- stopping ---- */

static void ask_all_to_stop(struct mz_pool *p)
{
    if (p->asked <= 0) p->asked = mz_process_clock();
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->workers[i]->alive) continue;
        p->workers[i]->outcome.channel->options.stop = 1;
        mz_worker_ring(p->workers[i]);
    }
}

static void end_all_but(struct mz_pool *p, const struct mz_worker *but)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i] != but) mz_worker_end(p, p->workers[i]);
}

/* The end of this worker is that of the whole run. */
static void decide(struct mz_pool *p, struct mz_worker *w)
{
    if (p->last) return;
    p->last = w;
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

static void handle_signal(struct mz_pool *p, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    if (p->outcome->interrupted) end_all_but(p, NULL);
    p->outcome->interrupted = true;
    stop_soon(p);
}

static void look_at_time(struct mz_pool *p, double now)
{
    double limit = p->target->time_limit;
    if (limit > 0 && now - p->started >= limit && !p->outcome->timed_out) {
        p->outcome->timed_out = true;
        stop_soon(p);
    }
    if (p->asked > 0 && now - p->asked >= GRACE)
        for (uint32_t i = 0; i < p->count; i++)
            if (p->workers[i]->alive) mz_watch_kill(&p->workers[i]->watch);
}

/* ---- the ends of workers ---- */

/* A kill from outside, or of the system for want of memory: another one goes on with its branch. */
static void replace(struct mz_pool *p, struct mz_worker *w)
{
    mz_balance_lost(p->balance, w->number);
    w->ours = true;
    if (++p->killed >= MOST_KILLS) {
        p->failed = true;
        mz_fail("%s: workers are killed again and again, from outside or for want of memory",
                p->target->program->name);
        ask_all_to_stop(p);
    }
}

static void ended(struct mz_pool *p, struct mz_worker *w)
{
    const struct mz_channel *c = w->outcome.channel;
    int status = w->outcome.wait_status;
    w->alive = false;
    p->living--;
    kill(-w->watch.pid, SIGKILL); /* whatever it started itself */
    if (w->outcome.killed || w->outcome.stalled) {
        decide(p, w);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        replace(p, w);
    } else if (p->asked <= 0 || (c->end != MZ_END_COMPLETE && c->end != MZ_END_TIME)) {
        decide(p, w);
    }
}

static void reap(struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        struct rusage usage = {0};
        if (!w->alive) continue;
        pid_t done = wait4(w->watch.pid, &w->outcome.wait_status, WNOHANG, &usage);
        if (done == 0 || (done < 0 && errno == EINTR)) continue;
        w->outcome.peak_memory = (uint64_t)usage.ru_maxrss * 1024;
        ended(p, w);
    }
}

/* ---- tasks ---- */

/* Objects go by their addresses: they must mean the same everywhere. */
static bool fits(struct mz_pool *p, struct mz_worker *w)
{
    uint64_t addresses = w->outcome.channel->addresses;
    if (!p->addresses) p->addresses = addresses;
    if (addresses == p->addresses) return true;
    p->failed = true;
    mz_fail("%s: workers cannot share a search here, as the program lies at other addresses each time "
            "(personality(ADDR_NO_RANDOMIZE) is forbidden): use -j 1",
            p->target->program->name);
    ask_all_to_stop(p);
    return false;
}

static void hear(struct mz_pool *p, struct mz_worker *w, struct mz_message *m)
{
    enum mz_heard heard = mz_balance_hear(p->balance, w->number, m, &p->reply);
    switch (heard) {
    case MZ_HEARD:
        break;
    case MZ_HEARD_REPLY:
        mz_worker_say(w, &p->reply);
        break;
    case MZ_HEARD_RESTART:
    case MZ_HEARD_VOID:
        end_all_but(p, heard == MZ_HEARD_RESTART ? w : NULL);
        p->alone_until = mz_process_clock() + ALONE;
        break;
    case MZ_HEARD_NONSENSE:
        mz_balance_lost(p->balance, w->number);
        mz_worker_end(p, w);
        p->killed++;
        break;
    }
    w->hungry = w->alive && !mz_balance_holds(p->balance, w->number);
    if (w->hungry) p->killed = 0;
}

static void hear_all(struct mz_pool *p)
{
    struct mz_message m;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        while (w->alive && mz_worker_hear(w, &m)) hear(p, w, &m);
        if (w->alive) mz_worker_flush(w);
    }
}

static bool give_task(struct mz_pool *p, struct mz_worker *w)
{
    if (!mz_balance_task(p->balance, w->number, !w->knows, &p->message)) return false;
    mz_worker_say(w, &p->message);
    w->knows = true;
    w->hungry = false;
    return true;
}

/* Who has nothing to do gets a branch; if there are none left, the others are asked for some. */
static void distribute(struct mz_pool *p)
{
    bool wanting = false;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->alive || !w->hungry) continue;
        bool started = w->outcome.channel->addresses != 0;
        if (started && !fits(p, w)) return;
        if (!started && p->count > 1) continue;
        if (p->saving == MZ_SAVING_NOT) wanting |= !give_task(p, w);
    }
    enum mz_share_wish wish = p->saving != MZ_SAVING_NOT ? MZ_SHARE_GIVE_ALL
                              : wanting                  ? MZ_SHARE_GIVE
                                                         : MZ_SHARE_KEEP;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (w->alive && !w->hungry) mz_worker_link(w)->wish = wish;
    }
}

static void start_workers(struct mz_pool *p, double now)
{
    uint32_t wanted = now < p->alone_until ? 1 : p->options->jobs;
    if (p->asked > 0) return;
    while (p->living < wanted && p->count < MZ_MAX_WORKERS) {
        if (mz_worker_start(p)) continue;
        p->failed = p->living == 0;
        if (p->failed) return;
        mz_notice("going on with %u workers", p->living);
        break;
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
    if (p->saving == MZ_SAVING_NOT || (!all_idle(p) && now - p->saving_since < SAVE_PATIENCE)) return;
    mz_checkpoint_write(p);
    p->saving = MZ_SAVING_NOT;
    p->saved = mz_process_clock();
    if (p->stop_when_saved) ask_all_to_stop(p);
}

/* ---- the run ---- */

static void wait_for_something(struct mz_pool *p, uint32_t seen)
{
    bool ending = p->asked > 0;
    struct timespec t = {0, (long)(POLL * 1e9)};
    handle_signal(p, mz_process_next_signal(ending ? LAST_POLL : 0));
    if (ending) return;
    syscall(SYS_futex, &p->common->bell, FUTEX_WAIT, seen, &t, NULL, 0);
}

static void watch(struct mz_pool *p)
{
    struct mz_counters counters;
    for (;;) {
        uint32_t seen = p->common->bell;
        double now = mz_process_clock();
        reap(p);
        hear_all(p);
        if (mz_balance_complete(p->balance)) ask_all_to_stop(p);
        save(p, now);
        start_workers(p, now);
        if (p->living == 0) break;
        if (p->asked <= 0) distribute(p);
        look_at_time(p, now);
        for (uint32_t i = 0; i < p->count; i++)
            if (p->workers[i]->alive) mz_watch_life(&p->workers[i]->watch, now);
        counters = mz_pool_counters(p);
        mz_progress_update(&p->target->progress, &counters, now - p->started);
        wait_for_something(p, seen);
    }
    mz_progress_erase(&p->target->progress);
}

static int make_common(struct mz_pool *p)
{
    p->common_fd = memfd_create("mazurka-workers", MFD_CLOEXEC);
    p->common = MAP_FAILED;
    if (p->common_fd >= 0 && ftruncate(p->common_fd, sizeof *p->common) == 0)
        p->common = mmap(NULL, sizeof *p->common, PROT_READ | PROT_WRITE, MAP_SHARED, p->common_fd, 0);
    if (p->common != MAP_FAILED) return 0;
    return mz_fail("cannot make the memory that workers share: %s", strerror(errno));
}

static void clean_up(struct mz_pool *p)
{
    end_all_but(p, NULL);
    for (uint32_t i = 0; i < p->count; i++) mz_worker_free(p->workers[i]);
    free(p->workers);
    for (uint32_t i = 0; i < p->found.count; i++) free(p->found.items[i].steps);
    free(p->found.items);
    mz_balance_free(p->balance);
    mz_region_free(p->message.data, ROOM);
    mz_region_free(p->reply.data, ROOM);
    if (p->common != MAP_FAILED) munmap(p->common, sizeof *p->common);
    if (p->common_fd >= 0) close(p->common_fd);
}

int mz_pool_run(struct mz_target *t, const struct mz_pool_options *options, struct mz_outcome *outcome)
{
    struct mz_pool p = {.target = t, .options = options, .outcome = outcome, .common_fd = -1};
    *outcome = (struct mz_outcome){.program = t->program->path, .time_limit = t->time_limit};
    p.message = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    p.reply = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    bool at_once = getenv("MAZURKA_SHARE_AT_ONCE") != NULL; /* for tests: small searches are shared, too */
    t->options.shared = at_once ? 2 : 1;
    t->options.memory_limit /= options->jobs;
    p.balance = mz_balance_new((enum mz_algorithm)t->options.algorithm, t->options.max_steps);
    int status = make_common(&p);
    if (status == 0 && options->resume) status = mz_checkpoint_read(&p);
    p.started = p.saved = mz_process_clock();
    p.alone_until = p.started + (at_once ? 0 : ALONE);
    if (status == 0) watch(&p);
    if (status == 0 && options->checkpoint && !p.failed && !mz_balance_complete(p.balance)) {
        for (uint32_t i = 0; i < p.count; i++) mz_balance_lost(p.balance, i);
        mz_checkpoint_write(&p);
    }
    outcome->seconds = mz_process_clock() - p.started;
    if (status == 0 && p.count > 0 && !p.failed) mz_pool_merge(&p);
    if (status == 0 && (p.failed || !outcome->channel)) status = MZ_STATUS_FAILED;
    if (status == 0 && !outcome->channel->started) status = mz_target_no_start(t, outcome);
    clean_up(&p);
    return status;
}
