/* Cancellation, cleanup handlers, pthread_exit.
 *
 * Each thread has one object for its cancellation. pthread_cancel of that thread writes the object; the
 * thread's cancellation points only read it. Before a thread waits on a condition variable, on a semaphore,
 * or for the end of a thread, it publishes in its `waiting_where` what it waits for (mz_cancel_publish).
 * pthread_cancel then wakes the thread by an operation on that object. If the thread was cancelled before it
 * publishes, it sees that when it publishes. Only programs that import pthread_cancel have these operations.
 *
 * Calls that may block in the kernel are cancellation points, too. Under mazurka they do not wait for other
 * threads. So all that matters is whether the thread is already cancelled when it makes the call: the hook
 * tests for a cancellation and then calls libc. Functions of stdio are not cancellation points (POSIX lets us
 * choose).
 *
 * Cleanup handlers: in C, pthread_cleanup_push of glibc leaves a jump buffer in the caller's frame and
 * registers it here. The end of the thread jumps there; the handler runs and returns to
 * __pthread_unwind_next. The language's own runtime unwinds frames of C++, and of C with -fexceptions. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/sync/room.h"
#include "runtime/sync/sync.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <unwind.h>

static struct mz_thread *self(void) { return &rt.run.threads[rt.self]; }
static uint64_t key_of(int slot) { return (uintptr_t)&rt.run.threads[slot].cancel_pending; }

/* ---- the end of a thread ---- */

static _Noreturn void jump(void *cleanup)
{
    mz_once_abandoned(cleanup);
    longjmp((struct __jmp_buf_tag *)cleanup, 1); /* the buffer begins with the saved registers */
}

MZ_EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t *buffer);
void __pthread_register_cancel(__pthread_unwind_buf_t *buffer)
{
    mz_changed();
    buffer->__pad[0] = self()->cleanup;
    self()->cleanup = buffer;
}

MZ_EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer);
void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer)
{
    mz_changed();
    self()->cleanup = buffer->__pad[0];
}

typedef _Unwind_Reason_Code force_fn(struct _Unwind_Exception *, _Unwind_Stop_Fn, void *);

/* ca.force and ca.cfa are NULL in a program without the unwinder: such a program has nothing to unwind. */
#define ca mz_sync_room.cancel

/* Called before main: dlsym changes memory of the loader and of the thread that calls it. */
void mz_cancel_init(void)
{
    ca.force = dlsym(RTLD_DEFAULT, "_Unwind_ForcedUnwind");
    ca.cfa = (uintptr_t(*)(struct _Unwind_Context *))dlsym(RTLD_DEFAULT, "_Unwind_GetCFA");
}

/* The unwinder calls this for every frame. Stop unwinding at the end of the stack, or at the first frame
 * beyond the innermost cleanup handler of C. */
static _Unwind_Reason_Code unwound_to(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                      struct _Unwind_Exception *object, struct _Unwind_Context *context,
                                      void *unused)
{
    (void)version, (void)class, (void)object, (void)unused;
    void *cleanup = self()->cleanup;
    if (cleanup && ca.cfa && ca.cfa(context) > (uintptr_t)cleanup) jump(cleanup);
    if (actions & _UA_END_OF_STACK) mz_finish(self()->result);
    return _URC_NO_REASON;
}

static void unwind(void)
{
    if (!ca.force) return;
    ca.objects[rt.self] = (struct _Unwind_Exception){.exception_class = 0};
    ((force_fn *)ca.force)(&ca.objects[rt.self], unwound_to, NULL);
    /* The unwinder returns if it meets a frame that it does not know. Then there is nothing more to do. */
}

_Noreturn void mz_thread_exit(void *result)
{
    self()->result = result;
    self()->cancel_off = 1;
    unwind();
    if (self()->cleanup) jump(self()->cleanup);
    mz_finish(result);
}

MZ_EXPORT _Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buffer);
_Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buffer)
{
    self()->cleanup = buffer->__pad[0];
    mz_thread_exit(self()->result);
}

MZ_EXPORT _Noreturn void pthread_exit(void *result)
{
    if (!rt.active) mz_unsupported("pthread_exit before main", "return instead");
    mz_thread_exit(result);
}

/* ---- cancellation ---- */

_Noreturn void mz_cancel_act(void) { mz_thread_exit(PTHREAD_CANCELED); }

static void look(uint8_t op, enum mz_access access, const void *pc, const void *frame)
{
    if (access == MZ_READS) mz_spin(key_of(rt.self), pc, frame);
    mz_visible(op, key_of(rt.self), 0, (uint8_t)access, 0, pc);
    mz_commit(access, 0);
    MZ_RECORD(op, 0, 0, 0, 0, 0, 0, frame);
}

void mz_test_cancel(const void *pc)
{
    if (!rt.active || !rt.uses.cancel || self()->cancel_off) return;
    look(MZ_OP_TESTCANCEL, MZ_READS, pc, MZ_FRAME());
    if (self()->cancel_pending) mz_cancel_act();
}

static void kick(int slot, const void *pc, const void *frame)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    if (t->waiting_kind == MZ_WAITS_THREAD)
        mz_thread_kick(t->waiting_where, slot, pc, frame);
    else if (t->waiting_kind == MZ_WAITS_SEMAPHORE)
        mz_semaphore_kick(t->waiting_where, slot, pc, frame);
    else
        mz_cond_kick(t->waiting_where, slot, pc, frame);
}

static void publish_nothing(void)
{
    self()->waiting_where = NULL;
    self()->waiting_kind = 0;
}

/* Publish that the running thread waits on `object`: from now on, pthread_cancel of this thread wakes it
 * there. If the thread is already cancelled, it does not wait; mz_cancel_act ends it. One exception: if a
 * signal of the condition variable came first, the function returns, because the caller still has to release
 * the mutex. (MZ_WAITS_THREAD needs no kick: the thread begins to wait only later in the same step.) */
void mz_cancel_publish(void *object, enum mz_wait_kind kind, const void *pc)
{
    look(MZ_OP_TESTCANCEL, MZ_WRITES, pc, MZ_FRAME());
    self()->waiting_where = object;
    self()->waiting_kind = (uint8_t)kind;
    if (!self()->cancel_pending) return;
    if (kind != MZ_WAITS_THREAD) kick(rt.self, pc, MZ_FRAME());
    if (kind == MZ_WAITS_COND && !self()->kicked) return;
    publish_nothing();
    mz_cancel_act();
}

bool mz_cancel_withdraw(const void *pc)
{
    look(MZ_OP_TESTCANCEL, MZ_WRITES, pc, MZ_FRAME());
    publish_nothing();
    return self()->cancel_pending;
}

MZ_EXPORT int pthread_cancel(pthread_t thread)
{
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : -1;
    if (slot < 0) return ESRCH;
    if (!rt.uses.cancel)
        mz_unsupported("pthread_cancel from a library loaded at run time", "link with the library");
    struct mz_thread *t = &rt.run.threads[slot];
    mz_visible(MZ_OP_CANCEL, key_of(slot), 0, MZ_WRITES, 0, MZ_PC());
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CANCEL, 0, 0, 0, 0, 0, slot, MZ_FRAME());
    t->cancel_pending = 1;
    if (t->waiting_where) kick(slot, MZ_PC(), MZ_FRAME());
    return 0;
}

MZ_EXPORT void pthread_testcancel(void) { mz_test_cancel(MZ_PC()); }

MZ_EXPORT int pthread_setcancelstate(int state, int *old)
{
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
    if (old) MZ_WRITES_TO(old);
    if (old) *old = self()->cancel_off ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    self()->cancel_off = state == PTHREAD_CANCEL_DISABLE;
    mz_changed();
    return 0;
}

MZ_EXPORT int pthread_setcanceltype(int type, int *old)
{
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS && rt.active && rt.uses.cancel)
        mz_unsupported("PTHREAD_CANCEL_ASYNCHRONOUS", "use deferred cancellation with pthread_testcancel");
    if (old) MZ_WRITES_TO(old);
    if (old) *old = PTHREAD_CANCEL_DEFERRED;
    return 0;
}
