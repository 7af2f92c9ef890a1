/* Who runs next, the life of threads, and the life of an execution.
 *
 * One execution: mz_run_reset puts program memory back; main's fiber starts and runs to its first visible
 * operation; then every visible operation goes through mz_visible (post it, mz_dispatch) and mz_commit (it
 * happens). When the engine has no next step, the fiber that asked leaves for the explorer, which classifies
 * the end and asks the engine for another execution.
 *
 * Local operations (spawn, join, thread end) happen within a step; see program.h and op.def for why no order
 * of them needs exploring. A new thread runs at once to its first visible operation; its creator waits in
 * rt.run.interrupted. A thread that ends hands over to the one that joins it. */
#include "again.h"
#include "audit.h"
#include "own.h"
#include "races.h"
#include "rounds.h"
#include "pthread_objects.h"

#include <sched.h>
#include <unistd.h>

struct mz_runtime rt;

static inline struct mz_thread *self(void) { return &rt.run.threads[rt.self]; }

static struct mz_step next_step(void)
{
    if (mz_likely(rt.path->depth < rt.path->replay)) {
        struct mz_step step = rt.path->steps[rt.path->depth];
        if (mz_unlikely(!(rt.view.enabled & mz_slot_bit(step.thread)))) mz_diverged(step.thread);
        return step;
    }
    return mz_explore_next(rt.x);
}

/* Comes back only if the thread is tried once more (spin.c). */
static void end_of_execution(void)
{
    if (mz_explore_ending(rt.x) == MZ_ENDING_STEP_LIMIT && !mz_rounds_step_limit()) {
        rt.channel->end_thread = rt.self;
        mz_record_place(&rt.channel->end_place, MZ_FRAME());
    }
    if (mz_explore_ending(rt.x) == MZ_ENDING_DIVERGED && !rt.once) mz_again_diverged();
    if (mz_explore_ending(rt.x) == MZ_ENDING_DIVERGED)
        mz_text_copy(rt.channel->end_text, sizeof rt.channel->end_text,
                     "the schedule does not fit this program: a thread is not ready for its next step");
    if (rt.recording) mz_record_leave();
    mz_fiber_pause();
}

/* The same as the end of mz_dispatch, on a path that can be gone back on. A section of its own: state.c knows
 * by it where a thread has been stopped. */
__attribute__((noinline, section("mz_dispatch_text"))) static void dispatch_reversibly(void)
{
    struct mz_step step = {rt.self, 0};
    bool resumed = false; /* within the step that interrupted it */
    if (rt.run.interrupted_count) {
        step.thread = rt.run.interrupted[--rt.run.interrupted_count];
        resumed = true;
    } else {
        mz_undo_node();
        step = next_step();
        rt.choice = step.choice;
        if (step.thread != MZ_NOBODY) mz_undo_step(step.thread);
    }
    if (step.thread == MZ_NOBODY)
        end_of_execution(); /* the next one may begin here */
    else if (step.thread != rt.self)
        mz_fiber_go(step.thread);
    else if (!resumed)
        mz_fiber_mark();
    self()->simple = 0; /* also: a call, no jump */
}

/* The running thread cannot or must not go on by itself. Returns when it is to run again. */
void mz_dispatch(void)
{
    int to;
    if (mz_unlikely(rt.section)) mz_section_check(MZ_OP_NONE);
    if (mz_unlikely(rt.trial)) { /* it goes on alone, as long as nobody else could */
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
        to = step.thread;
    }
    if (to == rt.self) return;
    if (mz_unlikely(rt.recording)) mz_record_leave();
    mz_fiber_go(to);
}

void mz_commit_live(enum mz_access access, uint64_t old)
{
    if (mz_unlikely(rt.trial || rt.section)) return;
    mz_sync_event();
    rt.live[rt.path->depth] = rt.path->steps[rt.path->depth];
    mz_explore_commit(rt.x, access, old);
    rt.channel->live_length = rt.path->depth;
    mz_memory_check_event();
}

/* A replayed step met another operation than before: the program is not deterministic. */
_Noreturn void mz_diverged(int thread)
{
    const struct mz_event *e = &rt.path->events[rt.path->depth];
    mz_finding_diverged(thread, e);
}

/* The running thread does not go on in this execution. */
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

/* ---- threads ---- */

static uint8_t new_slot(int parent, unsigned n)
{
    int slot = rt.shared ? mz_worker_slot(parent, n) : rt.slots_named < MZ_SLOTS ? (int)rt.slots_named : 0;
    if (!slot) mz_unsupported("more than 64 threads in one program", "use fewer threads in the test");
    return (uint8_t)slot;
}

static void name_slot(uint8_t slot, int parent, unsigned n)
{
    struct mz_thread_info *info = &rt.channel->threads[slot];
    char *t = info->name, *end = t + sizeof info->name;
    rt.child_slot[parent][n] = slot;
    if (slot >= rt.slots_named) rt.slots_named = slot + 1u;
    info->used = 1;
    info->parent = (uint8_t)parent;
    info->spawn_index = (uint16_t)(n + 1);
    t = mz_text_add(t, end, rt.channel->threads[parent].name);
    t = mz_text_add(t, end, ".");
    mz_text_number(t, end, n + 1, 10);
}

/* Replaying: the slots that the schedule speaks of. The search may have met the threads in another order. */
void mz_slots_given(void)
{
    for (int s = 1; s < MZ_SLOTS; s++) {
        const struct mz_thread_info *t = &rt.channel->threads[s];
        if (t->used && t->parent < s && t->spawn_index - 1u < MZ_SLOTS)
            name_slot((uint8_t)s, t->parent, t->spawn_index - 1u);
    }
}

static int slot_for_child(int parent)
{
    unsigned n = rt.run.threads[parent].spawned++;
    if (n >= MZ_SLOTS) mz_unsupported("more than 64 threads in one program", "use fewer threads in the test");
    if (!rt.child_slot[parent][n]) name_slot(new_slot(parent, n), parent, n);
    uint8_t slot = rt.child_slot[parent][n];
    if (mz_unlikely(slot >= rt.slots_known)) {
        mz_snapshot_threads(rt.slots_known, slot + 1u);
        mz_fiber_open(rt.slots_known, slot + 1u);
        rt.slots_known = slot + 1u;
    }
    return slot;
}

int mz_spawn(void *(*start)(void *), void *argument)
{
    if (rt.trial) mz_fiber_leave();
    if (rt.section) mz_section_check(MZ_OP_SPAWN);
    int parent = rt.self, child = slot_for_child(parent);
    struct mz_thread *t = &rt.run.threads[child];
    mz_undo_thread(child);
    t->state = MZ_THREAD_RUNNABLE;
    t->start = start;
    t->argument = argument;
    t->epoch = 1;
    rt.channel->threads[child].start = (uintptr_t)start;
    rt.view.alive |= mz_slot_bit(child);
    rt.run.thread_count++;
    mz_changed();
    rt.run.local_operations++;
    mz_explore_spawn(rt.x, parent, child);
    mz_sync_spawn(parent, child);
    mz_signals_spawn(parent, child);
    mz_fiber_prepare(child);
    return child;
}

/* A section of its own: of the stack above it nothing ever changes (frames.c). */
__attribute__((section("mz_fiber_text"))) void mz_fiber_main(void)
{
    struct mz_thread *t = self();
    if (rt.self == 0) mz_exit_program(rt.main(rt.argc, rt.argv, rt.envp), true);
    mz_finish(t->start(t->argument));
}

/* Wait for the end of another thread. False if a cancellation came first: then it has not been joined. */
bool mz_join(int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    if (rt.trial) mz_fiber_leave();
    mz_changed();
    mz_undo_joined(slot);
    t->joined = 1;
    self()->kicked = 0;
    if (t->state != MZ_THREAD_FINISHED) {
        t->joiner = (uint8_t)(rt.self + 1);
        self()->state = MZ_THREAD_JOINING;
        self()->joining = (uint8_t)slot;
        self()->wait_object = 0;
        rt.view.enabled &= ~mz_slot_bit(rt.self);
        rt.view.pending[rt.self].op = MZ_OP_NONE;
        mz_dispatch();
        mz_undo_joined(slot); /* another step */
        self()->state = MZ_THREAD_RUNNABLE;
        self()->joining = 0;
        if (self()->kicked) return false;
    }
    rt.run.local_operations++;
    mz_explore_join(rt.x, rt.self, slot);
    mz_sync_join(rt.self, slot);
    return true;
}

/* The last thread to end does what exit does, after all that the others did. */
static _Noreturn void end_of_last_thread(void)
{
    for (int s = 0; s < (int)rt.slots_known; s++) {
        if (s == rt.self || rt.run.threads[s].state != MZ_THREAD_FINISHED) continue;
        mz_undo_joined(s);
        mz_explore_join(rt.x, rt.self, s);
        mz_sync_join(rt.self, s);
    }
    mz_exit_program(0, true);
}

_Noreturn void mz_finish(void *result)
{
    struct mz_thread *t = self();
    if (rt.trial) mz_fiber_leave();
    t->result = result;
    mz_thread_objects_end();
    mz_keys_end();
    mz_once_abandoned(NULL);
    mz_mutex_owner_ends();
    mz_signal_end();
    if (rt.view.alive == mz_slot_bit(rt.self) && mz_exit_matters()) end_of_last_thread();
    if (rt.tryjoin_used) {
        mz_visible(MZ_OP_FINISHED, (uintptr_t)&t->ended, 0, MZ_WRITES, 0, MZ_PC());
        t->ended = 1;
        mz_commit(MZ_WRITES, 0);
        MZ_RECORD(MZ_OP_FINISHED, 0, 0, 0, 0, 0, rt.self, MZ_FRAME());
    } else {
        MZ_RECORD(MZ_OP_FINISH, 0, 0, 0, 0, 0, rt.self, MZ_FRAME());
    }
    mz_memory_thread_ends();
    if (t->detached) t->result = NULL;
    if (t->joiner) {
        int joiner = t->joiner - 1;
        t->joiner = 0;
        t->state = MZ_THREAD_FINISHED;
        rt.view.alive &= ~mz_slot_bit(rt.self);
        rt.view.enabled &= ~mz_slot_bit(rt.self);
        mz_fiber_go(joiner);
        MZ_BUG("a finished thread was run");
    }
    mz_halt(MZ_THREAD_FINISHED);
}

/* exit(), return from main: the first one decides. The other threads run on to their ends; what they do then
 * they could have done before. */
_Noreturn void mz_exit_program(int code, bool handlers)
{
    if (rt.trial) mz_fiber_leave();
    rt.section = 0;
    mz_before(MZ_PC());
    rt.view.pending[rt.self] = (struct mz_pending){.key = (uintptr_t)&rt.run.exited,
                                                   .choices = 1,
                                                   .op = MZ_OP_EXIT,
                                                   .access = MZ_WRITES,
                                                   .pc = (uintptr_t)MZ_PC()};
    if (rt.run.exited)
        rt.view.enabled &= ~mz_slot_bit(rt.self);
    else
        rt.view.enabled |= mz_slot_bit(rt.self);
    mz_dispatch();
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_EXIT, 0, 0, MZ_RECORD_HAS_VALUE, (uint64_t)code, 0, 0, MZ_FRAME());
    rt.run.exited = true;
    rt.run.exit_code = code;
    rt.run.exit_thread = rt.self;
    rt.run.exit_frame = handlers ? MZ_FRAME() : NULL;
    if (code & 0xff) mz_record_place(&rt.run.exit_place, MZ_FRAME());
    for (uint64_t others = rt.view.enabled & ~mz_slot_bit(rt.self); others; others &= others - 1)
        if (rt.view.pending[__builtin_ctzll(others)].op == MZ_OP_EXIT) rt.view.enabled &= ~(others & -others);
    if (handlers) {
        mz_thread_objects_end();
        mz_run_atexit();
    }
    mz_halt(MZ_THREAD_EXITING);
}

/* ---- executions ---- */

static void run_reset(void)
{
    rt.execution++;
    mz_visible_begin();
    mz_os_reset();
    mz_snapshot_restore();
    mz_heap_reset();
    mz_keys_reset();
    mz_names_reset();
    mz_semaphores_reset();
    mz_strings_reset();
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        struct mz_thread *t = &rt.run.threads[s];
        char *heap = t->heap;
        mz_raw_memset(t, 0, offsetof(struct mz_thread, held));
        mz_raw_memset(t->knows, 0, rt.slots_known * sizeof *t->knows);
        t->epoch = 1;
        t->heap = heap;
    }
    mz_keys_begin();
    rt.run.interrupted_count = 0;
    rt.section = 0;
    rt.run.failed = 0;
    rt.run.exited = false;
    rt.run.exit_code = 0;
    rt.run.exit_thread = 0;
    rt.run.exit_frame = NULL;
    rt.run.clock_ns = 0;
    rt.run.local_operations = 0;
    rt.run.thread_count = 1;
    mz_sync_reset();
    mz_shadow_reset();
    mz_spin_reset();
    mz_rounds_reset();
    rt.view.alive = mz_slot_bit(0);
    rt.view.enabled = 0;
    rt.view.pending[0].op = MZ_OP_NONE;
    rt.run.threads[0].state = MZ_THREAD_RUNNABLE;
    rt.channel->live_length = 0;
}

/* What the end of an execution means. */
static void classify_end(void)
{
    enum mz_ending ending = mz_explore_ending(rt.x);
    /* For tests: an end that was there before is looked at again, but not counted. */
    bool again = ending == MZ_ENDING_VISITED && rt.channel->options.check_states && !rt.view.enabled;
    if (rt.stop || (ending != MZ_ENDING_MAXIMAL && !again) || rt.run.failed) return;
    if (rt.run.exited) {
        if (!again && rt.view.alive & ~mz_slot_bit(rt.run.exit_thread)) rt.channel->counters.unjoined++;
        if (rt.run.exit_code & 0xff) mz_finding_exit_code();
        if (rt.run.exit_frame) mz_leaks_check();
    } else if (mz_spin_any()) {
        /* It is better known next time where to stop. A replay has no next time, and looks everywhere. */
        if (mz_explore_restarts(rt.x) && !rt.once) return;
        if (mz_spin_settle())
            mz_finding_livelock();
        else
            mz_explore_cut(rt.x);
        return;
    } else if (rt.view.alive && mz_signal_left()) {
        mz_explore_cut(rt.x);
        return;
    } else if (rt.view.alive) {
        mz_finding_deadlock();
    } else {
        mz_leaks_check();
    }
    if (!again) rt.channel->counters.kept++;
}

static void publish_counters(void)
{
    struct mz_counters *from = mz_explore_counters(rt.x), *to = &rt.channel->counters;
    uint64_t unjoined = to->unjoined, kept = to->kept, bounded = to->bounded;
    uint64_t local = to->local_operations + rt.run.local_operations;
    uint64_t threads = rt.run.thread_count > to->threads ? rt.run.thread_count : to->threads;
    *to = *from;
    to->executions += to->revisited; /* those of stateful algorithms are all runs */
    to->unjoined = unjoined;
    to->kept = kept;
    to->bounded = bounded;
    to->local_operations = local;
    to->threads = threads;
    to->hooks = rt.hooks + mz_spin_reads_counted();
    to->engine_bytes = mz_explore_memory(rt.x);
}

static enum mz_end limit_reached(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    const struct mz_counters *c = &rt.channel->counters;
    if (rt.stop) return MZ_END_FINDING;
    if (mz_unlikely(mz_audit_failed())) return MZ_END_UNSEEN;
    if (o->stop) return MZ_END_TIME;
    if (o->max_executions && (rt.shared ? mz_worker_executions() : c->executions) >= o->max_executions)
        return MZ_END_EXECUTIONS;
    return MZ_END_RUNNING;
}

void mz_run_from_start(void)
{
    run_reset();
    mz_undo_begin();
    mz_explore_begin(rt.x);
    mz_fiber_prepare(0);
    mz_fiber_enter(0);
}

/* Go back to the node where the new branch begins, and on from there. */
static void run_from_node(void)
{
    mz_undo_to(rt.path->replay);
    if (mz_unlikely(!(rt.view.enabled & mz_slot_bit(rt.path->steps[rt.path->replay].thread)))) {
        mz_run_from_start(); /* the program is not deterministic: that is found and shown on the way there */
        return;
    }
    rt.section = 0;
    mz_sync_reset();
    rt.channel->live_length = rt.path->replay;
    mz_explore_resume(rt.x);
    struct mz_step step = mz_explore_next(rt.x);
    if (step.thread == MZ_NOBODY) return;
    rt.choice = step.choice;
    mz_undo_step(step.thread);
    mz_fiber_enter(step.thread);
}

/* Is there another one? A stateful search starts over when it has learnt what states must be told apart by. */
static bool next_execution(void)
{
    if (mz_unlikely(rt.stateful) && mz_places_restart(false)) mz_explore_restart(rt.x);
    if (mz_explore_end(rt.x)) return true;
    return rt.stateful && mz_places_restart(true) && mz_explore_again(rt.x);
}

static bool one_execution(void)
{
    rt.runs++;
    mz_backtrack_plan();
    if (!rt.path->live && mz_undo_reaches(rt.path->replay))
        run_from_node();
    else
        mz_run_from_start();
    mz_os_ended();
    classify_end();
    mz_reorder_look();
    /* A finding that ends the search leaves an execution cut short: there is nothing to learn from it. */
    rt.channel->analysing = 1;
    bool stopped = rt.stop, more = !stopped && next_execution();
    rt.channel->analysing = 0;
    if (stopped) mz_explore_abandon(rt.x);
    publish_counters();
    mz_backtrack_measured();
    return more && !rt.once;
}

/* The share that is done. */
static void estimate(void)
{
    mz_explore_estimate(rt.x);
    rt.channel->counters.share = mz_explore_counters(rt.x)->share;
    rt.channel->counters.expected = mz_explore_counters(rt.x)->expected;
}

/* Now and then it is estimated, for those who watch. How often that is, in executions,
 * follows from how long they take. */
#define ESTIMATE_TICKS 300000000u /* a tenth of a second, about */

static void estimate_sometimes(void)
{
    static uint64_t before;
    static uint32_t next, step = 1;
    if (mz_likely((int32_t)(rt.runs - next) < 0)) return;
    estimate();
    uint64_t now = mz_ticks();
    if (now - before < ESTIMATE_TICKS / 2 && step < 1u << 20) step *= 2;
    if (now - before > ESTIMATE_TICKS * 2 && step > 1) step /= 2;
    before = now;
    next = rt.runs + step;
}

/* All of it; or, for a worker, one task. */
static enum mz_end explore(void)
{
    enum mz_end end = MZ_END_RUNNING;
    bool more = true;
    while (end == MZ_END_RUNNING && more) {
        more = one_execution();
        if (more) estimate_sometimes();
        end = limit_reached();
    }
    if (more) estimate(); /* how far it got */
    if (end == MZ_END_RUNNING || (!more && end != MZ_END_FINDING && end != MZ_END_UNSEEN)) {
        enum mz_ending ending = mz_explore_ending(rt.x);
        end = ending == MZ_ENDING_STEP_LIMIT ? MZ_END_STEPS
              : ending == MZ_ENDING_MEMORY   ? MZ_END_MEMORY
              : ending == MZ_ENDING_DIVERGED ? MZ_END_DIVERGED
                                             : MZ_END_COMPLETE;
    }
    if (end == MZ_END_COMPLETE && !mz_again_last()) end = MZ_END_FINDING;
    return end;
}

/* The explorer. */
void mz_explore_program(void)
{
    enum mz_end end = MZ_END_COMPLETE;
    if (!rt.shared) end = explore();
    while (rt.shared && end == MZ_END_COMPLETE && mz_worker_task())
        if ((end = explore()) == MZ_END_COMPLETE) {
            mz_explore_task_done(rt.x);
            end = mz_worker_enough();
        }
    if ((end == MZ_END_COMPLETE || end == MZ_END_FINDING) && rt.undo) mz_audit_start();
    if (end == MZ_END_COMPLETE && !rt.once) mz_own_check(); /* one run is no search */
    if (end == MZ_END_COMPLETE && mz_audit_failed()) end = MZ_END_UNSEEN;
    /* That a worker of several has no task left says nothing yet: the command asks for the counters. */
    if (end == MZ_END_COMPLETE && rt.channel->counters.bounded && !rt.shared) end = MZ_END_ROUNDS;
    rt.channel->end = end;
}
