/* POSIX semaphores, in the program's own sem_t. Named semaphores are in a table here; they exist only within
 * the process.
 *
 * A wait synchronizes with every earlier post: the count is one atomic variable, and each post is a release
 * whose release sequence all later operations continue. A timed wait is a try with another return value, as
 * for mutexes.
 *
 * If a thread may be cancelled, its wait consists of tries. A try that fails makes the thread a waiter in the
 * same operation. A post wakes all waiters, and they try again. pthread_cancel wakes only the cancelled
 * thread, by an operation on the semaphore (cancel.c). */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>

#define INITIALISED 0x6d7a73656dull

struct mz_semaphore {
    uint32_t value;
    uint32_t closed;  /* MZ_DESTROYED */
    uint64_t mark;    /* INITIALISED */
    uint64_t waiters; /* threads whose try failed, and that wait */
};
_Static_assert(sizeof(struct mz_semaphore) <= sizeof(sem_t), "a semaphore must fit");

static void keep(const struct mz_semaphore *s);
static struct mz_semaphore *of(sem_t *s) { return (struct mz_semaphore *)(void *)s; }

static void check(const struct mz_semaphore *s)
{
    if (mz_likely(s->mark == INITIALISED && !s->closed)) return;
    if (s->mark == INITIALISED) mz_misuse("use of a semaphore that was destroyed", s);
    mz_misuse("use of a semaphore that was never initialised", s);
}

static void update(const struct mz_semaphore *s)
{
    mz_enable(mz_pending_on((uintptr_t)s, MZ_OP_SEM_WAIT), s->value > 0);
}

enum mz_access mz_semaphore_try_access(const struct mz_pending *p)
{
    return ((const struct mz_semaphore *)p->key)->value ? MZ_WRITES : MZ_READS;
}

static void happens(struct mz_semaphore *s, uint8_t op, enum mz_access access, uint32_t before,
                    uint32_t flags, const void *frame)
{
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    update(s);
    mz_commit_use(access, before);
    MZ_RECORD(op, (uintptr_t)s, 0, flags | MZ_RECORD_HAS_VALUE, s->value, 0, 0, frame);
}

static void take(struct mz_semaphore *s, uint8_t op, const void *frame)
{
    keep(s);
    uint32_t before = s->value--;
    mz_changed();
    happens(s, op, MZ_WRITES, before, 0, frame);
    mz_sync_acquire_all(rt.self, mz_last_object());
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* The post or cancellation that was just committed wakes these threads. A thread that is not blocked yet sees
 * that when it is about to block (wait_for_post). */
static void wake(struct mz_semaphore *s, uint64_t waiters)
{
    keep(s);
    s->waiters &= ~waiters;
    for (; waiters; waiters &= waiters - 1) {
        int slot = __builtin_ctzll(waiters);
        struct mz_thread *t = &rt.run.threads[slot];
        t->woken_by = rt.path->depth;
        t->changes++;
        if (t->state != MZ_THREAD_SEMWAIT) continue;
        mz_explore_wake(rt.x, rt.path->depth, slot);
        t->state = MZ_THREAD_RUNNABLE;
        rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)slot; /* continues within this step */
    }
}

void mz_semaphore_kick(void *semaphore, int slot, const void *pc, const void *frame)
{
    struct mz_semaphore *s = semaphore;
    mz_visible(MZ_OP_CANCEL, (uintptr_t)s, 0, MZ_WRITES, 0, pc);
    mz_commit_use(MZ_WRITES, s->value);
    MZ_RECORD(MZ_OP_CANCEL, 0, 0, 0, 0, 0, slot, frame);
    wake(s, s->waiters & mz_slot_bit(slot));
}

/* After a failed try. */
static void wait_for_post(struct mz_semaphore *s, const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    mz_cancel_publish(s, MZ_WAITS_SEMAPHORE, pc);
    if (s->waiters & mz_slot_bit(rt.self)) {
        mz_post(MZ_OP_NONE, (uintptr_t)s, MZ_READS, false, pc);
        t->state = MZ_THREAD_SEMWAIT;
        mz_dispatch();
    } else {
        mz_explore_wake(rt.x, t->woken_by, rt.self);
    }
    if (mz_cancel_withdraw(pc)) mz_cancel_act();
}

static void wait_cancellable(struct mz_semaphore *s, const void *pc, const void *frame)
{
    mz_test_cancel(pc);
    for (;;) {
        mz_visible(MZ_OP_SEM_TRY, (uintptr_t)s, 0, MZ_WRITES, 0, pc);
        if (s->value) break;
        keep(s);
        s->waiters |= mz_slot_bit(rt.self);
        happens(s, MZ_OP_SEM_TRY, MZ_READS, 0, MZ_RECORD_FAILED, frame);
        wait_for_post(s, pc);
    }
    take(s, MZ_OP_SEM_TRY, frame);
}

/* Does a signal handler interrupt the wait, so that it fails? Only if the thread has to wait: the semaphore
 * is 0. */
static bool interrupted(struct mz_semaphore *s, const void *pc, const void *frame)
{
    if (!rt.up.signal_interrupts_wait(false, pc, frame)) return false;
    mz_visible(MZ_OP_LOAD, (uintptr_t)s, 0, MZ_READS, 0, pc);
    uint32_t found = s->value;
    mz_commit_use(MZ_READS, found);
    MZ_RECORD(MZ_OP_LOAD, (uintptr_t)s, 4, MZ_RECORD_HAS_VALUE, found, 0, 0, frame);
    return !found;
}

/* Before main there is one thread, so nothing is scheduled. But other threads find this count later. */
static int try_outside(struct mz_semaphore *s, int busy)
{
    if (!s->value) return fail(busy);
    s->value--;
    return 0;
}

MZ_EXPORT int sem_wait(sem_t *semaphore)
{
    struct mz_semaphore *s = of(semaphore);
    if (!rt.active) {
        if (try_outside(s, EAGAIN) != 0)
            mz_unsupported("sem_wait that blocks before main", "call it from main");
        return 0;
    }
    check(s);
    if (interrupted(s, MZ_PC(), MZ_FRAME())) return fail(EINTR);
    if (rt.uses.cancel && !rt.run.threads[rt.self].cancel_off) {
        wait_cancellable(s, MZ_PC(), MZ_FRAME());
        return 0;
    }
    mz_rounds_look((uintptr_t)s, MZ_PC(), MZ_FRAME());
    rt.hooks++;
    mz_post(MZ_OP_SEM_WAIT, (uintptr_t)s, MZ_WRITES, s->value > 0, MZ_PC());
    rt.run.threads[rt.self].state = MZ_THREAD_SEMWAIT;
    mz_dispatch();
    take(s, MZ_OP_SEM_WAIT, MZ_FRAME());
    return 0;
}

static int try(struct mz_semaphore *s, int busy, const void *pc, const void *frame)
{
    if (!rt.active) return try_outside(s, busy);
    check(s);
    mz_spin((uintptr_t)s, pc, frame);
    mz_visible(MZ_OP_SEM_TRY, (uintptr_t)s, 0, MZ_WRITES, 0, pc);
    if (s->value) {
        take(s, MZ_OP_SEM_TRY, frame);
        return 0;
    }
    happens(s, MZ_OP_SEM_TRY, MZ_READS, 0, MZ_RECORD_FAILED, frame);
    return fail(busy);
}

MZ_EXPORT int sem_trywait(sem_t *s) { return try(of(s), EAGAIN, MZ_PC(), MZ_FRAME()); }

static int timed(struct mz_semaphore *s, const struct timespec *until, const void *pc, const void *frame)
{
    if (!mz_time_is_valid(until)) return fail(EINVAL);
    mz_test_cancel(pc);
    if (rt.active && interrupted(s, pc, frame)) return fail(EINTR);
    int result = try(s, ETIMEDOUT, pc, frame);
    if (result) mz_time_passes_to(until, pc);
    return result;
}
MZ_EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
    return timed(of(s), until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict until)
{
    (void)clock;
    return timed(of(s), until, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int sem_post(sem_t *semaphore)
{
    struct mz_semaphore *s = of(semaphore);
    if (!rt.active) {
        if (s->value == SEM_VALUE_MAX) return fail(EOVERFLOW);
        s->value++;
        return 0;
    }
    check(s);
    mz_rounds_look((uintptr_t)s, MZ_PC(), MZ_FRAME());
    mz_visible(MZ_OP_SEM_POST, (uintptr_t)s, 0, MZ_WRITES, 0, MZ_PC());
    if (s->value == SEM_VALUE_MAX) {
        happens(s, MZ_OP_SEM_POST, MZ_WRITES, s->value, MZ_RECORD_FAILED, MZ_FRAME());
        mz_misuse("sem_post of a semaphore that already has its largest value (overflow)", s);
    }
    keep(s);
    uint32_t before = s->value++;
    mz_changed();
    happens(s, MZ_OP_SEM_POST, MZ_WRITES, before, 0, MZ_FRAME());
    mz_sync_release_part(mz_last_object());
    wake(s, s->waiters);
    return 0;
}

MZ_EXPORT int sem_getvalue(sem_t *restrict semaphore, int *restrict value)
{
    struct mz_semaphore *s = of(semaphore);
    if (!rt.active) {
        *value = (int)s->value;
        return 0;
    }
    check(s);
    mz_spin((uintptr_t)s, MZ_PC(), MZ_FRAME());
    mz_visible(MZ_OP_LOAD, (uintptr_t)s, 0, MZ_READS, 0, MZ_PC());
    uint32_t found = s->value;
    mz_commit_use(MZ_READS, found);
    MZ_RECORD(MZ_OP_LOAD, (uintptr_t)s, 4, MZ_RECORD_HAS_VALUE, found, 0, 0, MZ_FRAME());
    mz_object_written(value, sizeof *value, MZ_PC(), MZ_FRAME());
    mz_keep_program(value, sizeof *value);
    *value = (int)found;
    return 0;
}

MZ_EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    (void)shared;
    if (value > SEM_VALUE_MAX) return fail(EINVAL);
    mz_object_written(semaphore, sizeof(struct mz_semaphore), MZ_PC(), MZ_FRAME());
    keep(of(semaphore));
    *of(semaphore) = (struct mz_semaphore){.value = value, .mark = INITIALISED};
    return 0;
}

MZ_EXPORT int sem_destroy(sem_t *semaphore)
{
    struct mz_semaphore *s = of(semaphore);
    if (!rt.active) return 0;
    check(s);
    /* The caller's own last wait is over, but it is still its pending operation. */
    if (s->waiters || (mz_pending_on((uintptr_t)s, MZ_OP_SEM_WAIT) & ~mz_slot_bit(rt.self)))
        mz_misuse("a semaphore is destroyed while threads wait on it", s);
    mz_object_written(semaphore, sizeof(struct mz_semaphore), MZ_PC(), MZ_FRAME());
    keep(s);
    s->closed = MZ_DESTROYED;
    return 0;
}

/* ---- named semaphores: they exist until the end of the execution ---- */

#define se mz_sync_room.semaphore

/* Named semaphores are not in program memory. */
static void keep(const struct mz_semaphore *s)
{
    if (mz_unlikely((const char *)s - (const char *)se.named < (ptrdiff_t)sizeof se.named &&
                    (const char *)s >= (const char *)se.named))
        mz_keep_state(s, sizeof *s);
    else
        mz_keep_program(s, sizeof *s);
}

void mz_semaphores_reset(void)
{
    mz_raw_memset(se.named, 0, se.most * sizeof *se.named);
    se.most = 0;
}

/* sem_open and sem_unlink use a table that all threads share. The table is an object of its own, not the
 * first semaphore in it. */
static void use_table(const void *pc, const void *frame)
{
    mz_visible(MZ_OP_SHARED_CALL, (uintptr_t)&se.table, 0, MZ_WRITES, 0, pc);
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_SHARED_CALL, 0, 0, 0, 0, 0, 0, frame);
}

static struct mz_named_semaphore *find(const char *name)
{
    for (unsigned i = 0; i < MZ_NAMED_SEMAPHORES; i++)
        if (se.named[i].made && se.named[i].linked && !mz_text_differs(se.named[i].name, name))
            return &se.named[i];
    return NULL;
}

static struct mz_named_semaphore *make(const char *name, unsigned value)
{
    for (unsigned i = 0; i < MZ_NAMED_SEMAPHORES; i++) {
        if (se.named[i].made) continue;
        mz_keep_state(&se.named[i], sizeof se.named[i]);
        if (i >= se.most) se.most = i + 1;
        se.named[i].made = true;
        se.named[i].linked = true;
        mz_text_copy(se.named[i].name, sizeof se.named[i].name, name);
        *of(&se.named[i].semaphore) = (struct mz_semaphore){.value = value, .mark = INITIALISED};
        return &se.named[i];
    }
    mz_unsupported("more than 64 named semaphores", "use sem_init");
}

MZ_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    if (!rt.active) mz_unsupported("sem_open before main", "call it from main");
    use_table(MZ_PC(), MZ_FRAME());
    struct mz_named_semaphore *n = find(name);
    if (n && (flags & O_CREAT) && (flags & O_EXCL)) {
        errno = EEXIST;
        return SEM_FAILED;
    }
    if (n) return &n->semaphore;
    if (!(flags & O_CREAT)) {
        errno = ENOENT;
        return SEM_FAILED;
    }
    va_list arguments;
    va_start(arguments, flags);
    (void)va_arg(arguments, unsigned); /* the mode */
    unsigned value = va_arg(arguments, unsigned);
    va_end(arguments);
    return &make(name, value)->semaphore;
}

MZ_EXPORT int sem_close(sem_t *semaphore)
{
    (void)semaphore;
    return 0;
}

MZ_EXPORT int sem_unlink(const char *name)
{
    if (!rt.active) return 0;
    use_table(MZ_PC(), MZ_FRAME());
    struct mz_named_semaphore *n = find(name);
    if (!n) return fail(ENOENT);
    mz_keep_state(&n->linked, sizeof n->linked);
    n->linked = false;
    return 0;
}
