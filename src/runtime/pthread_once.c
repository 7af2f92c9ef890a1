/* pthread_once, call_once: the first caller runs the function, the others wait for its end. Callers that come
 * later only look, and commute.
 *
 * State, in the program's own pthread_once_t: 0 new, 1 running, 2 done. If the thread that runs the function
 * is cancelled or exits in it, the next caller runs it again, as POSIX says. */
#define _GNU_SOURCE
#include "runtime.h"
#include "pthread_objects.h"

#include <errno.h>
#include <pthread.h>

enum { NEW = 0, RUNNING = 1, DONE = 2 };

struct mz_once_call { /* under way, on the stack of its thread */
    uint32_t *state;
    struct mz_once_call *outer;
};

static void end(uint32_t *state, uint32_t with, const void *frame)
{
    rt.run.local_operations++;
    uint32_t object = mz_explore_release(rt.x, rt.self, (uintptr_t)state);
    MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)state, 0, 0, 0, 0, 0, frame);
    mz_sync_release(object);
    *state = with;
    mz_enable(mz_pending_on((uintptr_t)state, MZ_OP_ONCE), true);
}

void mz_once(uint32_t *state, void (*function)(void), const void *pc, const void *frame)
{
    if (!rt.active) {
        if (*state == DONE) return;
        *state = DONE;
        function();
        return;
    }
    if (*state > DONE) mz_misuse("pthread_once with a control variable that was never initialised", state);
    rt.hooks++;
    mz_post(rt.self, MZ_OP_ONCE, (uintptr_t)state, *state == NEW ? MZ_WRITES : MZ_READS, *state != RUNNING,
            pc);
    mz_dispatch();
    uint32_t before = *state;
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    if (before == NEW) {
        *state = RUNNING;
        mz_changed();
        mz_enable(mz_pending_on((uintptr_t)state, MZ_OP_ONCE) & ~((uint64_t)1 << rt.self), false);
    }
    mz_commit_use(before == NEW ? MZ_WRITES : MZ_READS, before);
    mz_sync_acquire();
    MZ_RECORD(MZ_OP_ONCE, (uintptr_t)state, 0, before == NEW ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    if (before != NEW) return;
    struct mz_thread *t = &rt.run.threads[rt.self];
    struct mz_once_call call = {state, t->once};
    t->once = &call;
    function();
    t->once = call.outer;
    end(state, DONE, frame);
}

/* The running thread ends in the middle of such functions; those called before `until`, an address on its
 * stack, go on: a cleanup handler runs there. NULL: none does. */
void mz_once_abandoned(const void *until)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    for (; t->once && (!until || (const void *)t->once < until); t->once = t->once->outer)
        end(t->once->state, NEW, MZ_FRAME());
}

/* The thread that runs the function; -1: none. */
int mz_once_runner(uint64_t key)
{
    for (uint32_t slot = 0; slot < rt.slots_known; slot++)
        for (const struct mz_once_call *c = rt.run.threads[slot].once; c; c = c->outer)
            if ((uintptr_t)c->state == key) return (int)slot;
    return -1;
}

enum mz_access mz_once_access(uint64_t key) { return *(const uint32_t *)key == DONE ? MZ_READS : MZ_WRITES; }

MZ_EXPORT int pthread_once(pthread_once_t *control, void (*function)(void))
{
    mz_once((uint32_t *)(void *)control, function, MZ_PC(), MZ_FRAME());
    return 0;
}
