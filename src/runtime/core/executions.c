/* The life of an execution, and the loop over all executions: the explorer.
 *
 * One execution: run_reset puts program memory back. main's fiber starts and runs to its first visible
 * operation. From then on every visible operation goes through mz_visible and mz_commit (operation.h). When
 * the engine has no next step, the running fiber switches to the explorer. The explorer classifies the end
 * and asks the engine for another execution. Called by start.c. */
#include "runtime/core/room.h"
#include "runtime/core/runtime.h"
#include "runtime/core/thread_states.h"
#include "runtime/hooks/hooks.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/races.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

/* Put back the state that the kernel holds, and the exit handlers. */
static void os_reset(void)
{
    mz_maps_reset();
    mz_files_reset();
    mz_kernel_state_reset();
    mz_signal_calls_reset();
    mz_exit_reset();
}

static void run_reset(void)
{
    rt.execution++;
    mz_visible_begin();
    os_reset();
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
    rt.view.enabled = rt.view.waiting = 0;
    rt.view.pending[0].op = MZ_OP_NONE;
    rt.run.threads[0].state = MZ_THREAD_RUNNABLE;
    rt.channel->live_length = 0;
}

/* The program is over: its exit status and its leaks do not change any more. */
static void classify_exit(void)
{
    if (rt.run.exit_code & 0xff) mz_finding_exit_code();
    if (rt.run.exit_frame) mz_leaks_check();
}

/* What the end of an execution means. */
static void classify_end(void)
{
    enum mz_ending ending = mz_explore_ending(rt.x);
    if (rt.stop || rt.run.failed) return;
    if ((ending == MZ_ENDING_VISITED || rt.once) && mz_program_over()) {
        /* The other threads may repeat states for ever, so perhaps no execution is maximal. */
        classify_exit();
        rt.channel->counters.kept++;
        return;
    }
    /* For tests: classify an end state that was visited before again, but do not count it. */
    bool again = ending == MZ_ENDING_VISITED && rt.channel->options.check_states && !rt.view.enabled;
    if (ending != MZ_ENDING_MAXIMAL && !again) return;
    if (mz_program_over()) {
        if (!again && rt.view.alive & ~mz_slot_bit(rt.run.exit_thread)) rt.channel->counters.unjoined++;
        classify_exit();
    } else if (mz_spin_any()) {
        /* The next execution knows better where to stop the loops. A replay is one execution: it checks all
         * loops now. */
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
    uint64_t unjoined = to->unjoined, kept = to->kept, bounded = to->bounded, uncreated = to->uncreated;
    uint64_t local = to->local_operations + rt.run.local_operations;
    uint64_t threads = rt.run.thread_count > to->threads ? rt.run.thread_count : to->threads;
    *to = *from;
    to->executions += to->revisited; /* stateful algorithms count every run as an execution */
    to->unjoined = unjoined;
    to->kept = kept;
    to->bounded = bounded;
    to->uncreated = uncreated;
    to->local_operations = local;
    to->threads = threads;
    to->hooks = rt.hooks + mz_spin_reads_counted();
    to->engine_bytes = mz_explore_memory(rt.x);
    if (mz_explore_sample(rt.x)) rt.channel->sample = *mz_explore_sample(rt.x);
}

/* The executions that --max-executions counts: walks of a sample, or complete executions. */
static uint64_t executions_so_far(void)
{
    if (rt.shared) return mz_worker_executions();
    if (mz_explore_sample(rt.x)) return mz_explore_sample(rt.x)->walks;
    return rt.channel->counters.executions;
}

static enum mz_end limit_reached(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (rt.stop) return MZ_END_FINDING;
    if (mz_unlikely(mz_audit_failed())) return MZ_END_UNSEEN;
    if (mz_unlikely(rt.shared) && mz_explore_is_over(rt.x)) return MZ_END_COMPLETE;
    if (o->stop) return MZ_END_TIME;
    if (o->max_executions && executions_so_far() >= o->max_executions) return MZ_END_EXECUTIONS;
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

/* Go back to the node where the new branch begins, and continue from there. */
static void run_from_node(void)
{
    uint32_t node = rt.path->back;
    mz_undo_to(node);
    if (mz_unlikely(!(rt.view.enabled & mz_slot_bit(rt.path->steps[node].thread)))) {
        mz_run_from_start(); /* the program is not deterministic: the repeated run reports it */
        return;
    }
    rt.section = 0;
    mz_sync_reset();
    rt.channel->live_length = node;
    mz_explore_resume(rt.x, node);
    struct mz_step step = mz_explore_next(rt.x);
    if (mz_unlikely(rt.checking)) mz_thread_states_chosen(step);
    if (step.thread == MZ_NOBODY) return;
    rt.choice = step.choice;
    rt.source = step.source;
    mz_undo_step(step.thread);
    mz_fiber_enter(step.thread);
}

/* Is there another execution? A stateful search starts over when it learns of something that it must add to
 * the identity of states. */
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
    if (!rt.path->live && mz_undo_reaches(rt.path->back))
        run_from_node();
    else
        mz_run_from_start();
    mz_os_ended();
    classify_end();
    mz_rounds_ended(rt.path->depth);
    mz_reorder_look();
    /* A finding that ends the search cuts the execution short. The reduction must not learn from such an
     * execution. */
    rt.channel->analysing = 1;
    bool stopped = rt.stop, more = !stopped && next_execution();
    rt.channel->analysing = 0;
    if (stopped) mz_explore_abandon(rt.x);
    publish_counters();
    mz_backtrack_measured();
    return more && !rt.once;
}

static void publish_survey(void)
{
    struct mz_survey_board *b = &rt.channel->survey;
    __atomic_store_n(&b->version, b->version + 1, __ATOMIC_SEQ_CST);
    b->sums = mz_explore_tours(rt.x);
    __atomic_store_n(&b->version, b->version + 1, __ATOMIC_SEQ_CST);
}

/* Estimate how much of the search is done. */
static void estimate(void)
{
    if (rt.channel->options.survey) {
        publish_survey();
        return;
    }
    mz_explore_estimate(rt.x);
    rt.channel->counters.work_done = mz_explore_counters(rt.x)->work_done;
    rt.channel->counters.expected = mz_explore_counters(rt.x)->expected;
}

/* Estimate about ten times a second, for the progress display. es.step, the number of executions between two
 * estimates, follows from how long the executions take. */
#define ESTIMATE_TICKS 300000000u /* about a tenth of a second */

#define es mz_core_room.estimate

static void estimate_sometimes(void)
{
    if (mz_likely((int32_t)(rt.runs - es.next) < 0)) return;
    estimate();
    uint64_t now = mz_ticks();
    if (!es.step) es.step = 1;
    if (now - es.before < ESTIMATE_TICKS / 2 && es.step < 1u << 20) es.step *= 2;
    if (now - es.before > ESTIMATE_TICKS * 2 && es.step > 1) es.step /= 2;
    es.before = now;
    es.next = rt.runs + es.step;
}

/* Explore the whole search, or one task of a worker. Return why it ended. */
static enum mz_end explore(void)
{
    enum mz_end end = MZ_END_RUNNING;
    bool more = true;
    while (end == MZ_END_RUNNING && more) {
        more = one_execution();
        if (more) estimate_sometimes();
        end = limit_reached();
    }
    if (more) estimate(); /* for the report: how far the search got */
    if (end == MZ_END_RUNNING || (!more && end != MZ_END_FINDING && end != MZ_END_UNSEEN)) {
        enum mz_ending ending = mz_explore_ending(rt.x);
        end = ending == MZ_ENDING_STEP_LIMIT ? MZ_END_STEPS
              : ending == MZ_ENDING_MEMORY   ? MZ_END_MEMORY
              : ending == MZ_ENDING_DIVERGED ? MZ_END_DIVERGED
                                             : MZ_END_COMPLETE;
    }
    bool by_others = more; /* another worker has completed the search, and this one has gone back to a node */
    if (end == MZ_END_COMPLETE && !by_others && !mz_again_last()) end = MZ_END_FINDING;
    return end;
}

/* The explorer: run all executions, or all tasks of a worker, and store in the channel why the search
 * ended. */
void mz_explore_program(void)
{
    enum mz_end end = MZ_END_COMPLETE;
    if (!rt.shared) end = explore();
    while (rt.shared && end == MZ_END_COMPLETE && mz_worker_task())
        if ((end = explore()) == MZ_END_COMPLETE) {
            mz_explore_task_done(rt.x);
            end = mz_worker_enough();
        }
    bool in_order = end == MZ_END_TIME || end == MZ_END_EXECUTIONS || end == MZ_END_FINDING;
    if (rt.shared && in_order) mz_explore_leave(rt.x);
    if ((end == MZ_END_COMPLETE || end == MZ_END_FINDING) && rt.undo) mz_audit_start();
    if (end == MZ_END_COMPLETE && !rt.once) mz_own_check(); /* a single run is not a search */
    if (end == MZ_END_COMPLETE && mz_audit_failed()) end = MZ_END_UNSEEN;
    /* A worker sees only its part of the search: for workers, the command looks at the counters. */
    if (end == MZ_END_COMPLETE && rt.channel->counters.bounded && !rt.shared) end = MZ_END_ROUNDS;
    if (end == MZ_END_COMPLETE && rt.channel->counters.uncreated && !rt.shared) end = MZ_END_THREADS;
    memcpy(rt.channel->hot_spots, mz_explore_hot_spots(rt.x), sizeof rt.channel->hot_spots);
    rt.channel->end = end;
}
