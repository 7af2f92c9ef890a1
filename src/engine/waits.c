/* Threads that wait, and the check that only a thread itself changes what it will do next.
 *
 * A thread that waits posts one operation, RESUME, when its wait begins (program.h). While its bit is set in
 * view->waiting, the thread cannot do RESUME: it can do TIMEOUT, if it may stop waiting, or nothing. The
 * engine asks mz_pending_of() for what a thread can do now, so the reductions see a waiting thread as what it is:
 * not as a thread that is blocked at a mutex. When another thread wakes it, only its bit changes. */
#include "engine/exploration.h"

const struct mz_pending *mz_while_waiting(const struct mz_exploration *x, int thread)
{
    static const struct mz_pending nothing = {.op = MZ_OP_NONE, .choices = 1};
    const struct mz_pending *resume = &x->view->pending[thread];
    if (!(x->view->enabled >> thread & 1)) return &nothing;
    struct mz_pending *now = &x->waits->now[thread];
    *now = (struct mz_pending){.key = resume->expected,
                               .pc = resume->pc,
                               .choices = 1,
                               .op = MZ_OP_TIMEOUT,
                               .size = resume->size,
                               .access = MZ_READS};
    return now;
}

/* The access, the choices, and the number of the message that a SEND would send follow the state of the object: they
 * may change. */
static uint64_t expected(const struct mz_pending *p)
{
    return p->op == MZ_OP_SEND ? p->expected >> 32 : p->expected;
}

static bool is_same(const struct mz_pending *a, const struct mz_pending *b)
{
    return a->op == b->op && a->key == b->key && expected(a) == expected(b) && a->pc == b->pc &&
           a->size == b->size && a->order == b->order && a->failure == b->failure && a->direct == b->direct;
}

/* A woken thread with a mutex to lock stays where it is. Other woken threads run within the step. */
static bool may_have_run(const struct mz_waits *w, int thread)
{
    const struct mz_pending *before = &w->posted[thread];
    return w->ran >> thread & 1 && !(before->op == MZ_OP_RESUME && before->key);
}

void mz_check_posts(struct mz_exploration *x)
{
    struct mz_waits *w = x->waits;
    uint32_t k = x->path.depth;
    uint64_t same =
        x->path.live && k ? w->alive & x->view->alive & ~mz_bit(x->trace.events[k - 1].thread) : 0;
    for (; same; same &= same - 1) {
        int t = __builtin_ctzll(same);
        if (!is_same(&w->posted[t], &x->view->pending[t]) && !may_have_run(w, t))
            MZ_BUG("a step of another thread has changed the pending operation of a thread");
    }
    w->alive = x->view->alive;
    w->ran = 0;
    for (uint64_t t = w->alive; t; t &= t - 1)
        w->posted[__builtin_ctzll(t)] = x->view->pending[__builtin_ctzll(t)];
}

void mz_check_resumed(const struct mz_exploration *x, int thread, uint64_t event)
{
    if (!event) return; /* it has stopped waiting by itself */
    if (event > x->trace.count || !mz_op_in(MZ_OPS_WAKE, mz_event_at(&x->trace, (mz_number)event)->op) ||
        !mz_clock_covers(&x->trace, x->trace.thread_clock[thread], (mz_number)event))
        MZ_BUG("a thread resumes, but the event that it names has not woken it");
}
