/* Read-write locks, in the program's own pthread_rwlock_t.
 *
 * Readers commute with each other. A writer has to wait for all readers; the engine knows that
 * (dependence.c). Every operation is visible, releases included, and passes the state of the lock before the
 * operation to the engine.
 *
 * By default readers come first, as in glibc: a reader never waits for a waiting writer. With
 * PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP it does: a writer first claims the lock, and all operations on
 * the lock are ordered. (In glibc, PTHREAD_RWLOCK_PREFER_WRITER_NP is the same as the default.)
 *
 * A timed lock is a trylock with another return value, as for mutexes. */
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

struct mz_rwlock {
    uint32_t writer;  /* slot + 1 */
    uint32_t claims;  /* waiting writers, if writers come first: they keep readers out */
    uint64_t readers; /* the threads that hold it as readers; `held` of each thread says how often */
    uint32_t mark;
    uint32_t outside; /* read locks that the first thread took before main and has not given back there */
    uint32_t unused[6];
    uint32_t kind; /* glibc's place for it */
};
_Static_assert(offsetof(struct mz_rwlock, kind) == 48, "glibc's place of the kind of a read-write lock");
_Static_assert(sizeof(struct mz_rwlock) <= sizeof(pthread_rwlock_t), "a read-write lock must fit");

static void keep(const struct mz_rwlock *l) { mz_keep_program(l, sizeof *l); }
static struct mz_rwlock *of(pthread_rwlock_t *l) { return (struct mz_rwlock *)(void *)l; }

static void check(const struct mz_rwlock *l)
{
    if (mz_likely(!l->mark && l->kind != MZ_NEW_BYTES)) return;
    if (l->mark == MZ_DESTROYED) mz_misuse("use of a read-write lock that was destroyed", l);
    mz_misuse("use of a read-write lock that was never initialised", l);
}

static bool writers_first(const struct mz_rwlock *l)
{
    return l->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* The state of the lock as program.h defines it for the engine. */
static uint64_t state(const struct mz_rwlock *l)
{
    uint64_t s = (uint64_t)__builtin_popcountll(l->readers) | (uint64_t)l->claims << 32;
    if (l->writer) s |= MZ_RW_WRITER;
    if (writers_first(l)) s |= MZ_RW_ORDERED;
    return s;
}

static bool can_read(const struct mz_rwlock *l) { return !l->writer && !(writers_first(l) && l->claims); }
static bool can_write(const struct mz_rwlock *l) { return !l->writer && !l->readers; }

static enum mz_access shared(const struct mz_rwlock *l) { return writers_first(l) ? MZ_WRITES : MZ_SHARES; }

/* The state of the lock has changed: update which operations on it are enabled. */
static void update(const struct mz_rwlock *l)
{
    mz_enable(mz_pending_on((uintptr_t)l, MZ_OP_RDLOCK), can_read(l));
    mz_enable(mz_pending_on((uintptr_t)l, MZ_OP_WRLOCK), can_write(l));
}

enum mz_access mz_rwlock_try_access(const struct mz_pending *p)
{
    const struct mz_rwlock *l = (const struct mz_rwlock *)p->key;
    if (p->op == MZ_OP_TRYRDLOCK) return can_read(l) ? shared(l) : MZ_READS;
    return can_write(l) ? MZ_WRITES : MZ_READS;
}

/* ---- how often a thread holds the lock for reading ---- */

/* Entry of thread.held: the lowest bit says that it is not a mutex. */
static void *entry(const struct mz_rwlock *l) { return (void *)((uintptr_t)l | 1); }

static void hold(const struct mz_rwlock *l)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (t->held_count == MZ_HELD)
        mz_unsupported("a thread that holds more than 24 locks", "use fewer locks at a time");
    mz_keep(&t->held[t->held_count], sizeof *t->held);
    t->held[t->held_count++] = entry(l);
}

/* Removes one entry of l. Returns how many are left. */
static unsigned let_go(const struct mz_rwlock *l)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    unsigned kept = 0, times = 0;
    bool gone = false;
    mz_keep(t->held, t->held_count * sizeof *t->held);
    for (unsigned i = 0; i < t->held_count; i++) {
        bool this_one = t->held[i] == entry(l);
        if (this_one && !gone) {
            gone = true;
            continue;
        }
        times += this_one;
        t->held[kept++] = t->held[i];
    }
    t->held_count = (uint8_t)kept;
    return times;
}

/* Returns the thread that thread `slot` waits for: itself, if it holds the lock; -1 if it waits only for a
 * waiting writer. */
int mz_rwlock_holder(uint64_t key, int slot, uint8_t op)
{
    const struct mz_rwlock *l = (const struct mz_rwlock *)key;
    if (l->writer) return (int)l->writer - 1;
    if (op == MZ_OP_RDLOCK || !l->readers) return -1;
    return l->readers & mz_slot_bit(slot) ? slot : __builtin_ctzll(l->readers);
}

/* ---- locking ---- */

static void happens(struct mz_rwlock *l, uint8_t op, enum mz_access access, uint64_t before, uint32_t flags,
                    const void *frame)
{
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    if (rt.uses.rwtry && access != MZ_READS) mz_changed(); /* a trylock can see it (spin.c) */
    update(l);
    mz_commit_use(access, before);
    MZ_RECORD(op, (uintptr_t)l, 0, flags, 0, 0, 0, frame);
}

/* The running thread takes the lock, which is available. */
static void take_shared(struct mz_rwlock *l, uint8_t op, const void *frame)
{
    uint64_t before = state(l);
    keep(l);
    l->readers |= mz_slot_bit(rt.self);
    hold(l);
    happens(l, op, shared(l), before, 0, frame);
    mz_sync_acquire();
}

static void take_exclusive(struct mz_rwlock *l, uint8_t op, const void *frame)
{
    uint64_t before = state(l);
    keep(l);
    l->writer = rt.self + 1u;
    hold(l);
    if (writers_first(l) && op == MZ_OP_WRLOCK) l->claims--;
    happens(l, op, MZ_WRITES, before, 0, frame);
    mz_sync_acquire_all(rt.self, mz_last_object());
}

/* Before main there is one thread, slot 0, and nothing to schedule. */
static int read_outside(struct mz_rwlock *l, int busy)
{
    if (l->writer) return busy;
    l->readers = 1;
    l->outside++;
    return 0;
}

static int write_outside(struct mz_rwlock *l, int busy)
{
    if (l->writer || l->readers) return busy;
    l->writer = 1;
    return 0;
}

static int unlock_outside(struct mz_rwlock *l)
{
    if (l->outside) l->outside--;
    l->writer = 0;
    l->readers = l->outside > 0;
    return 0;
}

static int read_lock(struct mz_rwlock *l, const void *pc, const void *frame)
{
    if (!rt.active) return read_outside(l, EDEADLK);
    check(l);
    if (l->writer == rt.self + 1u) return EDEADLK;
    if (l->readers & mz_slot_bit(rt.self) && !writers_first(l)) {
        hold(l);
        MZ_RECORD(MZ_OP_ACQUIRE, (uintptr_t)l, 0, 0, 0, 0, 0, frame);
        return 0;
    }
    rt.hooks++;
    mz_spin((uintptr_t)l, pc, frame);
    mz_simple(0, 0, 0); /* the continuation depends on nothing but the lock */
    mz_before(pc);
    mz_post(MZ_OP_RDLOCK, (uintptr_t)l, shared(l), can_read(l), pc);
    mz_dispatch();
    take_shared(l, MZ_OP_RDLOCK, frame);
    return 0;
}

static int write_lock(struct mz_rwlock *l, const void *pc, const void *frame)
{
    if (!rt.active) return write_outside(l, EDEADLK);
    check(l);
    if (l->writer == rt.self + 1u) return EDEADLK;
    if (writers_first(l)) {
        mz_visible(MZ_OP_RWCLAIM, (uintptr_t)l, 0, MZ_WRITES, 0, pc);
        uint64_t before = state(l);
        keep(l);
        l->claims++;
        mz_changed();
        happens(l, MZ_OP_RWCLAIM, MZ_WRITES, before, 0, frame);
    }
    rt.hooks++;
    mz_spin((uintptr_t)l, pc, frame);
    mz_simple(0, 0, 0);
    mz_before(pc);
    mz_post(MZ_OP_WRLOCK, (uintptr_t)l, MZ_WRITES, can_write(l), pc);
    mz_dispatch();
    take_exclusive(l, MZ_OP_WRLOCK, frame);
    return 0;
}

static int try_read(struct mz_rwlock *l, int busy, const void *pc, const void *frame)
{
    if (!rt.active) return read_outside(l, busy);
    check(l);
    if (busy == ETIMEDOUT && l->writer == rt.self + 1u) return EDEADLK;
    if (l->readers & mz_slot_bit(rt.self) && !writers_first(l)) {
        hold(l);
        MZ_RECORD(MZ_OP_ACQUIRE, (uintptr_t)l, 0, 0, 0, 0, 0, frame);
        return 0;
    }
    mz_spin((uintptr_t)l, pc, frame);
    mz_visible(MZ_OP_TRYRDLOCK, (uintptr_t)l, 0, MZ_WRITES, 0, pc);
    if (can_read(l)) {
        take_shared(l, MZ_OP_TRYRDLOCK, frame);
        return 0;
    }
    happens(l, MZ_OP_TRYRDLOCK, MZ_READS, state(l), MZ_RECORD_FAILED, frame);
    return busy;
}

static int try_write(struct mz_rwlock *l, int busy, const void *pc, const void *frame)
{
    if (!rt.active) return write_outside(l, busy);
    check(l);
    if (busy == ETIMEDOUT && l->writer == rt.self + 1u) return EDEADLK;
    mz_spin((uintptr_t)l, pc, frame);
    mz_visible(MZ_OP_TRYWRLOCK, (uintptr_t)l, 0, MZ_WRITES, 0, pc);
    if (can_write(l)) {
        take_exclusive(l, MZ_OP_TRYWRLOCK, frame);
        return 0;
    }
    happens(l, MZ_OP_TRYWRLOCK, MZ_READS, state(l), MZ_RECORD_FAILED, frame);
    return busy;
}

static void unlock_exclusive(struct mz_rwlock *l, const void *pc, const void *frame)
{
    mz_simple(0, 0, 0);
    mz_visible(MZ_OP_RWUNLOCK, (uintptr_t)l, 0, MZ_WRITES, 0, pc);
    uint64_t before = state(l);
    keep(l);
    l->writer = 0;
    happens(l, MZ_OP_RWUNLOCK, MZ_WRITES, before, 0, frame);
    mz_sync_release(mz_last_object());
}

static void unlock_shared(struct mz_rwlock *l, const void *pc, const void *frame)
{
    mz_simple(0, 0, 0);
    mz_visible(MZ_OP_RWUNLOCK, (uintptr_t)l, 0, (uint8_t)shared(l), 0, pc);
    uint64_t before = state(l);
    keep(l);
    l->readers &= ~mz_slot_bit(rt.self);
    happens(l, MZ_OP_RWUNLOCK, shared(l), before, 0, frame);
    mz_sync_release_part(mz_last_object());
}

static int unlock(struct mz_rwlock *l, const void *pc, const void *frame)
{
    if (!rt.active) return unlock_outside(l);
    check(l);
    if (l->writer == rt.self + 1u) {
        let_go(l);
        unlock_exclusive(l, pc, frame);
    } else if (!(l->readers & mz_slot_bit(rt.self))) {
        mz_misuse("unlock of a read-write lock that this thread does not hold", l);
    } else if (let_go(l)) {
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)l, 0, 0, 0, 0, 0, frame);
    } else {
        unlock_shared(l, pc, frame);
    }
    return 0;
}

MZ_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l) { return read_lock(of(l), MZ_PC(), MZ_FRAME()); }
MZ_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l) { return write_lock(of(l), MZ_PC(), MZ_FRAME()); }
MZ_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l) { return unlock(of(l), MZ_PC(), MZ_FRAME()); }
MZ_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
    return try_read(of(l), EBUSY, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
    return try_write(of(l), EBUSY, MZ_PC(), MZ_FRAME());
}

static int timed(struct mz_rwlock *l, bool write, const struct timespec *until, const void *pc,
                 const void *frame)
{
    if (!mz_time_is_valid(until)) return EINVAL;
    int result = write ? try_write(l, ETIMEDOUT, pc, frame) : try_read(l, ETIMEDOUT, pc, frame);
    if (result == ETIMEDOUT) mz_time_passes_to(until, pc);
    return result;
}
MZ_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l, const struct timespec *restrict until)
{
    return timed(of(l), false, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l, const struct timespec *restrict until)
{
    return timed(of(l), true, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
                                         const struct timespec *restrict until)
{
    (void)clock;
    return timed(of(l), false, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
                                         const struct timespec *restrict until)
{
    (void)clock;
    return timed(of(l), true, until, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int pthread_rwlock_init(pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict attr)
{
    int kind = PTHREAD_RWLOCK_DEFAULT_NP;
    if (attr) pthread_rwlockattr_getkind_np(attr, &kind);
    mz_object_written(lock, sizeof *lock, MZ_PC(), MZ_FRAME());
    keep(of(lock));
    *of(lock) = (struct mz_rwlock){.kind = (uint32_t)kind};
    return 0;
}

MZ_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    struct mz_rwlock *l = of(lock);
    if (!rt.active) return 0;
    check(l);
    if (l->writer || l->readers) mz_misuse("a read-write lock is destroyed while it is locked", l);
    mz_object_written(lock, sizeof *lock, MZ_PC(), MZ_FRAME());
    keep(l);
    l->mark = MZ_DESTROYED;
    return 0;
}
