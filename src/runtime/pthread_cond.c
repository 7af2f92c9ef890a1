/* Condition variables, in the program's own pthread_cond_t.
 *
 * Waiting is: the visible operation WAIT, which joins the set of waiters; release of the mutex; blocked until
 * woken; then a visible LOCK of the mutex. That WAIT and release are two operations shows nothing that POSIX
 * forbids: in between the mutex is still held, so whoever signals there does so without it, and might as well
 * have done so after the release.
 *
 * Whom a signal wakes is a choice among the waiters, all are explored. POSIX promises no order, so waiters
 * are a set, and two waits commute. */
#include "runtime.h"
#include "pthread_objects.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(struct mz_cond) <= sizeof(pthread_cond_t), "a condition variable must fit");

static inline uint64_t bit(int slot) { return (uint64_t)1 << slot; }
static struct mz_cond *of(pthread_cond_t *c) { return (struct mz_cond *)(void *)c; }

/* The set of waiters has changed: so have the choices of those about to signal. */
static void update_choices(const struct mz_cond *c)
{
    for (uint64_t s = c->signalers; s; s &= s - 1)
        rt.view.pending[__builtin_ctzll(s)].choices = c->waiters ? c->waiters : 1;
}

/* A thread that was woken wants its mutex back. */
static void relock(struct mz_mutex *m, int slot, const void *pc)
{
    mz_explore_wake(rt.x, rt.run.threads[slot].woken_by, slot);
    mz_mutex_post(m, slot, pc);
}

static void wake(struct mz_cond *c, int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    c->waiters &= ~bit(slot);
    t->woken_by = rt.path->depth;
    /* It may still have to release the mutex, if that is a visible operation. */
    if (t->state == MZ_THREAD_WAITING) relock(t->wait_mutex, slot, (void *)rt.view.pending[slot].pc);
    MZ_RECORD(MZ_OP_WOKEN, (uintptr_t)c, 0, 0, 0, 0, slot, MZ_FRAME());
}

MZ_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct mz_cond *c = of(cond);
    struct mz_mutex *m = (struct mz_mutex *)(void *)mutex;
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!rt.active) return EINVAL;
    if (m->owner != rt.self + 1u)
        mz_finding_here(MZ_KIND_API_MISUSE, "pthread_cond_wait without holding the mutex", 0, (uintptr_t)c);
    mz_visible(MZ_OP_WAIT, (uintptr_t)c, 0, MZ_READS, 0, MZ_PC());
    c->waiters |= bit(rt.self);
    update_choices(c);
    mz_commit(MZ_READS, 0);
    MZ_RECORD(MZ_OP_WAIT, (uintptr_t)c, 0, 0, 0, 0, 0, MZ_FRAME());
    uint32_t depth = m->depth;
    mz_mutex_give(m, MZ_PC(), MZ_FRAME());
    if (c->waiters & bit(rt.self)) {
        t->state = MZ_THREAD_WAITING;
        t->wait_mutex = m;
        t->wait_object = (uintptr_t)c;
        rt.view.enabled &= ~bit(rt.self);
        rt.view.pending[rt.self].op = MZ_OP_NONE;
        rt.view.pending[rt.self].pc = (uintptr_t)MZ_PC();
    } else {
        relock(m, rt.self, MZ_PC());
    }
    mz_dispatch();
    mz_mutex_take(m);
    m->depth = depth;
    MZ_RECORD(MZ_OP_LOCK, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    struct mz_cond *c = of(cond);
    if (!rt.active) return 0;
    rt.view.pending[rt.self] = (struct mz_pending){.key = (uintptr_t)c,
                                                   .choices = c->waiters ? c->waiters : 1,
                                                   .op = MZ_OP_SIGNAL,
                                                   .access = MZ_WRITES,
                                                   .pc = (uintptr_t)MZ_PC()};
    rt.view.enabled |= bit(rt.self);
    c->signalers |= bit(rt.self);
    rt.hooks++;
    mz_dispatch();
    c->signalers &= ~bit(rt.self);
    mz_commit(MZ_WRITES, c->waiters);
    MZ_RECORD(MZ_OP_SIGNAL, (uintptr_t)c, 0, c->waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, MZ_FRAME());
    if (c->waiters) wake(c, rt.choice);
    update_choices(c);
    return 0;
}

MZ_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    struct mz_cond *c = of(cond);
    if (!rt.active) return 0;
    mz_visible(MZ_OP_BROADCAST, (uintptr_t)c, 0, MZ_WRITES, 0, MZ_PC());
    mz_commit(MZ_WRITES, c->waiters);
    MZ_RECORD(MZ_OP_BROADCAST, (uintptr_t)c, 0, c->waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, MZ_FRAME());
    while (c->waiters) wake(c, __builtin_ctzll(c->waiters));
    update_choices(c);
    return 0;
}

MZ_EXPORT int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    *of(cond) = (struct mz_cond){0, 0};
    return 0;
}

MZ_EXPORT int pthread_cond_destroy(pthread_cond_t *cond)
{
    if (rt.active && of(cond)->waiters)
        mz_finding_here(MZ_KIND_API_MISUSE, "a condition variable is destroyed while threads wait on it", 0,
                        (uintptr_t)cond);
    return 0;
}
