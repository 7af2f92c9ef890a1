/* One worker process, and talking to it, wherever it is: see pool_internal.h. The command never waits for a
 * worker: what does not fit into the ring is kept here. What a worker says may be anything, should it have
 * gone mad. */
#define _GNU_SOURCE
#include "pool_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../report/memory.h"
#include "../report/message.h"
#include "process.h"
#include "remote.h"

#define LONGEST (1u << 30) /* bytes of a message */

struct mz_link *mz_worker_link(const struct mz_worker *w) { return w->outcome.link; }

void mz_worker_ring(struct mz_worker *w)
{
    struct mz_link *link = mz_worker_link(w);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!link->waiting) return;
    __atomic_add_fetch(&link->bell, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &link->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool something_to_hear(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct mz_worker *w = p->workers[i];
        if (!w->alive || w->rank) continue;
        const struct mz_link *link = mz_worker_link(w);
        if (mz_ring_holds(&link->to_command) || (link->slot && link->slot != w->slot_asked)) return true;
        if (w->out.at != w->out.count && mz_ring_room(&link->to_worker)) return true;
    }
    return false;
}

bool mz_pool_some_leave(const struct mz_pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->workers[i]->alive && !p->workers[i]->rank && mz_worker_link(p->workers[i])->leaves)
            return true;
    return false;
}

bool mz_pool_rung(struct mz_pool *p)
{
    uint32_t before = p->bell;
    p->bell = __atomic_load_n(&p->common->bell, __ATOMIC_SEQ_CST);
    return p->bell != before;
}

void mz_pool_nap(struct mz_pool *p, double seconds)
{
    struct timespec t = {0, (long)(seconds * 1e9)};
    __atomic_store_n(&p->common->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!something_to_hear(p)) syscall(SYS_futex, &p->common->bell, FUTEX_WAIT, p->bell, &t, NULL, 0);
    p->common->waiting = 0;
}

static void make_room(struct mz_message *m, size_t more)
{
    if (m->capacity - m->count >= more) return;
    m->capacity = m->count + more + 4096;
    m->data = realloc(m->data, m->capacity);
    if (!m->data) abort();
}

void mz_worker_flush(struct mz_worker *w)
{
    struct mz_message *m = &w->out;
    if (m->at == m->count) return;
    if (w->rank) {
        mz_remote_pass(w, m->data, m->count);
        mz_message_clear(m);
        return;
    }
    m->at += mz_ring_put(&mz_worker_link(w)->to_worker, m->data + m->at, m->count - m->at);
    mz_worker_link(w)->more = m->at != m->count;
    if (m->at == m->count) mz_message_clear(m);
    mz_worker_ring(w);
}

static void keep(struct mz_worker *w, const void *data, size_t size)
{
    if (!size) return;
    make_room(&w->out, size);
    memcpy(w->out.data + w->out.count, data, size);
    w->out.count += size;
}

void mz_worker_say(struct mz_worker *w, const struct mz_message *m)
{
    uint32_t length = (uint32_t)m->count;
    keep(w, &length, sizeof length);
    keep(w, m->data, m->count);
    if (!w->rank || w->out.count >= MZ_BATCH) mz_worker_flush(w);
}

void mz_worker_pass(struct mz_worker *w, const void *data, size_t size)
{
    keep(w, data, size);
    mz_worker_flush(w);
}

static bool fill(struct mz_worker *w, size_t wanted)
{
    struct mz_message *m = &w->in;
    if (m->count >= wanted) return true;
    make_room(m, wanted - m->count);
    size_t n = mz_ring_get(&mz_worker_link(w)->to_command, m->data + m->count, wanted - m->count);
    m->count += n;
    if (n > 0) mz_worker_ring(w);
    return m->count >= wanted;
}

bool mz_worker_hear(struct mz_worker *w, struct mz_message *m)
{
    uint32_t length;
    if (w->in.at) mz_message_clear(&w->in); /* the one before has been read */
    if (!fill(w, sizeof length)) return false;
    memcpy(&length, w->in.data, sizeof length);
    if (length > LONGEST) length = 0;
    if (!fill(w, length + sizeof length)) return false;
    w->in.at = 1;
    *m = (struct mz_message){.data = w->in.data + sizeof length, .count = length, .capacity = length};
    return true;
}

void mz_worker_wish(struct mz_worker *w, enum mz_share_wish wish)
{
    if (w->rank)
        mz_remote_wish(w, wish);
    else
        mz_worker_link(w)->wish = wish;
}

void mz_worker_ask_to_stop(struct mz_worker *w)
{
    if (w->rank) {
        mz_remote_stop(w);
        return;
    }
    w->outcome.channel->options.stop = 1;
    mz_worker_ring(w);
}

struct mz_worker *mz_worker_new(struct mz_pool *p, int *fd)
{
    struct mz_worker *w = mz_memory_new(sizeof *w);
    w->outcome =
        (struct mz_outcome){.program = p->target->program->path, .time_limit = p->target->time_limit};
    *fd = mz_channel_create(p->target, &w->outcome);
    if (*fd >= 0) return w;
    if (p->living > 0)
        mz_pool_fewer(p, mz_reason(errno));
    else
        mz_channel_failed(errno);
    free(w);
    return NULL;
}

void mz_worker_add(struct mz_pool *p, struct mz_worker *w)
{
    w->number = p->count;
    w->alive = w->hungry = true;
    p->workers = realloc(p->workers, (p->count + 1) * sizeof *p->workers);
    if (!p->workers) abort();
    p->workers[p->count++] = w;
    p->living++;
}

struct mz_worker *mz_worker_start(struct mz_pool *p)
{
    int fd;
    struct mz_worker *w = mz_worker_new(p, &fd);
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

void mz_worker_gone(struct mz_pool *p, struct mz_worker *w)
{
    w->alive = false;
    p->living--;
    if (w->rank) mz_remote_gone(w);
    if (p->origin == w && !p->layout.count) p->origin = NULL;
}

pid_t mz_worker_wait(struct mz_worker *w, int flags)
{
    struct rusage usage;
    pid_t done = wait4(w->watch.pid, &w->outcome.wait_status, flags, &usage);
    if (done <= 0) return done;
    w->outcome.peak_memory = (uint64_t)usage.ru_maxrss * 1024;
    w->processor = mz_process_used_by(&usage);
    return done;
}

void mz_worker_end(struct mz_pool *p, struct mz_worker *w)
{
    if (!w->alive) return;
    w->ours = true;
    mz_worker_gone(p, w);
    if (w->rank) {
        mz_remote_kill(w, false);
        return;
    }
    kill(-w->watch.pid, SIGKILL);
    kill(w->watch.pid, SIGKILL);
    mz_worker_wait(w, 0);
}

void mz_worker_free(struct mz_worker *w)
{
    mz_outcome_release(&w->outcome);
    free(w->layout);
    free(w->in.data);
    free(w->out.data);
    free(w);
}
