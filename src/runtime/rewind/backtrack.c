/* Decides how to reach the next branch: go back (undo.c), or run again from the start. For executions.c.
 *
 * Going back pays if executions have much in common. This file measures it: it runs some executions each way,
 * then many executions the faster way, and then measures again. From time to time an execution runs from the
 * start in any case, to notice a program that is not deterministic (again.c).
 *
 * If the search knows waiting loops, every execution is logged. A compiler may leave slots of a frame unset;
 * they then contain what our hooks left on the stack. With the log the hooks leave other values than without,
 * and a thread would stop in its loop after another number of rounds (spin.c). */
#include "runtime/loops/loops.h"
#include "runtime/rewind/rewind.h"
#include "runtime/rewind/room.h"
#include "runtime/state/hash.h"

#define FIRST  4u    /* executions that always run from the start */
#define SAMPLE 48u   /* executions to measure each way */
#define TERM   8192u /* executions that then run the faster way */

enum phase { AT_FIRST, TRY_BACK, TRY_AGAIN, DECIDED };

#define plan mz_rewind_room.plan

void mz_backtrack_init(void) { plan.left = FIRST; }

static enum mz_undo reversible(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    bool rerun = o->backtrack == MZ_BACKTRACK_RERUN || o->safe == MZ_SAFE_RERUN || rt.unfiltered;
    if ((rerun && !rt.stateful) || o->heap_reuse) return MZ_UNDO_OFF;
    if (rt.once && !o->goes_round) return MZ_UNDO_OFF;
    return o->backtrack == MZ_BACKTRACK_CHECKPOINT || rt.writes_unknown ? MZ_UNDO_PAGES : MZ_UNDO_WRITES;
}

/* Once in a longer search, find out whether a stateful algorithm would pay: hash the states of some
 * executions. Not if the search knows waiting loops, because hashing clears memory below the stack pointer,
 * and the place where a loop stops must not depend on that. */
#define LOOK_FROM 2000u
#define LOOK_TO   2200u

static void look_at_states(void)
{
    bool from = rt.runs == LOOK_FROM, to = rt.runs == LOOK_TO || mz_spin_clean_size();
    if (from) rt.hashing = reversible() != MZ_UNDO_OFF && !to;
    if (!rt.hashing) return;
    if (from || to) mz_undo_forget(); /* run from the start */
    rt.undo = (uint8_t)reversible();
    if (!to) return;
    rt.hashing = false;
    if (rt.runs == LOOK_TO) mz_state_advise();
}

/* Do all executions go back, without measuring? */
static bool always_back(void)
{
    return rt.channel->options.backtrack != MZ_BACKTRACK_AUTO || rt.stateful || mz_spin_clean_size();
}

/* Before an execution: decide whether it goes back or runs from the start, and what the undo log keeps
 * (rt.undo). */
void mz_backtrack_plan(void)
{
    bool back = plan.phase == TRY_BACK || (plan.phase == DECIDED && plan.better);
    plan.start = mz_ticks();
    if (always_back() || rt.once) back = true;
    bool again = rt.runs <= FIRST || mz_again_turn();
    /* While states are hashed, an audited execution must use the same kind of log as all others. */
    bool alike = !rt.hashing || reversible() == MZ_UNDO_WRITES;
    bool audit = alike && mz_audit_plan(!rt.writes_unknown);
    if (rt.undo && (again || audit)) mz_audit_start();
    if (!rt.undo || again || audit || plan.audited) mz_undo_forget();
    rt.undo = (uint8_t)(audit ? MZ_UNDO_WRITES : back ? reversible() : MZ_UNDO_OFF);
    plan.audited = audit && reversible() != MZ_UNDO_WRITES; /* its log must not be used */
    bool always = rt.channel->options.state_capture == MZ_CAPTURE_ALWAYS;
    bool samples = rt.channel->options.strategy != MZ_STRATEGY_EXHAUSTIVE;
    if (!rt.stateful && !always && !samples && rt.runs >= LOOK_FROM && rt.runs <= LOOK_TO) look_at_states();
}

static void next_phase(void)
{
    uint64_t mean = (plan.ticks - plan.most) / (SAMPLE - 1);
    switch (plan.phase) {
    case TRY_BACK:
        plan.back = mean;
        plan.phase = TRY_AGAIN;
        plan.left = SAMPLE;
        break;
    case TRY_AGAIN:
        plan.better = plan.back < mean;
        plan.phase = DECIDED;
        plan.left = TERM;
        break;
    default:
        plan.phase = reversible() ? TRY_BACK : DECIDED;
        plan.left = SAMPLE + 1; /* the first execution has no log to go back with */
    }
    plan.ticks = plan.most = 0;
}

/* After an execution: add its time to the measurement. */
void mz_backtrack_measured(void)
{
    uint64_t t = mz_ticks() - plan.start;
    if (always_back()) return;
    if (plan.left-- > SAMPLE && plan.phase == TRY_BACK) return;
    plan.ticks += t;
    if (t > plan.most) plan.most = t;
    if (!plan.left) next_phase();
}
