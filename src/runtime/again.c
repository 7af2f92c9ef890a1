/* Is the program deterministic?
 *
 * A search that goes back (undo.c) runs each step once, so it cannot notice a program that does something else each
 * time: rdtsc, rdrand, memory that another process changes. This file has some executions run from the start though
 * they need not. Such an execution follows its path again up to the new branch. Two things are compared:
 *
 *   operations  Each step must meet the operation that it met before (mz_commit_replayed).
 *   node        Stateful algorithms: the node of the new branch must have the same threads, enabled ones, pending
 *               operations and memory as before (mz_stateful_same). So a difference counts that has not yet led to
 *               another operation. The whole identity is not compared: it contains what the search has learnt
 *               meanwhile (race_places.c), and stacks, where uninitialised variables may differ.
 *               Memory is compared only where the hooks are trusted (MZ_UNDO_WRITES): see mz_state_memory_of.
 *
 * When a stateful search is complete, its last execution is run again from the start to its end, so even a search of
 * one execution is checked before it says `verified`. What differs is a finding: nondeterminism.
 *
 * Invariants
 *  N1  Which executions run again depends on their number only, not on time: the same search makes the same checks.
 *  N2  The share of them falls: one in 2, 8, 64, 1024. Beyond the first 4096 executions, which take some milliseconds
 *      more, one in 1024 is run from the start.
 *  N3  A run from the start is an execution like others: states and findings do not depend on it. Only the last one
 *      (mz_again_last) belongs to no search: it is not counted, and its end is not looked at.
 *  N4  With options.safe == MZ_SAFE_RERUN every execution runs from the start.
 *  N5  Not with options.check_states: engine/state_check.c leaves the path of the search to look around. */
#include "again.h"
#include "audit.h"
#include "runtime.h"

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
