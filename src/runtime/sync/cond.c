/* Condition variables, in the program's own pthread_cond_t.
 *
 * To wait, a thread
 *  - does the visible operation WAIT, which puts it into the set of waiters;
 *  - releases the mutex;
 *  - posts RESUME, and is blocked until another thread wakes it;
 *  - does the visible operation RESUME, which locks the mutex.
 *
 * WAIT and the release are two operations. This shows nothing that POSIX forbids: between them the mutex is
 * still held, so a thread that signals there does not hold the mutex, and could as well signal after the
 * release.
 *
 * Which waiter a signal wakes is a choice, and the search explores all of them. POSIX promises no order, so
 * waiters are a set, and two waits commute.
 *
 * Some waiters may give up: those in a timed wait, and with --spurious-wakeups all waiters. Such a thread is
 * enabled while it waits. If the engine chooses it, its operation is TIMEOUT, and then it posts RESUME again. If
 * it is woken instead, the engine is told that the thread could have timed out before.
 *
 * The waker does not touch the pending operation of the waiter: it only says that the thread does not wait any
 * more (rt.view.waiting). program.h, "Waiting", says what the engine makes of that.
 *
 * Spurious wakeups are bounded, or a loop that counts its rounds would never end. A thread has at most
 * SPURIOUS_HERE spurious wakeups in a row at the same place, and at most SPURIOUS_IN_ALL in an execution. If
 * a thread reaches the bound, the report says so. A loop that changes nothing does not reach the bound:
 * spin.c stops it before. Stateful searches need no bound. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(struct mz_cond) <= sizeof(pthread_cond_t), "a condition variable must fit");

static void keep(const struct mz_cond *c) { mz_keep_program(c, sizeof *c); }
static struct mz_cond *of(pthread_cond_t *c) { return (struct mz_cond *)(void *)c; }
static struct mz_mutex *mutex_of(pthread_mutex_t *m) { return (struct mz_mutex *)(void *)m; }

static void check(const struct mz_cond *c)
{
    if (mz_likely(!c->mark)) return;
    if (c->mark == MZ_DESTROYED) mz_misuse("use of a condition variable that was destroyed", c);
    mz_misuse("use of a condition variable that was never initialised", c);
}

/* The set of waiters has changed: update the choices of the threads that are about to signal. */
static void update_choices(const struct mz_cond *c)
{
    for (uint64_t s = c->signalers; s; s &= s - 1)
        rt.view.pending[__builtin_ctzll(s)].choices = c->waiters ? c->waiters : 1;
}

/* The running thread takes its mutex back: it was woken before it began to wait, or it has given up. */
static void relock(struct mz_mutex *m, const void *pc)
{
    if (rt.run.threads[rt.self].woken_by) mz_explore_wake(rt.x, rt.run.threads[rt.self].woken_by, rt.self);
    mz_mutex_post(m, MZ_OP_RESUME, pc);
}

static void wake(struct mz_cond *c, int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    keep(c);
    c->waiters &= ~mz_slot_bit(slot);
    t->woken_by = rt.path->depth;
    t->changes++;
    if (t->timed) mz_explore_could_time_out(rt.x, slot);
    /* If releasing the mutex is a visible operation, the thread may still have to do it. */
    if (t->state == MZ_THREAD_WAITING) {
        mz_explore_wake(rt.x, t->woken_by, slot);
        mz_mutex_resume(t->wait_mutex, slot);
        t->wait_mutex = NULL;
    }
    MZ_RECORD(MZ_OP_WOKEN, (uintptr_t)c, 0, 0, 0, 0, slot, MZ_FRAME());
}

static void begin_to_wait(struct mz_cond *c, struct mz_mutex *m, bool timed, const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    mz_post_wait((uintptr_t)c, 0, m, timed, pc);
    t->state = MZ_THREAD_WAITING;
    t->wait_mutex = m;
}

/* The running thread was not woken, and it is scheduled: it gives up. */
static void give_up(struct mz_cond *c, struct mz_mutex *m, bool timed, const void *pc, const void *frame)
{
    mz_wait_given_up();
    mz_commit_use(MZ_READS, c->waiters);
    MZ_RECORD(timed ? MZ_OP_TIMEOUT : MZ_OP_SPURIOUS, (uintptr_t)c, 0, 0, 0, 0, 0, frame);
    keep(c);
    c->waiters &= ~mz_slot_bit(rt.self);
    update_choices(c);
    mz_spin((uintptr_t)c, pc, frame); /* here a loop around a timed wait stops without the mutex */
    relock(m, pc);
    mz_dispatch();
}

static bool release_one_level(struct mz_mutex *m, const void *pc, const void *frame)
{
    if (m->depth == 1) {
        mz_mutex_give(m, pc, frame);
        return true;
    }
    mz_keep_program(m, sizeof *m);
    m->depth--;
    MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    return false;
}

#define SPURIOUS_HERE   3
#define SPURIOUS_IN_ALL 8

static bool may_wake_by_itself(const struct mz_thread *t, const void *pc)
{
    if (!rt.channel->options.spurious_wakeups) return false;
    bool here = t->spurious_place == pc && t->spurious >= SPURIOUS_HERE;
    if (rt.stateful || (!here && t->spurious_in_all < SPURIOUS_IN_ALL)) return true;
    mz_unseen("more than 3 spurious wakeups of a thread in a row at the same wait, or more than 8 in one "
              "execution");
    return false;
}

static void count_spurious(struct mz_thread *t, const void *pc)
{
    t->spurious = t->spurious_place == pc ? (uint8_t)(t->spurious + 1) : 1;
    t->spurious_place = pc;
    if (t->spurious_in_all < SPURIOUS_IN_ALL) t->spurious_in_all++;
}

int mz_cond_wait(struct mz_cond *c, struct mz_mutex *m, bool timed, const struct timespec *until,
                 const void *pc, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    bool gave_up = false;
    if (!rt.active) return EINVAL;
    if (timed && !mz_time_is_valid(until)) return EINVAL;
    check(c);
    mz_mutex_check(m);
    if (m->owner != rt.self + 1u) mz_misuse("pthread_cond_wait without holding the mutex", c);
    mz_spin((uintptr_t)c, pc, frame);
    bool may_give_up = timed || may_wake_by_itself(t, pc);
    mz_visible(MZ_OP_WAIT, (uintptr_t)c, 0, MZ_READS, 0, pc);
    t->woken_by = t->kicked = 0;
    keep(c);
    c->waiters |= mz_slot_bit(rt.self);
    update_choices(c);
    mz_commit_use(MZ_READS, 0);
    MZ_RECORD(MZ_OP_WAIT, (uintptr_t)c, 0, 0, 0, 0, 0, frame);
    bool cancellable = rt.uses.cancel && !t->cancel_off;
    t->timed = may_give_up;
    if (cancellable) mz_cancel_publish(c, MZ_WAITS_COND, pc);
    release_one_level(m, pc, frame);
    if (c->waiters & mz_slot_bit(rt.self))
        begin_to_wait(c, m, may_give_up, pc);
    else
        relock(m, pc);
    mz_dispatch();
    if (mz_waits(rt.self)) {
        gave_up = true;
        if (!timed && !rt.stateful) count_spurious(t, pc);
        give_up(c, m, timed, pc, frame);
    }
    t->timed = 0;
    t->wait_mutex = NULL; /* it is still set if the thread gave up */
    rt.view.pending[rt.self].expected = t->woken_by;
    mz_mutex_take(m);
    MZ_RECORD(MZ_OP_LOCK, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    if (cancellable) mz_cancel_withdraw(pc);
    /* A thread that was signalled first is not kicked: it continues, so that no signal is lost. */
    if (t->kicked) mz_cancel_act();
    if (!gave_up || !timed) return m->owner_died ? EOWNERDEAD : 0;
    mz_time_passes_to(until, pc);
    return ETIMEDOUT;
}

int mz_cond_signal(struct mz_cond *c, const void *pc, const void *frame)
{
    if (!rt.active) return 0;
    check(c);
    mz_rounds_look((uintptr_t)c, pc, frame);
    mz_before(pc);
    rt.view.pending[rt.self] = (struct mz_pending){.key = (uintptr_t)c,
                                                   .choices = c->waiters ? c->waiters : 1,
                                                   .op = MZ_OP_SIGNAL,
                                                   .access = MZ_WRITES,
                                                   .pc = (uintptr_t)pc};
    rt.view.enabled |= mz_slot_bit(rt.self);
    keep(c);
    c->signalers |= mz_slot_bit(rt.self);
    rt.hooks++;
    mz_dispatch();
    keep(c);
    c->signalers &= ~mz_slot_bit(rt.self);
    mz_changed();
    mz_commit_use(MZ_WRITES, c->waiters);
    MZ_RECORD(MZ_OP_SIGNAL, (uintptr_t)c, 0, c->waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    if (c->waiters) wake(c, rt.choice);
    update_choices(c);
    return 0;
}

int mz_cond_broadcast(struct mz_cond *c, const void *pc, const void *frame)
{
    if (!rt.active) return 0;
    check(c);
    mz_rounds_look((uintptr_t)c, pc, frame);
    mz_visible(MZ_OP_BROADCAST, (uintptr_t)c, 0, MZ_WRITES, 0, pc);
    mz_changed();
    mz_commit_use(MZ_WRITES, c->waiters);
    MZ_RECORD(MZ_OP_BROADCAST, (uintptr_t)c, 0, c->waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    while (c->waiters) wake(c, __builtin_ctzll(c->waiters));
    update_choices(c);
    return 0;
}

/* Wake thread `slot` if it still waits on c: it has been cancelled. */
void mz_cond_kick(struct mz_cond *c, int slot, const void *pc, const void *frame)
{
    mz_visible(MZ_OP_BROADCAST, (uintptr_t)c, 0, MZ_WRITES, 0, pc);
    mz_commit_use(MZ_WRITES, c->waiters);
    MZ_RECORD(MZ_OP_BROADCAST, (uintptr_t)c, 0, c->waiters & mz_slot_bit(slot) ? 0 : MZ_RECORD_FAILED, 0, 0,
              0, frame);
    if (c->waiters & mz_slot_bit(slot)) {
        rt.run.threads[slot].kicked = 1; /* a second cancellation changes nothing */
        wake(c, slot);
    }
    update_choices(c);
}

MZ_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return mz_cond_wait(of(cond), mutex_of(mutex), false, NULL, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                     const struct timespec *until)
{
    return mz_cond_wait(of(cond), mutex_of(mutex), true, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *until)
{
    (void)clock;
    return mz_cond_wait(of(cond), mutex_of(mutex), true, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    return mz_cond_signal(of(cond), MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return mz_cond_broadcast(of(cond), MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    mz_object_written(cond, sizeof *cond, MZ_PC(), MZ_FRAME());
    keep(of(cond));
    *of(cond) = (struct mz_cond){0, 0, 0};
    return 0;
}

MZ_EXPORT int pthread_cond_destroy(pthread_cond_t *cond)
{
    struct mz_cond *c = of(cond);
    if (!rt.active) return 0;
    check(c);
    if (c->waiters) mz_misuse("a condition variable is destroyed while threads wait on it", c);
    mz_object_written(cond, sizeof *cond, MZ_PC(), MZ_FRAME());
    keep(c);
    c->mark = MZ_DESTROYED;
    return 0;
}
