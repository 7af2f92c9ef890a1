/* Mutexes and spin locks. The state of a mutex lives in the program's own pthread_mutex_t. A statically
 * initialised mutex needs no registration: glibc's initialisers fill only the kind, and struct mz_mutex has
 * the kind at the same place.
 *
 * State of a mutex: free (owner 0), or held by slot owner - 1, depth times. `waiters` are the threads whose
 * pending operation is to lock the mutex; they are enabled exactly while the mutex is free.
 *
 * Releasing a mutex is local (op.def), unless the program also calls trylock: then a trylock before the
 * release and one after it have different results, so the release is a visible operation. Whether the program
 * calls trylock is known from its undefined symbols before the first execution, so all executions agree.
 *
 * A timed lock is a trylock with another return value. While it waits, the thread is simply not scheduled. It
 * times out in the executions in which it is scheduled while the mutex is held. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/state.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(struct mz_mutex) <= sizeof(pthread_mutex_t), "a mutex must fit");
_Static_assert(offsetof(struct mz_mutex, kind) == 16, "glibc's place of the kind of a mutex");

#define ROBUST 16

static void keep(const struct mz_mutex *m) { mz_keep_program(m, sizeof *m); }
static struct mz_mutex *of(pthread_mutex_t *m) { return (struct mz_mutex *)(void *)m; }
static int kind_of(const struct mz_mutex *m) { return m->kind & 3; }

/* Works for mutexes and spin locks: the first word of both is the owner's slot + 1. */
int mz_mutex_holder(uint64_t key, int slot, uint8_t op)
{
    (void)slot, (void)op;
    return (int)*(const uint32_t *)key - 1;
}

enum mz_access mz_mutex_try_access(const struct mz_pending *p)
{
    return *(const uint32_t *)p->key ? MZ_READS : MZ_WRITES;
}

static __attribute__((noinline)) void misused(const struct mz_mutex *m)
{
    if (m->mark == MZ_DESTROYED) mz_misuse("use of a mutex that was destroyed", m);
    mz_misuse("use of a mutex that was never initialised", m);
}

void mz_mutex_check(const struct mz_mutex *m)
{
    if (mz_unlikely(m->mark || (uint32_t)m->kind == MZ_NEW_BYTES)) misused(m);
}

/* The thread is about to lock m. Return whether it can. */
static bool line_up(struct mz_mutex *m, int slot)
{
    /* A recursive mutex that was locked twice is still held by a thread that waits on a condition
     * variable. */
    bool own = m->owner == (unsigned)slot + 1 && m->depth && kind_of(m) == PTHREAD_MUTEX_RECURSIVE;
    keep(m);
    if (!own) m->waiters |= mz_slot_bit(slot);
    return !m->owner || own;
}

/* The running thread posts LOCK, or after a wait RESUME. */
void mz_mutex_post(struct mz_mutex *m, uint8_t op, const void *pc)
{
    mz_post(op, (uintptr_t)m, MZ_WRITES, line_up(m, rt.self), pc);
}

/* The thread, which has posted RESUME, was just woken. */
void mz_mutex_resume(struct mz_mutex *m, int slot)
{
    mz_wait_ends(slot);
    rt.run.threads[slot].state = MZ_THREAD_LOCKING;
    rt.run.threads[slot].wait_object = (uintptr_t)m;
    mz_enable(mz_slot_bit(slot), line_up(m, slot));
}

static void hold(struct mz_mutex *m)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (t->held_count < MZ_HELD) mz_keep(&t->held[t->held_count], sizeof *t->held);
    if (mz_likely(t->held_count < MZ_HELD))
        t->held[t->held_count++] = m;
    else
        mz_changed(); /* the list is full, so spin.c cannot compare the locks that the thread holds */
}

static void let_go(const struct mz_mutex *m)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    mz_keep(t->held, t->held_count * sizeof *t->held);
    for (unsigned i = t->held_count; i-- > 0;) {
        if (t->held[i] != m) continue;
        for (t->held_count--; i < t->held_count; i++) t->held[i] = t->held[i + 1];
        return;
    }
}

/* The posted lock of the running thread happens. The mutex is free, or recursive and held by this thread. */
void mz_mutex_take(struct mz_mutex *m)
{
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    keep(m);
    if (rt.uses.trylock) mz_changed(); /* a trylock can see it (spin.c) */
    if (mz_likely(m->owner != rt.self + 1u)) {
        m->waiters &= ~mz_slot_bit(rt.self);
        m->owner = rt.self + 1u;
        m->depth = 1;
        rt.view.enabled &= ~m->waiters;
        hold(m);
        if (m->released_by) mz_sync_knows(m->released_by - 1, m->released_in);
    } else {
        m->depth++;
    }
    if (mz_unlikely(rt.run.threads[rt.self].held_count > 1) && rt.path->live) mz_lock_order(m);
    mz_commit_use(MZ_WRITES, 0);
    mz_sync_acquire();
}

/* A release that is not an event still uses the mutex: a thread that destroys or frees the mutex must be
 * ordered after the release, by a later lock of the mutex or otherwise. For the race check, the release reads
 * bytes that nothing else reads. A static mutex in a program that neither initialises nor destroys mutexes
 * needs no check. */
static void released(const struct mz_mutex *m, const void *pc, const void *frame)
{
    if (mz_likely(!rt.uses.destroy && (uintptr_t)m >= rt.program_start && (uintptr_t)m < rt.program_end))
        return;
    if (mz_unlikely(rt.allow_races || rt.recording))
        mz_access_range(&m->waiters, sizeof m->depth, false, (void *)(uintptr_t)pc, frame);
    else
        mz_shadow_range((uintptr_t)&m->waiters, sizeof m->depth, false, (uintptr_t)pc);
}

void mz_mutex_give(struct mz_mutex *m, const void *pc, const void *frame)
{
    uint32_t object;
    if (rt.uses.trylock) {
        mz_visible(MZ_OP_UNLOCK, (uintptr_t)m, 0, MZ_WRITES, 0, pc);
        mz_commit_use(MZ_WRITES, 0);
        object = mz_last_object();
        MZ_RECORD(MZ_OP_UNLOCK, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    } else {
        rt.run.local_operations++;
        released(m, pc, frame);
        object = mz_explore_release(rt.x, rt.self, (uintptr_t)m);
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    }
    mz_sync_release(object);
    let_go(m);
    keep(m);
    if (mz_likely(!rt.hashing)) { /* these two fields belong to the past, not to the state */
        m->released_by = (uint8_t)(rt.self + 1);
        m->released_in = rt.run.threads[rt.self].epoch - 1;
    }
    m->owner = 0;
    rt.view.enabled |= m->waiters;
}

/* What a lock of a robust mutex returns. */
static int state_of_data(struct mz_mutex *m) { return mz_likely(!m->owner_died) ? 0 : EOWNERDEAD; }

static bool lock_again(struct mz_mutex *m, const void *frame)
{
    if (m->owner != rt.self + 1u || kind_of(m) != PTHREAD_MUTEX_RECURSIVE) return false;
    keep(m);
    m->depth++;
    mz_changed();
    MZ_RECORD(MZ_OP_ACQUIRE, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    return true;
}

/* The last owner died, and the mutex was unlocked without pthread_mutex_consistent: it can never be locked
 * again. */
static bool lost(const struct mz_mutex *m) { return mz_unlikely(m->owner_died == 2); }

/* Before main there is one thread, and nothing to schedule. */
static int lock_outside(struct mz_mutex *m)
{
    m->owner = 1;
    m->depth++;
    return 0;
}

static int try_outside(struct mz_mutex *m, int busy)
{
    return m->depth && kind_of(m) != PTHREAD_MUTEX_RECURSIVE ? busy : lock_outside(m);
}

static int unlock_outside(struct mz_mutex *m)
{
    if (m->depth && !--m->depth) m->owner = 0;
    return 0;
}

int mz_mutex_lock(struct mz_mutex *m, const void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return lock_outside(m);
    mz_mutex_check(m);
    if (lock_again(m, frame)) return 0;
    if (m->owner == rt.self + 1u && kind_of(m) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    rt.hooks++;
    mz_spin((uintptr_t)m, pc, frame);
    mz_before(pc);
    mz_mutex_post(m, MZ_OP_LOCK, pc);
    if (mz_unlikely(rt.hashing) && (frame == MZ_FRAME() || *(void *const *)MZ_FRAME() == frame))
        mz_simple(0, 0, 0); /* the program made this call itself, not another function of the runtime */
    mz_dispatch();
    mz_mutex_take(m);
    MZ_RECORD(MZ_OP_LOCK, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    if (!lost(m)) return state_of_data(m);
    mz_mutex_give(m, pc, frame);
    return ENOTRECOVERABLE;
}

int mz_mutex_try(struct mz_mutex *m, int busy, const void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return try_outside(m, busy);
    if (!rt.uses.trylock)
        mz_unsupported("pthread_mutex_trylock from a library loaded at run time", "link with the library");
    mz_mutex_check(m);
    if (lock_again(m, frame)) return 0;
    if (busy == ETIMEDOUT && m->owner == rt.self + 1u && kind_of(m) == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    mz_spin((uintptr_t)m, pc, frame);
    mz_visible(MZ_OP_TRYLOCK, (uintptr_t)m, 0, MZ_WRITES, 0, pc);
    if (m->owner) {
        mz_commit_use(MZ_READS, 0);
        MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)m, 0, MZ_RECORD_FAILED, 0, 0, 0, frame);
        return busy;
    }
    mz_mutex_take(m);
    MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    if (!lost(m)) return state_of_data(m);
    mz_mutex_give(m, pc, frame);
    return ENOTRECOVERABLE;
}

int mz_mutex_unlock(struct mz_mutex *m, const void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return unlock_outside(m);
    mz_mutex_check(m);
    if (m->owner != rt.self + 1u) {
        if (kind_of(m) == PTHREAD_MUTEX_ERRORCHECK || kind_of(m) == PTHREAD_MUTEX_RECURSIVE ||
            m->kind & ROBUST)
            return EPERM;
        mz_misuse(m->owner ? "unlock of a mutex that another thread holds"
                           : "unlock of a mutex that is not locked",
                  m);
    }
    keep(m);
    if (m->depth > 1) {
        m->depth--;
        mz_changed();
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
        return 0;
    }
    if (mz_unlikely(m->owner_died == 1)) {
        m->owner_died = 2;
        mz_changed();
    }
    mz_mutex_give(m, pc, frame);
    return 0;
}

/* The running thread ends: release the robust mutexes that it holds; the next owner gets EOWNERDEAD. */
void mz_mutex_owner_ends(void)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    for (unsigned i = t->held_count; i-- > 0;) {
        struct mz_mutex *m = t->held[i];
        if ((uintptr_t)m & 1) continue; /* a read-write lock */
        if (!(m->kind & ROBUST) || m->owner != rt.self + 1u) continue;
        keep(m);
        m->owner_died = 1;
        m->depth = 0;
        mz_mutex_give(m, MZ_PC(), MZ_FRAME());
    }
}

MZ_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return mz_mutex_lock(of(mutex), MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return mz_mutex_try(of(mutex), EBUSY, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return mz_mutex_unlock(of(mutex), MZ_PC(), MZ_FRAME());
}

static int timed(struct mz_mutex *m, const struct timespec *until, const void *pc, const void *frame)
{
    if (!mz_time_is_valid(until)) return EINVAL;
    int result = mz_mutex_try(m, ETIMEDOUT, pc, frame);
    if (result == ETIMEDOUT) mz_time_passes_to(until, pc);
    return result;
}
MZ_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    return timed(of(mutex), until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    (void)clock;
    return timed(of(mutex), until, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    struct mz_mutex *m = of(mutex);
    int kind = PTHREAD_MUTEX_NORMAL, robust = PTHREAD_MUTEX_STALLED;
    if (attr) pthread_mutexattr_gettype(attr, &kind);
    if (attr) pthread_mutexattr_getrobust(attr, &robust);
    mz_object_written(m, sizeof(pthread_mutex_t), MZ_PC(), MZ_FRAME());
    keep(m);
    *m = (struct mz_mutex){.kind = kind | (robust == PTHREAD_MUTEX_ROBUST ? ROBUST : 0)};
    return 0;
}

MZ_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (!rt.active) return 0;
    mz_mutex_check(m);
    if (m->owner) mz_misuse("a mutex is destroyed while it is locked", m);
    mz_object_written(m, sizeof(pthread_mutex_t), MZ_PC(), MZ_FRAME());
    keep(m);
    m->mark = MZ_DESTROYED;
    return 0;
}

MZ_EXPORT int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (!rt.active) return 0;
    mz_mutex_check(m);
    if (!(m->kind & ROBUST) || m->owner_died != 1 || m->owner != rt.self + 1u) return EINVAL;
    keep(m);
    m->owner_died = 0;
    mz_changed();
    return 0;
}

/* There are no priorities: the search explores every order. */
MZ_EXPORT int pthread_mutex_getprioceiling(const pthread_mutex_t *restrict mutex, int *restrict ceiling)
{
    (void)mutex;
    MZ_WRITES_TO(ceiling);
    *ceiling = 0;
    return 0;
}
MZ_EXPORT int pthread_mutex_setprioceiling(pthread_mutex_t *restrict mutex, int ceiling, int *restrict old)
{
    (void)mutex, (void)ceiling;
    MZ_WRITES_TO(old);
    *old = 0;
    return 0;
}

/* ---- spin locks: mutexes in four bytes ---- */

#define SPIN_FREE 0u

static uint32_t *spin_of(pthread_spinlock_t *lock) { return (uint32_t *)(uintptr_t)lock; }

static void spin_check(const uint32_t *lock)
{
    if (*lock == MZ_DESTROYED) mz_misuse("use of a spin lock that was destroyed", lock);
    if (*lock > MZ_SLOTS) mz_misuse("use of a spin lock that was never initialised", lock);
}

/* mz_changed, because the loop detection does not compare which spin locks a thread holds. (Taking and
 * releasing a spin lock within one round would be no change.) */
static void spin_take(uint32_t *lock)
{
    mz_changed();
    mz_keep_program(lock, sizeof *lock);
    *lock = rt.self + 1u;
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    mz_enable(mz_pending_on((uintptr_t)lock, MZ_OP_LOCK) & ~mz_slot_bit(rt.self), false);
    mz_commit_use(MZ_WRITES, 0);
    mz_sync_acquire();
}

/* Before main: the first thread takes it. */
static int spin_outside(uint32_t *lock)
{
    if (*lock != SPIN_FREE) return EBUSY;
    *lock = 1;
    return 0;
}

MZ_EXPORT int pthread_spin_lock(pthread_spinlock_t *spin)
{
    uint32_t *lock = spin_of(spin);
    if (!rt.active) return spin_outside(lock) ? EDEADLK : 0;
    spin_check(lock);
    mz_rounds_look((uintptr_t)lock, MZ_PC(), MZ_FRAME());
    rt.hooks++;
    mz_before(MZ_PC());
    mz_post(MZ_OP_LOCK, (uintptr_t)lock, MZ_WRITES, *lock == SPIN_FREE, MZ_PC());
    mz_dispatch();
    spin_take(lock);
    MZ_RECORD(MZ_OP_LOCK, (uintptr_t)lock, 0, 0, 0, 0, 0, MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_spin_trylock(pthread_spinlock_t *spin)
{
    uint32_t *lock = spin_of(spin);
    if (!rt.active) return spin_outside(lock);
    if (!rt.uses.trylock)
        mz_unsupported("pthread_spin_trylock from a library loaded at run time", "link with the library");
    spin_check(lock);
    mz_spin((uintptr_t)lock, MZ_PC(), MZ_FRAME());
    mz_visible(MZ_OP_TRYLOCK, (uintptr_t)lock, 0, MZ_WRITES, 0, MZ_PC());
    if (*lock != SPIN_FREE) {
        mz_commit_use(MZ_READS, 0);
        MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)lock, 0, MZ_RECORD_FAILED, 0, 0, 0, MZ_FRAME());
        return EBUSY;
    }
    spin_take(lock);
    MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)lock, 0, 0, 0, 0, 0, MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_spin_unlock(pthread_spinlock_t *spin)
{
    uint32_t *lock = spin_of(spin), object;
    if (!rt.active) {
        *lock = SPIN_FREE;
        return 0;
    }
    spin_check(lock);
    if (*lock != rt.self + 1u)
        mz_misuse(*lock ? "unlock of a spin lock that another thread holds"
                        : "unlock of a spin lock that is not locked",
                  lock);
    if (rt.uses.trylock) {
        mz_visible(MZ_OP_UNLOCK, (uintptr_t)lock, 0, MZ_WRITES, 0, MZ_PC());
        mz_commit_use(MZ_WRITES, 0);
        object = mz_last_object();
        MZ_RECORD(MZ_OP_UNLOCK, (uintptr_t)lock, 0, 0, 0, 0, 0, MZ_FRAME());
    } else {
        rt.run.local_operations++;
        object = mz_explore_release(rt.x, rt.self, (uintptr_t)lock);
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)lock, 0, 0, 0, 0, 0, MZ_FRAME());
    }
    mz_sync_release(object);
    mz_keep_program(lock, sizeof *lock);
    *lock = SPIN_FREE;
    mz_enable(mz_pending_on((uintptr_t)lock, MZ_OP_LOCK), true);
    return 0;
}

MZ_EXPORT int pthread_spin_init(pthread_spinlock_t *spin, int shared)
{
    (void)shared;
    mz_object_written(spin_of(spin), sizeof *spin, MZ_PC(), MZ_FRAME());
    mz_keep_program(spin_of(spin), sizeof(uint32_t));
    *spin_of(spin) = SPIN_FREE;
    return 0;
}

MZ_EXPORT int pthread_spin_destroy(pthread_spinlock_t *spin)
{
    uint32_t *lock = spin_of(spin);
    if (!rt.active) return 0;
    spin_check(lock);
    if (*lock) mz_misuse("a spin lock is destroyed while it is locked", lock);
    mz_object_written(lock, sizeof *spin, MZ_PC(), MZ_FRAME());
    mz_keep_program(lock, sizeof *lock);
    *lock = MZ_DESTROYED;
    return 0;
}
