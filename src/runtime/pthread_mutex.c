/* Mutexes. Their state lives in the program's own pthread_mutex_t, so it is rolled back with program memory
 * and statically initialised mutexes need no registration. glibc's initialisers fill only the kind, which is
 * at the same place here.
 *
 * State of a mutex: free (owner 0), or held by slot owner - 1, depth times. waiters = threads whose pending
 * operation is to lock it: they are enabled exactly while it is free.
 *
 * Releasing is local (op.def) unless the program also tries mutexes: then a trylock could come before or
 * after it with different results, and it is a visible operation. That the program calls trylock at all is
 * read off its undefined symbols before the first execution, so every execution agrees on it. */
#include "runtime.h"
#include "pthread_objects.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(struct mz_mutex) <= sizeof(pthread_mutex_t), "a mutex must fit");
_Static_assert(offsetof(struct mz_mutex, kind) == 16, "glibc's place of the kind of a mutex");

static inline uint64_t bit(int slot) { return (uint64_t)1 << slot; }
static struct mz_mutex *of(pthread_mutex_t *m) { return (struct mz_mutex *)(void *)m; }
static int kind_of(const struct mz_mutex *m) { return m->kind & 3; }

enum mz_access mz_mutex_trylock_access(uint64_t key)
{
    return ((struct mz_mutex *)key)->owner ? MZ_READS : MZ_WRITES;
}

/* Post "lock m" for a thread: the running one, or a waiter that was just woken. */
void mz_mutex_post(struct mz_mutex *m, int slot, const void *pc)
{
    struct mz_pending *p = &rt.view.pending[slot];
    *p = (struct mz_pending){
        .key = (uintptr_t)m, .choices = 1, .op = MZ_OP_LOCK, .access = MZ_WRITES, .pc = (uintptr_t)pc};
    rt.run.threads[slot].state = MZ_THREAD_LOCKING;
    rt.run.threads[slot].wait_object = (uintptr_t)m;
    m->waiters |= bit(slot);
    if (m->owner)
        rt.view.enabled &= ~bit(slot);
    else
        rt.view.enabled |= bit(slot);
}

/* It is this thread's turn, and the mutex is free: the posted lock happens. */
void mz_mutex_take(struct mz_mutex *m)
{
    m->waiters &= ~bit(rt.self);
    m->owner = rt.self + 1u;
    m->depth = 1;
    rt.view.enabled &= ~m->waiters;
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    mz_commit(MZ_WRITES, 0);
    mz_sync_acquire();
}

void mz_mutex_give(struct mz_mutex *m, const void *pc, const void *frame)
{
    uint32_t object;
    if (rt.trylock_used) {
        mz_visible(MZ_OP_UNLOCK, (uintptr_t)m, 0, MZ_WRITES, 0, pc);
        mz_commit(MZ_WRITES, 0);
        object = rt.path->events[rt.path->depth - 1].object;
        MZ_RECORD(MZ_OP_UNLOCK, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    } else {
        rt.run.local_operations++;
        object = mz_explore_release(rt.x, rt.self, (uintptr_t)m);
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)m, 0, 0, 0, 0, 0, frame);
    }
    mz_sync_release(object);
    m->owner = 0;
    rt.view.enabled |= m->waiters;
}

MZ_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (!rt.active) return 0;
    if (m->owner == rt.self + 1u) {
        if (kind_of(m) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
        if (kind_of(m) == PTHREAD_MUTEX_RECURSIVE) {
            m->depth++;
            MZ_RECORD(MZ_OP_ACQUIRE, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
            return 0;
        }
    }
    rt.hooks++;
    mz_mutex_post(m, rt.self, MZ_PC());
    mz_dispatch();
    mz_mutex_take(m);
    MZ_RECORD(MZ_OP_LOCK, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (!rt.active) return 0;
    if (!rt.trylock_used)
        mz_unsupported("pthread_mutex_trylock from a library loaded at run time", "link with the library");
    if (m->owner == rt.self + 1u && kind_of(m) == PTHREAD_MUTEX_RECURSIVE) {
        m->depth++;
        MZ_RECORD(MZ_OP_ACQUIRE, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
        return 0;
    }
    mz_visible(MZ_OP_TRYLOCK, (uintptr_t)m, 0, MZ_WRITES, 0, MZ_PC());
    if (m->owner) {
        mz_commit(MZ_READS, 0);
        MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)m, 0, MZ_RECORD_FAILED, 0, 0, 0, MZ_FRAME());
        return EBUSY;
    }
    mz_mutex_take(m);
    MZ_RECORD(MZ_OP_TRYLOCK, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (!rt.active) return 0;
    if (m->owner != rt.self + 1u) {
        if (kind_of(m) == PTHREAD_MUTEX_ERRORCHECK || kind_of(m) == PTHREAD_MUTEX_RECURSIVE) return EPERM;
        mz_finding_here(MZ_KIND_API_MISUSE,
                        m->owner ? "unlock of a mutex that another thread holds"
                                 : "unlock of a mutex that is not locked",
                        0, (uintptr_t)m);
    }
    if (m->depth > 1) {
        m->depth--;
        MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)m, 0, 0, 0, 0, 0, MZ_FRAME());
        return 0;
    }
    mz_mutex_give(m, MZ_PC(), MZ_FRAME());
    return 0;
}

MZ_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    struct mz_mutex *m = of(mutex);
    int kind = PTHREAD_MUTEX_NORMAL;
    if (attr) pthread_mutexattr_gettype(attr, &kind);
    *m = (struct mz_mutex){.kind = kind};
    return 0;
}

MZ_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    struct mz_mutex *m = of(mutex);
    if (rt.active && m->owner)
        mz_finding_here(MZ_KIND_API_MISUSE, "a mutex is destroyed while it is locked", 0, (uintptr_t)m);
    return 0;
}
