/* pthread_create, _join, _detach, _exit. pthread_self and pthread_equal are libc's own: every fiber has the
 * thread pointer of a parked thread (fiber.c). None of these is a scheduling point: see schedule.c. */
#include "runtime.h"

#include <errno.h>
#include <pthread.h>

/* Threads are mostly joined in the order they were created: look there first. */
static int slot_of(pthread_t thread)
{
    static uint32_t guess;
    for (uint32_t i = 0; i < rt.slots_known; i++) {
        uint32_t s = (guess + i) % rt.slots_known;
        if (rt.slots[s].fs != (uint64_t)thread || rt.run.threads[s].state == MZ_THREAD_ABSENT) continue;
        guess = s + 1;
        return (int)s;
    }
    return -1;
}

MZ_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                             void *argument)
{
    if (!rt.active) mz_unsupported("pthread_create before main", "start threads from main");
    int parent = rt.self, child = mz_spawn(start, argument);
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attr) pthread_attr_getdetachstate(attr, &detached);
    rt.run.threads[child].detached = detached == PTHREAD_CREATE_DETACHED;
    rt.hooks++;
    *thread = (pthread_t)rt.slots[child].fs;
    MZ_RECORD(MZ_OP_SPAWN, 0, 0, 0, 0, 0, child, MZ_FRAME());
    /* The new thread runs to its first visible operation, then it is our turn again. */
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)parent;
    mz_fiber_go(child);
    return 0;
}

MZ_EXPORT int pthread_join(pthread_t thread, void **result)
{
    int slot = rt.active ? slot_of(thread) : -1;
    if (slot < 0) return ESRCH;
    if (slot == rt.self) return EDEADLK;
    struct mz_thread *t = &rt.run.threads[slot];
    if (t->joined)
        mz_finding_here(MZ_KIND_API_MISUSE, "pthread_join of a thread that was already joined", 0, 0);
    if (t->detached) mz_finding_here(MZ_KIND_API_MISUSE, "pthread_join of a detached thread", 0, 0);
    rt.view.pending[rt.self].pc = (uintptr_t)MZ_PC();
    mz_join(slot);
    MZ_RECORD(MZ_OP_JOIN, 0, 0, 0, 0, 0, slot, MZ_FRAME());
    if (result) *result = t->result;
    return 0;
}

MZ_EXPORT int pthread_detach(pthread_t thread)
{
    int slot = rt.active ? slot_of(thread) : -1;
    if (slot < 0) return ESRCH;
    if (rt.run.threads[slot].detached) return EINVAL;
    rt.run.threads[slot].detached = 1;
    return 0;
}

MZ_EXPORT _Noreturn void pthread_exit(void *result)
{
    if (!rt.active) mz_unsupported("pthread_exit before main", "return instead");
    mz_finish(result);
}
