/* Checks that the program is deterministic. For backtrack.c, executions.c and schedule.c.
 *
 * A search that goes back (undo.c) runs each step once. So it cannot notice a program that does something
 * else each time: rdtsc, rdrand, memory that another process changes. This file makes some executions run
 * from the start although they could go back. Such an execution repeats its path up to the new branch. Two
 * things are compared:
 *
 *   operations  Each step must perform the same operation as before (mz_commit_replayed).
 *   node        Stateful algorithms: the node of the new branch must have the same threads, enabled threads,
 *               pending operations and memory as before (mz_stateful_same). This finds a difference before it
 *               leads to another operation. The whole identity is not compared: it contains what the search
 *               has learnt meanwhile (race_places.c), and stacks, where uninitialised variables may differ.
 *               Memory is compared only where the hooks are trusted (MZ_UNDO_WRITES): see mz_state_memory_of.
 *
 * When a stateful search is complete, its last execution runs again from the start to its end. So even a
 * search of one execution is checked before the verdict `verified`. A difference is a finding:
 * nondeterminism.
 *
 * Invariants
 *  N1  Only the number of an execution decides whether it runs from the start, not time. So the same search
 *      makes the same checks.
 *  N2  The share of these executions falls: one in 2, 8, 64, and after the first 4096 executions one in 1024.
 *      The larger shares of the first executions cost some milliseconds.
 *  N3  A run from the start is an execution like others: states and findings do not depend on it. Only the
 *      run of mz_again_last does not belong to the search: it is not counted, and its end is not classified.
 *  N4  With options.safe == MZ_SAFE_RERUN every execution runs from the start.
 *  N5  With options.check_states, this file chooses no execution: engine/stateful/state_check.c leaves the
 *      path of the search. */
#include "runtime/core/runtime.h"
#include "runtime/rewind/rewind.h"

#define SHARE 1024u

static const struct {
    uint32_t up_to, one_in;
} shares[] = {{32, 2}, {512, 8}, {4096, 64}};

bool mz_again_turn(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (o->backtrack == MZ_BACKTRACK_RERUN || o->safe == MZ_SAFE_RERUN) return true;
    if (o->check_states) return false; /* N5 */
    if (rt.runs % SHARE == 0) return true;
    for (unsigned i = 0; rt.stateful && i < sizeof shares / sizeof *shares; i++)
        if (rt.runs <= shares[i].up_to) return rt.runs % shares[i].one_in == 0;
    return false;
}

bool mz_again_last(void)
{
    enum mz_ending ending = mz_explore_ending(rt.x);
    bool known = ending == MZ_ENDING_MAXIMAL || ending == MZ_ENDING_VISITED;
    bool checks = rt.stateful && !rt.channel->options.check_states;
    if (!checks || rt.once || rt.channel->finding_count || !known) return true;
    if (rt.undo) mz_audit_start();
    mz_undo_forget();
    mz_explore_again_last(rt.x);
    mz_run_from_start();
    mz_os_ended();
    if (!rt.stop) mz_explore_again_done(rt.x, ending);
    return !rt.stop;
}

_Noreturn void mz_again_diverged(void)
{
    bool all_steps = rt.stateful && rt.path->depth >= rt.path->replay;
    mz_finding_diverged(rt.self, all_steps ? NULL : &rt.path->events[rt.path->depth]);
}
