/* The life of program threads: creating, joining, ending them, and exit.
 *
 * These are local operations: they happen within a step. program.h and op.def say why the search need not
 * explore their order. A new thread runs at once to its first visible operation; meanwhile its creator waits
 * in rt.run.interrupted. A thread that ends switches to the thread that joins it. Called by `sync`, and by
 * exit.c. */
#include "runtime/core/operation.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

static inline struct mz_thread *self(void) { return &rt.run.threads[rt.self]; }

static uint8_t new_slot(int parent, unsigned n)
{
    int slot = rt.shared ? mz_worker_slot(parent, n) : rt.slots_named < MZ_SLOTS ? (int)rt.slots_named : 0;
    if (!slot) rt.up.too_many_threads();
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

/* For a replay: give threads the slots that they have in the schedule. The search may have met the threads in
 * another order. */
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
    if (n >= MZ_SLOTS) rt.up.too_many_threads();
    if (!rt.child_slot[parent][n]) name_slot(new_slot(parent, n), parent, n);
    uint8_t slot = rt.child_slot[parent][n];
    if (mz_unlikely(slot >= rt.slots_known)) {
        mz_snapshot_threads(rt.slots_known, slot + 1u);
        mz_fiber_open(rt.slots_known, slot + 1u);
        rt.slots_known = slot + 1u;
    }
    return slot;
}

/* Create a thread and prepare its fiber. Return its slot. The caller lets it run. */
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
    rt.up.signals_spawn(parent, child);
    mz_fiber_prepare(child);
    return child;
}

/* The function that every fiber runs. It has its own section, by which frames.c finds it: the stack above its
 * frame never changes. */
__attribute__((section("mz_fiber_text"))) void mz_fiber_main(void)
{
    struct mz_thread *t = self();
    if (rt.self == 0) mz_exit_program(rt.main(rt.argc, rt.argv, rt.envp), true);
    mz_finish(t->start(t->argument));
}

/* Wait for the end of another thread. Return false if a cancellation ended the wait: then the thread has not
 * been joined. */
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
        mz_undo_joined(slot); /* again: this is a later step */
        self()->state = MZ_THREAD_RUNNABLE;
        self()->joining = 0;
        if (self()->kicked) return false;
    }
    rt.run.local_operations++;
    mz_explore_join(rt.x, rt.self, slot);
    mz_sync_join(rt.self, slot);
    return true;
}

/* The last thread that ends does what exit does. It happens after everything that the other threads did. */
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
    rt.up.signal_end();
    if (rt.view.alive == mz_slot_bit(rt.self) && mz_exit_matters()) end_of_last_thread();
    if (rt.uses.tryjoin) {
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
        rt.view.pending[rt.self].op = MZ_OP_NONE;
        mz_fiber_go(joiner);
        MZ_BUG("a finished thread was run");
    }
    mz_halt(MZ_THREAD_FINISHED);
}

/* A handler calls exit or _exit again: the new status counts. exit runs the handlers that are left. */
static _Noreturn void exit_again(int code, bool handlers)
{
    mz_before(MZ_PC());
    mz_keep_state(&rt.run.exit_code, sizeof rt.run.exit_code);
    rt.run.exit_code = code;
    if (handlers) mz_run_atexit();
    mz_halt(MZ_THREAD_EXITING);
}

bool mz_program_over(void)
{
    return rt.run.exited && rt.run.threads[rt.run.exit_thread].state == MZ_THREAD_EXITING;
}

/* exit() or return from main. Only the first call takes effect. The other threads run on to their ends; the
 * steps that they do after the exit could also have happened before it. A handler may wait for another thread:
 * until the handlers have returned, the program is not over, and a deadlock is a finding as before the exit. */
_Noreturn void mz_exit_program(int code, bool handlers)
{
    if (rt.trial) mz_fiber_leave();
    rt.section = 0;
    if (rt.run.exited && rt.run.exit_thread == rt.self) exit_again(code, handlers);
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
