/* Stateful searches: every task is the whole search, and the first worker that is done has completed it. What the workers
 * share is not here but in memory that they map (engine/stateful/shared_states.c says why this is sound). So the balancer
 * only keeps what a new worker has to know. */
#include "dist/balance/balance_internal.h"

bool mz_whole_task(struct mz_balance *b, uint32_t worker, struct mz_message *task)
{
    if (b->held[worker].count || b->done) return false;
    mz_message_clear(task);
    mz_put(task, MZ_SHARE_TASK);
    mz_put(task, true);
    mz_balance_put_knowledge(b, task);
    b->held[worker].count = 1;
    b->counts.tasks++;
    return true;
}

/* The search starts over with what this worker knows. */
static enum mz_heard hear_restart(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    for (uint32_t w = 0; w < MZ_MAX_WORKERS; w++) b->held[w].count = w == worker;
    mz_object_forget_awaited(&b->trace); /* the numbers of this worker count */
    mz_balance_get_knowledge(b, m);
    b->trace.outdated = false; /* the balancer relies on no object */
    b->counts.restarts++;
    return MZ_HEARD_RESTART;
}

enum mz_heard mz_whole_hear(struct mz_balance *b, uint32_t worker, struct mz_message *m)
{
    uint32_t kind = mz_get(m);
    if (!b->held[worker].count || (kind != MZ_SHARE_DONE && kind != MZ_SHARE_RESTART))
        return MZ_HEARD_NONSENSE;
    if (b->done) { /* too late */
        m->at = m->count;
        return MZ_HEARD;
    }
    if (kind == MZ_SHARE_RESTART) return hear_restart(b, worker, m);
    b->done = true;
    b->held[worker].count = 0;
    return MZ_HEARD;
}

void mz_whole_lost(struct mz_balance *b, uint32_t worker)
{
    b->counts.lost += b->held[worker].count > 0;
    b->held[worker].count = 0;
}

void mz_whole_save(struct mz_balance *b, struct mz_message *m)
{
    mz_balance_put_knowledge(b, m);
    mz_put(m, b->done);
}

bool mz_whole_load(struct mz_balance *b, struct mz_message *m)
{
    mz_balance_get_knowledge(b, m);
    b->trace.outdated = false;
    b->done = mz_get(m) != 0;
    return !m->bad;
}
