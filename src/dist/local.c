/* Workers on this host, in processes that we start: see local.h. They exchange messages with the command through
 * rings in shared memory (event/link.h) and ring a bell, a futex, after they have written. Do not trust the content
 * of a message: the program under test may have overwritten it. */
#define _GNU_SOURCE
#include "dist/local.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/message.h"
#include "launch/process.h"

#define LONGEST (1u << 30) /* bytes of a message */

/* ---- the bell ---- */

struct mz_link *mz_local_link(const struct mz_worker *w) { return w->outcome.link; }

void mz_local_ring(struct mz_worker *w)
{
    struct mz_link *link = mz_local_link(w);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!link->waiting) return;
    __atomic_add_fetch(&link->bell, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &link->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool something_to_hear(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_worker *w = p->workers[i];
        if (!w->alive || !w->kind->is_here) continue;
        const struct mz_link *link = mz_local_link(w);
        if (mz_ring_holds(&link->to_command) || (link->slot && link->slot != w->slot_asked)) return true;
        if (w->out.at != w->out.count && mz_ring_room(&link->to_worker)) return true;
    }
    return false;
}

bool mz_local_some_leave(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && p->workers[i]->kind->is_here && mz_local_link(p->workers[i])->leaves)
            return true;
    return false;
}

bool mz_local_rung(struct mz_pool *p)
{
    uint32_t before = p->bell;
    p->bell = __atomic_load_n(&p->common->bell, __ATOMIC_SEQ_CST);
    return p->bell != before;
}

void mz_local_nap(struct mz_pool *p, double seconds)
{
    struct timespec t = {0, (long)(seconds * 1e9)};
    __atomic_store_n(&p->common->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!something_to_hear(p)) syscall(SYS_futex, &p->common->bell, FUTEX_WAIT, p->bell, &t, NULL, 0);
    p->common->waiting = 0;
}

/* ---- talking ---- */

static void flush(struct mz_worker *w)
{
    struct mz_message *m = &w->out;
    m->at += mz_ring_put(&mz_local_link(w)->to_worker, m->data + m->at, m->count - m->at);
    mz_local_link(w)->more = m->at != m->count;
    if (m->at == m->count) mz_message_clear(m);
    mz_local_ring(w);
}

static bool fill(struct mz_worker *w, size_t wanted)
{
    struct mz_message *m = &w->in;
    if (m->count >= wanted) return true;
    mz_worker_make_room(m, wanted - m->count);
    size_t n = mz_ring_get(&mz_local_link(w)->to_command, m->data + m->count, wanted - m->count);
    m->count += n;
    if (n > 0) mz_local_ring(w);
    return m->count >= wanted;
}

bool mz_local_hear(struct mz_worker *w, struct mz_message *m)
{
    uint32_t length;
    if (w->in.at) mz_message_clear(&w->in); /* the previous message has been read */
    if (!fill(w, sizeof length)) return false;
    memcpy(&length, w->in.data, sizeof length);
    if (length > LONGEST) length = 0;
    if (!fill(w, length + sizeof length)) return false;
    w->in.at = 1;
    *m = (struct mz_message){.data = w->in.data + sizeof length, .count = length, .capacity = length};
    return true;
}

static void wish(struct mz_worker *w, enum mz_share_wish what) { mz_local_link(w)->wish = what; }

static void ask_to_stop(struct mz_worker *w)
{
    w->outcome.channel->options.stop = 1;
    mz_local_ring(w);
}

/* Another worker explores again the task of this one. */
static void nonsense(struct mz_pool *p, struct mz_worker *w)
{
    mz_pool_forget(p, w);
    mz_worker_end(p, w);
    mz_pool_count_kill(p, "the program repeatedly damages the messages of its workers");
}

static void hear_worker(struct mz_pool *p, struct mz_worker *w, double patience)
{
    struct mz_message m;
    double began = 0; /* with the first message: mostly there is none */
    while (w->alive && mz_local_hear(w, &m)) {
        if (began <= 0) began = mz_process_clock();
        mz_pool_hear(p, w, &m);
        if (mz_process_clock() - began > patience) return;
    }
    if (w->alive && mz_ring_damaged(&mz_local_link(w)->to_command)) nonsense(p, w);
}

static bool listen(struct mz_pool *p, double now)
{
    (void)now;
    for (uint32_t i = 0; i < p->count; i++) {
        struct mz_worker *w = p->workers[i];
        if (!w->kind->is_here) continue;
        hear_worker(p, w, MZ_LISTEN);
        if (w->alive) mz_worker_flush(w);
    }
    return false;
}

static void differs(struct mz_pool *p, struct mz_worker *w, const char *module)
{
    (void)w;
    p->failed = true;
    if (p->options && p->options->resume && !p->first_worker)
        mz_fail("cannot resume from %s: since then there is another version of %s", p->options->resume,
                module);
    else
        mz_fail(
            "%s: workers cannot share a search here: one of them loads other libraries than the first (%s)",
            p->target->program->name, module);
    mz_pool_ask_to_stop(p);
}

/* ---- processes ---- */

struct mz_worker *mz_local_start_worker(struct mz_pool *p)
{
    int fd;
    struct mz_worker *w = mz_worker_new(p, &mz_local_workers, &fd);
    if (!w) return NULL;
    double now = mz_process_clock();
    w->watch = (struct mz_watch){.target = p->target, .outcome = &w->outcome, .started = now};
    w->watch.pid = mz_target_start(p->target, fd, p->common_fd);
    int error = errno;
    close(fd);
    if (w->watch.pid < 0) {
        if (p->living > 0)
            mz_pool_fewer(p, mz_reason(error));
        else
            mz_fail("cannot run %s: %s", p->target->program->name, mz_reason(error));
        mz_worker_free(w);
        return NULL;
    }
    mz_worker_add(p, w);
    p->common->spare = mz_pool_living_here(p) <= mz_process_processors();
    return w;
}

static void start(struct mz_pool *p, uint32_t wanted)
{
    while (mz_pool_living_here(p) < wanted && p->count < MZ_MAX_WORKERS) {
        if (mz_local_start_worker(p)) continue;
        p->failed = p->living == 0;
        return;
    }
}

pid_t mz_local_wait(struct mz_worker *w, int flags)
{
    struct rusage usage;
    pid_t done = wait4(w->watch.pid, &w->outcome.wait_status, flags, &usage);
    if (done <= 0) return done;
    w->outcome.peak_memory = (uint64_t)usage.ru_maxrss * 1024;
    w->processor = mz_process_used_by(&usage);
    return done;
}

static void reap(struct mz_pool *p, struct mz_worker *w)
{
    pid_t done = mz_local_wait(w, WNOHANG);
    if (done == 0 || (done < 0 && errno == EINTR)) return;
    hear_worker(p, w, INFINITY); /* its last messages */
    if (w->alive) mz_pool_ended(p, w);
}

/* An idle worker may sleep. */
static void look(struct mz_worker *w, double now) { mz_watch_life(&w->watch, now, w->hungry); }

static void overdue(struct mz_pool *p, struct mz_worker *w, double seconds)
{
    if (seconds >= mz_grace(p->outcome)) mz_watch_kill(&w->watch);
}

static void kill_worker(struct mz_worker *w)
{
    kill(-w->watch.pid, SIGKILL);
    kill(w->watch.pid, SIGKILL);
    mz_local_wait(w, 0);
}

/* Kill processes that the program has started and that outlive it. */
static void clean_up(struct mz_worker *w) { kill(-w->watch.pid, SIGKILL); }

static void nothing(struct mz_worker *w) { (void)w; }

static void no_layout(struct mz_worker *w, const struct mz_layout *layout) { (void)w, (void)layout; }

static void no_slots(struct mz_pool *p, struct mz_worker *w) { (void)p, (void)w; }

const struct mz_worker_kind mz_local_workers = {
    .is_here = true,
    .batch = 0,
    .start = start,
    .listen = listen,
    .flush = flush,
    .wish = wish,
    .ask_to_stop = ask_to_stop,
    .agree = no_layout,
    .before_task = no_slots,
    .look = look,
    .reap = reap,
    .overdue = overdue,
    .kill = kill_worker,
    .gone = nothing,
    .clean_up = clean_up,
    .nonsense = nonsense,
    .differs = differs,
};
