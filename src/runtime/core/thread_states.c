/* Asserts the states of all threads (thread.h has the diagram) at each new event. schedule.c calls it. The
 * tests turn it on with MAZURKA_CHECK_FORESEEN=1 (options.strict). When it is off, it costs one comparison
 * for each new event.
 *
 *   S1  A thread is alive in the engine's view if and only if it is neither ABSENT nor FINISHED.
 *   S2  A thread that is ABSENT, over, JOINING or SPINNING is not enabled.
 *   S3  A thread that is over (FINISHED, FAILED, EXITING) has no pending operation and is not enabled.
 *   S4  A JOINING thread has no pending operation. The thread that it joins has started, and has FINISHED or
 *       has this thread as its joiner.
 *   S5  A thread that waits for an object has wait_object set.
 *   S6  A thread whose bit is set in rt.view.waiting is WAITING or in a FUTEX wait, and its pending operation is
 *       RESUME. A thread that is WAITING or in a FUTEX wait has its bit set.
 *   S7  The running thread is not ABSENT, over, JOINING or SPINNING.
 *   S8  The engine has chosen a step for this event. The running thread is the thread of that step, and was
 *       enabled when the engine chose it. (At the event the operation may already have disabled itself: a
 *       sem_wait that takes the last unit.) S8 catches an operation that happens without mz_dispatch. */
#include "runtime/core/thread_states.h"
#include "runtime/core/room.h"
#include "runtime/core/runtime.h"

#define BIT(state) (1u << (state))
#define OVER       (BIT(MZ_THREAD_FINISHED) | BIT(MZ_THREAD_FAILED) | BIT(MZ_THREAD_EXITING))
#define OF_OBJECT                                                                                            \
    (BIT(MZ_THREAD_LOCKING) | BIT(MZ_THREAD_WAITING) | BIT(MZ_THREAD_SEMWAIT) | BIT(MZ_THREAD_FUTEX))
#define TO_BE_WOKEN (BIT(MZ_THREAD_WAITING) | BIT(MZ_THREAD_FUTEX))
#define NEVER_RUN   (OVER | BIT(MZ_THREAD_ABSENT) | BIT(MZ_THREAD_JOINING) | BIT(MZ_THREAD_SPINNING))

static void check(int slot)
{
    const struct mz_thread *t = &rt.run.threads[slot];
    bool alive = rt.view.alive >> slot & 1, enabled = rt.view.enabled >> slot & 1;
    bool pending = rt.view.pending[slot].op != MZ_OP_NONE;
    unsigned state = BIT(t->state);
    if (t->state > MZ_THREAD_EXITING) MZ_BUG("thread states: no such state");
    if (alive != !(state & (BIT(MZ_THREAD_ABSENT) | BIT(MZ_THREAD_FINISHED)))) MZ_BUG("thread states: S1");
    if (enabled && state & NEVER_RUN) MZ_BUG("thread states: S2");
    if (state & OVER && pending) MZ_BUG("thread states: S3");
    if (state & BIT(MZ_THREAD_JOINING)) {
        const struct mz_thread *other = &rt.run.threads[t->joining];
        bool there = other->state != MZ_THREAD_ABSENT;
        if (pending || !there || (other->joiner != slot + 1 && other->state != MZ_THREAD_FINISHED))
            MZ_BUG("thread states: S4");
    }
    if (state & OF_OBJECT && !t->wait_object) MZ_BUG("thread states: S5");
    bool waits = rt.view.waiting >> slot & 1;
    if (waits && rt.view.pending[slot].op != MZ_OP_RESUME) MZ_BUG("thread states: S6");
    if (waits != ((state & TO_BE_WOKEN) != 0) && slot != rt.self) MZ_BUG("thread states: S6");
    if (slot == rt.self && state & NEVER_RUN) MZ_BUG("thread states: S7");
}

#define chosen mz_core_room.chosen

void mz_thread_states_chosen(struct mz_step step)
{
    if (step.thread == MZ_NOBODY) return;
    if (!(rt.view.enabled >> step.thread & 1)) MZ_BUG("thread states: S8, the chosen thread is not enabled");
    chosen = rt.path->depth + 1;
}

void mz_thread_states_check(void)
{
    uint32_t k = rt.path->depth;
    if (chosen != k + 1 || rt.path->steps[k].thread != rt.self)
        MZ_BUG("thread states: S8, an operation happens that the engine has not chosen: is mz_dispatch "
               "missing?");
    for (uint32_t s = 0; s < rt.slots_known; s++) check((int)s);
}
