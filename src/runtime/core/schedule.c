/* Decides which thread runs next.
 *
 * The running thread posts a visible operation and calls mz_dispatch. mz_dispatch takes the next step from
 * the repeated path, or asks the engine for it, and switches to the fiber of its thread. When it is the
 * thread's turn, the thread performs its operation and calls mz_commit (operation.h), which calls
 * mz_commit_live if the operation is new. Callers: every file that performs visible operations. */
#include "runtime/core/operation.h"
#include "runtime/core/thread_states.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

static inline struct mz_thread *self(void) { return &rt.run.threads[rt.self]; }

/* A replay ends with its schedule if the program is over: other threads may go on for ever. */
static bool replay_is_over(void)
{
    return rt.path->depth >= rt.channel->options.schedule_length && mz_program_over();
}

static struct mz_step next_step(void)
{
    if (mz_likely(rt.path->depth < rt.path->replay)) {
        struct mz_step step = rt.path->steps[rt.path->depth];
        if (mz_unlikely(!(rt.view.enabled & mz_slot_bit(step.thread)))) mz_diverged(step.thread);
        return step;
    }
    if (mz_unlikely(rt.once) && replay_is_over()) return (struct mz_step){.thread = MZ_NOBODY};
    struct mz_step step = mz_explore_next(rt.x);
    if (mz_unlikely(rt.checking)) mz_thread_states_chosen(step);
    return step;
}

/* The engine has no next step: switch to the explorer. Returns only if spin.c lets the thread run one more
 * round, or if the undo log goes back to this point. */
static void end_of_execution(void)
{
    if (mz_explore_ending(rt.x) == MZ_ENDING_STEP_LIMIT && !rt.up.step_limit()) {
        rt.channel->end_thread = rt.self;
        mz_record_place(&rt.channel->end_place, MZ_FRAME());
    }
    if (mz_explore_ending(rt.x) == MZ_ENDING_DIVERGED && !rt.once) rt.up.path_diverged();
    if (mz_explore_ending(rt.x) == MZ_ENDING_DIVERGED)
        mz_text_copy(rt.channel->end_text, sizeof rt.channel->end_text,
                     "the schedule does not fit this program: a thread is not ready for its next step");
    if (rt.recording) mz_record_leave();
    mz_fiber_pause();
}

/* The rest of mz_dispatch while the undo log is on. The function has its own section, from which state.c
 * knows that a thread has stopped here. */
__attribute__((noinline, section("mz_dispatch_text"))) static void dispatch_reversibly(void)
{
    struct mz_step step = {.thread = rt.self};
    bool resumed = false; /* the thread continues within the step in which it was interrupted */
    if (rt.run.interrupted_count) {
        step.thread = rt.run.interrupted[--rt.run.interrupted_count];
        resumed = true;
    } else {
        mz_undo_node();
        step = next_step();
        rt.choice = step.choice;
        rt.source = step.source;
        if (step.thread != MZ_NOBODY) mz_undo_step(step.thread);
    }
    if (step.thread == MZ_NOBODY)
        end_of_execution(); /* the next execution may begin here */
    else if (step.thread != rt.self)
        mz_fiber_go(step.thread);
    else if (!resumed)
        mz_fiber_mark();
    self()->simple = 0; /* also keeps the call above from becoming a tail call */
}

/* The running thread gives way: let the next thread run. Returns when the engine chooses this thread
 * again. */
void mz_dispatch(void)
{
    int to;
    if (mz_unlikely(rt.section)) mz_section_check(MZ_OP_NONE);
    if (mz_unlikely(rt.awaits)) rt.up.await_look();
    if (mz_unlikely(rt.trial)) { /* go on alone while no other thread is enabled */
        if (rt.view.enabled == mz_slot_bit(rt.self)) return;
        mz_fiber_leave();
    }
    if (mz_unlikely(rt.undo)) {
        dispatch_reversibly();
        return;
    }
    if (mz_unlikely(rt.run.interrupted_count)) {
        to = rt.run.interrupted[--rt.run.interrupted_count];
    } else {
        struct mz_step step = next_step();
        if (mz_unlikely(step.thread == MZ_NOBODY)) {
            end_of_execution();
            return;
        }
        rt.choice = step.choice;
        rt.source = step.source;
        to = step.thread;
    }
    if (to == rt.self) return;
    if (mz_unlikely(rt.recording)) mz_record_leave();
    mz_fiber_go(to);
}

/* The posted operation happens now, and it is new: tell the engine. */
void mz_commit_live(enum mz_access access, uint64_t old, uint64_t new)
{
    if (mz_unlikely(rt.trial || rt.section)) return;
    if (mz_unlikely(rt.checking)) mz_thread_states_check();
    mz_sync_event();
    rt.live[rt.path->depth] = rt.path->steps[rt.path->depth];
    mz_explore_commit(rt.x, access, old, new);
    rt.channel->live_length = rt.path->depth;
    rt.up.event_happened();
}

/* A repeated step performs another operation than before: the program is not deterministic. */
_Noreturn void mz_diverged(int thread)
{
    const struct mz_event *e = &rt.path->events[rt.path->depth];
    mz_finding_diverged(thread, e);
}

/* The running thread does not run again in this execution. */
_Noreturn void mz_halt(enum mz_thread_state state)
{
    if (rt.trial) mz_fiber_leave();
    rt.section = 0;
    self()->state = (uint8_t)state;
    rt.view.enabled &= ~mz_slot_bit(rt.self);
    rt.view.pending[rt.self].op = MZ_OP_NONE;
    if (state == MZ_THREAD_FINISHED) rt.view.alive &= ~mz_slot_bit(rt.self);
    if (rt.stop) mz_fiber_leave();
    mz_dispatch();
    MZ_BUG("a thread that had halted was run");
}
