/* pthread_once, call_once: the first caller runs the function; callers that come meanwhile wait for its end.
 * Calls after that only read the state, and commute.
 *
 * The state lies in the program's own pthread_once_t: 0 new, 1 running, 2 done. The function may not reach
 * its end, because its thread is cancelled, exits, or throws an exception. Then the next caller runs the
 * function again. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <pthread.h>
#include <unwind.h>

enum { NEW = 0, RUNNING = 1, DONE = 2 };

struct mz_once_call { /* a call that has not ended, on the stack of its thread */
    uint32_t *state;
    struct mz_once_call *outer;
};

/* Waits until no thread runs the function. Returns true if the caller has to run it. `what` is the message if
 * the state is invalid. */
bool mz_once_begin(uint32_t *state, const char *what, const void *pc, const void *frame)
{
    if (!rt.active) {
        bool first = *state == NEW;
        if (first) *state = RUNNING;
        return first;
    }
    if (*state > DONE) mz_misuse(what, state);
    rt.hooks++;
    mz_before(pc);
    mz_post(MZ_OP_ONCE, (uintptr_t)state, *state == NEW ? MZ_WRITES : MZ_READS, *state != RUNNING, pc);
    mz_dispatch();
    uint32_t before = *state;
    rt.run.threads[rt.self].state = MZ_THREAD_RUNNABLE;
    if (before == NEW) {
        mz_keep_program(state, sizeof *state);
        *state = RUNNING;
        mz_changed();
        mz_enable(mz_pending_on((uintptr_t)state, MZ_OP_ONCE) & ~((uint64_t)1 << rt.self), false);
    }
    mz_commit_use(before == NEW ? MZ_WRITES : MZ_READS, before);
    mz_sync_acquire();
    MZ_RECORD(MZ_OP_ONCE, (uintptr_t)state, 0, before == NEW ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    return before == NEW;
}

void mz_once_end(uint32_t *state, bool done, const void *frame)
{
    uint32_t with = done ? DONE : NEW;
    if (!rt.active) {
        *state = with;
        return;
    }
    rt.run.local_operations++;
    uint32_t object = mz_explore_release(rt.x, rt.self, (uintptr_t)state);
    MZ_RECORD(MZ_OP_RELEASE, (uintptr_t)state, 0, 0, 0, 0, 0, frame);
    mz_sync_release(object);
    mz_keep_program(state, sizeof *state);
    *state = with;
    mz_enable(mz_pending_on((uintptr_t)state, MZ_OP_ONCE), true);
}

/* The innermost function that the running thread executes under a `once` does not reach its end. */
static void abandon(void)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!t->once) return;
    mz_once_end(t->once->state, false, MZ_FRAME());
    t->once = t->once->outer;
}

/* Calls the function. If an exception leaves the function, the unwinder finds this frame and calls its
 * personality function. */
void mz_once_run(void (*function)(void));
__asm__(".text\n\t"
        ".p2align 4\n\t"
        ".type mz_once_run, @function\n"
        "mz_once_run:\n\t"
        ".cfi_startproc\n\t"
        ".cfi_personality 0x9b, mz_once_personality_pointer\n\t" /* relative, through a pointer */
        "pushq %rbp\n\t"
        ".cfi_def_cfa_offset 16\n\t"
        ".cfi_offset %rbp, -16\n\t"
        "movq %rsp, %rbp\n\t"
        ".cfi_def_cfa_register %rbp\n\t"
        "callq *%rdi\n\t"
        "popq %rbp\n\t"
        ".cfi_def_cfa %rsp, 8\n\t"
        "retq\n\t"
        ".cfi_endproc\n\t"
        ".size mz_once_run, .-mz_once_run\n\t"
        ".section .data.rel.ro.local, \"aw\"\n\t"
        ".p2align 3\n"
        "mz_once_personality_pointer:\n\t"
        ".quad mz_once_personality\n\t"
        ".text");

_Unwind_Reason_Code mz_once_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                        struct _Unwind_Exception *object, struct _Unwind_Context *context);
__attribute__((used)) _Unwind_Reason_Code mz_once_personality(int version, _Unwind_Action actions,
                                                              _Unwind_Exception_Class class,
                                                              struct _Unwind_Exception *object,
                                                              struct _Unwind_Context *context)
{
    (void)version, (void)class, (void)object, (void)context;
    if (actions & _UA_CLEANUP_PHASE) abandon();
    return _URC_CONTINUE_UNWIND;
}

void mz_once(uint32_t *state, void (*function)(void), const void *pc, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!mz_once_begin(state, "pthread_once with a control variable that was never initialised", pc, frame))
        return;
    struct mz_once_call call = {state, t->once};
    t->once = &call;
    mz_once_run(function);
    t->once = call.outer;
    mz_once_end(state, true, frame);
}

/* The running thread ends while it executes such functions: they do not reach their end. Functions that were
 * called before `until`, an address on the thread's stack, continue: a cleanup handler runs there. NULL: no
 * function continues. */
void mz_once_abandoned(const void *until)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    for (; t->once && (!until || (const void *)t->once < until); t->once = t->once->outer)
        mz_once_end(t->once->state, false, MZ_FRAME());
}

/* Returns the thread that runs the function, or -1. */
int mz_once_runner(uint64_t key, int slot, uint8_t op)
{
    (void)slot, (void)op;
    for (uint32_t runner = 0; runner < rt.slots_known; runner++)
        for (const struct mz_once_call *c = rt.run.threads[runner].once; c; c = c->outer)
            if ((uintptr_t)c->state == key) return (int)runner;
    return -1;
}

enum mz_access mz_once_access(const struct mz_pending *p)
{
    return *(const uint32_t *)p->key == DONE ? MZ_READS : MZ_WRITES;
}

MZ_EXPORT int pthread_once(pthread_once_t *control, void (*function)(void))
{
    uint32_t *state = (uint32_t *)(void *)control;
    if (mz_unlikely(mz_cxx_is_unwinder(MZ_PC()))) {
        if (*state != DONE) function();
        *state = DONE;
        return 0;
    }
    mz_once(state, function, MZ_PC(), MZ_FRAME());
    return 0;
}
