/* Threads: create, join, detach, attributes, names. pthread_self and pthread_equal are libc's own functions:
 * every fiber has the thread pointer of a parked thread (fiber.c). None of these operations is a scheduling
 * point (threads.c), except those that ask whether a thread has ended (pthread_tryjoin_np and the timed
 * joins). In programs that ask, the end of a thread is a scheduling point, too. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>

/* Returns the slot of a thread, or -1. Programs mostly join threads in the order of their creation: look
 * there first. */
int mz_thread_slot(uint64_t thread)
{
    for (uint32_t i = 0; i < rt.slots_known; i++) {
        uint32_t s = (mz_sync_room.thread.guess + i) % rt.slots_known;
        if (rt.slots[s].fs != thread || rt.run.threads[s].state == MZ_THREAD_ABSENT) continue;
        mz_sync_room.thread.guess = s + 1;
        return (int)s;
    }
    return -1;
}

/* A thread can be joined or detached only once: a second join or detach is misuse, in whichever order they
 * come. */
static void use_up(const struct mz_thread *t, bool join)
{
    if (t->joined)
        mz_misuse(join ? "pthread_join of a thread that was already joined"
                       : "pthread_detach of a thread that was already joined",
                  NULL);
    if (t->detached)
        mz_misuse(join ? "pthread_join of a detached thread"
                       : "pthread_detach of a thread that was already detached",
                  NULL);
}

/* The library writes to a variable of the program. */
static void written(void *variable, size_t size, const void *pc, const void *frame)
{
    if (!mz_lent_is_private(variable, size))
        mz_access_range(variable, size, true, (void *)(uintptr_t)pc, frame);
}

int mz_thread_create(uint64_t *thread, const void *attributes, void *(*start)(void *), void *argument,
                     const void *pc, const void *frame)
{
    const pthread_attr_t *attr = attributes;
    if (!rt.active) mz_unsupported("pthread_create before main", "start threads from main");
    int parent = rt.self, child = mz_spawn(start, argument);
    int detached = PTHREAD_CREATE_JOINABLE;
    size_t stack = 0;
    if (attr) pthread_attr_getdetachstate(attr, &detached);
    if (attr) pthread_attr_getstacksize(attr, &stack);
    mz_fiber_stack(child, stack);
    rt.run.threads[child].detached = detached == PTHREAD_CREATE_DETACHED;
    rt.hooks++;
    /* The new thread may read the variable only if it synchronizes with the parent first. */
    written(thread, sizeof *thread, pc, frame);
    *thread = rt.slots[child].fs;
    MZ_RECORD(MZ_OP_SPAWN, 0, 0, 0, 0, 0, child, frame);
    /* The new thread runs to its first visible operation; then the parent continues. */
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)parent;
    mz_fiber_go(child);
    return 0;
}

MZ_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                             void *argument)
{
    return mz_thread_create((uint64_t *)thread, attr, start, argument, MZ_PC(), MZ_FRAME());
}

/* No thread can get the result of this thread any more, so the result is not part of the state. */
static void result_taken(int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    if (!t->result) return;
    mz_undo_result(slot);
    t->result = NULL;
}

static void joined(int slot, void **result, const void *pc, const void *frame)
{
    void *value = rt.run.threads[slot].result;
    MZ_RECORD(MZ_OP_JOIN, 0, 0, 0, 0, 0, slot, frame);
    result_taken(slot);
    if (!result) return;
    written(result, sizeof *result, pc, frame);
    *result = value;
}

int mz_thread_join(uint64_t thread, void **result, const void *pc, const void *frame)
{
    int slot = rt.active ? mz_thread_slot(thread) : -1;
    if (slot < 0) return ESRCH;
    if (slot == rt.self) return EDEADLK;
    bool cancellable = rt.uses.cancel && !rt.run.threads[rt.self].cancel_off;
    if (cancellable) mz_cancel_publish(&rt.run.threads[slot], MZ_WAITS_THREAD, pc);
    mz_before(pc);
    use_up(&rt.run.threads[slot], true);
    rt.view.pending[rt.self].pc = (uintptr_t)pc;
    bool ended = mz_join(slot);
    if (cancellable) mz_cancel_withdraw(pc);
    if (!ended) mz_cancel_act();
    joined(slot, result, pc, frame);
    return 0;
}

/* The thread in `slot` has been cancelled. If it still waits for thread `joined` to end, it stops waiting,
 * and other threads may join `joined`. The end of `joined` may come before or after: both are operations on
 * the object `ended`. */
void mz_thread_kick(void *joined, int slot, const void *pc, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[slot], *other = joined;
    mz_visible(MZ_OP_CANCEL, (uintptr_t)&other->ended, 0, MZ_WRITES, 0, pc);
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CANCEL, 0, 0, 0, 0, 0, slot, frame);
    if (other->joiner != slot + 1 || other->ended) return;
    other->joiner = other->joined = 0;
    t->kicked = 1;
    t->changes++;
    mz_explore_wake(rt.x, rt.path->depth, slot);
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)slot; /* it continues within this step */
}

MZ_EXPORT int pthread_join(pthread_t thread, void **result)
{
    return mz_thread_join((uint64_t)thread, result, MZ_PC(), MZ_FRAME());
}

/* Joins the thread if it has ended. Returns `busy` if not. */
static int try_join(uint64_t thread, void **result, int busy, const void *pc, const void *frame)
{
    int slot = rt.active ? mz_thread_slot(thread) : -1;
    if (slot < 0) return ESRCH;
    if (slot == rt.self) return EDEADLK;
    struct mz_thread *t = &rt.run.threads[slot];
    if (!rt.uses.tryjoin)
        mz_unsupported("pthread_tryjoin_np from a library loaded at run time", "link with the library");
    mz_spin((uintptr_t)&t->ended, pc, frame);
    mz_visible(MZ_OP_TRYJOIN, (uintptr_t)&t->ended, 0, MZ_READS, 0, pc);
    mz_commit(MZ_READS, 0);
    MZ_RECORD(MZ_OP_TRYJOIN, 0, 0, t->ended ? 0 : MZ_RECORD_FAILED, 0, 0, slot, frame);
    if (!t->ended) return busy;
    use_up(t, true);
    mz_join(slot);
    joined(slot, result, pc, frame);
    return 0;
}

MZ_EXPORT int pthread_tryjoin_np(pthread_t thread, void **result)
{
    return try_join((uint64_t)thread, result, EBUSY, MZ_PC(), MZ_FRAME());
}

static int timed_join(uint64_t thread, void **result, const struct timespec *until, const void *pc,
                      const void *frame)
{
    if (!until) return mz_thread_join(thread, result, pc, frame);
    if (!mz_time_is_valid(until)) return EINVAL;
    mz_test_cancel(pc);
    int answer = try_join(thread, result, ETIMEDOUT, pc, frame);
    if (answer == ETIMEDOUT) mz_time_passes_to(until, pc);
    return answer;
}
MZ_EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    return timed_join((uint64_t)thread, result, until, MZ_PC(), MZ_FRAME());
}
MZ_EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                   const struct timespec *until)
{
    (void)clock;
    return timed_join((uint64_t)thread, result, until, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int pthread_detach(pthread_t thread)
{
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : -1;
    if (slot < 0) return ESRCH;
    struct mz_thread *t = &rt.run.threads[slot];
    use_up(t, false);
    mz_undo_thread(slot);
    t->detached = 1;
    if (t->state == MZ_THREAD_FINISHED) result_taken(slot);
    return 0;
}

/* ---- attributes of a running thread, names, scheduling: accepted ---- */

MZ_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : 0;
    if (slot < 0) return ESRCH;
    const struct mz_slot *s = &rt.slots[slot];
    MZ_WRITES_TO(attr);
    pthread_attr_init(attr);
    pthread_attr_setstack(attr, s->stack_low, (size_t)(s->stack_high - s->stack_low));
    if (rt.run.threads[slot].detached) pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
    return 0;
}

/* Names that pthread_setname_np or prctl gave. They are part of the state. No thread has one at the start of
 * an execution. */
#define th mz_sync_room.thread

void mz_names_reset(void)
{
    if (th.any_names) mz_raw_memset(th.names, 0, sizeof th.names);
    th.any_names = false;
}

void mz_name_give(int slot, const char *name)
{
    mz_keep_state(&th.names[slot], sizeof th.names[slot]);
    mz_raw_memset(&th.names[slot], 0, sizeof th.names[slot]);
    mz_text_copy(th.names[slot].text, sizeof th.names[slot].text, name);
    th.names[slot].given = th.any_names = true;
    mz_changed();
}

/* Returns the name of the thread, in a buffer of 16 bytes; NULL if it was given none. */
const char *mz_name_of(int slot) { return th.names[slot].given ? th.names[slot].text : NULL; }

MZ_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : 0;
    if (slot < 0) return ESRCH;
    if (mz_text_length(name) > 15) return ERANGE;
    mz_name_give(slot, name);
    return 0;
}

MZ_EXPORT int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : 0;
    if (slot < 0) return ESRCH;
    const char *own = mz_name_of(slot);
    if (!own) own = "thread";
    if (mz_text_length(own) >= size) return ERANGE;
    mz_access_by(name, mz_text_length(own) + 1, true, MZ_PC(), MZ_FRAME());
    mz_text_copy(name, size, own);
    return 0;
}

MZ_EXPORT int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    (void)thread, (void)policy, (void)param;
    return 0;
}
MZ_EXPORT int pthread_setschedprio(pthread_t thread, int priority)
{
    (void)thread, (void)priority;
    return 0;
}
MZ_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    (void)thread, (void)size, (void)set;
    return 0;
}
MZ_EXPORT int pthread_setconcurrency(int level)
{
    (void)level;
    return 0;
}
/* Fork is not supported, so these handlers never run. */
MZ_EXPORT int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
    return 0;
}
MZ_EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
    (void)prepare, (void)parent, (void)child, (void)dso;
    return 0;
}
