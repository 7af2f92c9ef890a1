/* One worker of the pool, of either kind (struct mz_worker_kind): see pool_internal.h. Messages that a worker has
 * not taken yet are kept here: the command never waits for a worker. */
#include "dist/pool_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/message.h"
#include "dist/local.h"
#include "dist/remote.h"

/* Start workers of other ranks first: if none can be started here, the search continues with those. */
const struct mz_worker_kind *const mz_worker_kinds[] = {&mz_remote_workers, &mz_local_workers, NULL};

struct mz_worker *mz_worker_new(struct mz_pool *p, const struct mz_worker_kind *kind, int *fd)
{
    struct mz_worker *w = mz_memory_new(sizeof *w);
    w->kind = kind;
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

void mz_worker_make_room(struct mz_message *m, size_t more)
{
    if (m->capacity - m->count >= more) return;
    m->capacity = m->count + more + 4096;
    m->data = realloc(m->data, m->capacity);
    if (!m->data) abort();
}

void mz_worker_flush(struct mz_worker *w)
{
    if (w->out.at != w->out.count) w->kind->flush(w);
}

static void keep(struct mz_worker *w, const void *data, size_t size)
{
    if (!size) return;
    mz_worker_make_room(&w->out, size);
    memcpy(w->out.data + w->out.count, data, size);
    w->out.count += size;
}

void mz_worker_say(struct mz_worker *w, const struct mz_message *m)
{
    uint32_t length = (uint32_t)m->count;
    keep(w, &length, sizeof length);
    keep(w, m->data, m->count);
    if (w->out.count >= w->kind->batch) mz_worker_flush(w);
}

void mz_worker_pass(struct mz_worker *w, const void *data, size_t size)
{
    keep(w, data, size);
    mz_worker_flush(w);
}

void mz_worker_gone(struct mz_pool *p, struct mz_worker *w)
{
    w->alive = false;
    p->living--;
    w->kind->gone(w);
    if (p->first_worker == w && !p->layout.count) p->first_worker = NULL;
}

void mz_worker_end(struct mz_pool *p, struct mz_worker *w)
{
    if (!w->alive) return;
    w->ours = true;
    mz_worker_gone(p, w);
    w->kind->kill(w);
}

void mz_worker_free(struct mz_worker *w)
{
    mz_outcome_release(&w->outcome);
    free(w->layout);
    free(w->in.data);
    free(w->out.data);
    free(w);
}
