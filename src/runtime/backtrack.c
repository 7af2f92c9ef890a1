/* Which way to the next branch is shorter: back (undo.c), or again from the start?
 *
 * Going back pays if executions have much in common. That is measured: some executions one way, some the
 * other, then many the better way, and again. Now and then one is run from the start all the same, so that
 * a program that is not deterministic is noticed (again.c). */
#include "again.h"
#include "audit.h"
#include "state.h"

#define FIRST  4u    /* always run from the start */
#define SAMPLE 48u   /* measured each way */
#define TERM   8192u /* then done the better way */

enum phase { AT_FIRST, TRY_BACK, TRY_AGAIN, DECIDED };

static struct {
    enum phase phase;
    uint32_t left; /* executions of this phase */
    uint64_t start;
    uint64_t ticks, most; /* of this phase: all, and the longest one, which is left out */
    uint64_t back;        /* ticks of an execution by going back */
    bool better;
    bool audited; /* the execution before was audited, and its log does not tell of all writes */
} plan = {.left = FIRST};

static enum mz_undo reversible(void)
{
    const struct mz_options_block *o = &rt.channel->options;
    bool rerun = o->backtrack == MZ_BACKTRACK_RERUN || o->safe == MZ_SAFE_RERUN || rt.unfiltered;
    if ((rerun && !rt.stateful) || o->heap_reuse) return MZ_UNDO_OFF;
    if (rt.once && !o->goes_round) return MZ_UNDO_OFF;
    return o->backtrack == MZ_BACKTRACK_CHECKPOINT || rt.writes_unknown ? MZ_UNDO_PAGES : MZ_UNDO_WRITES;
}

/* Once in a longer search: would it pay not to explore states twice? Not if loops that wait are known: where
 * they are left must not depend on what is cleared for the sake of states. */
#define LOOK_FROM 2000u
#define LOOK_TO   2200u

static void look_at_states(void)
{
    bool from = rt.runs == LOOK_FROM, to = rt.runs == LOOK_TO || mz_spin_clean_size();
    if (from) rt.hashing = reversible() != MZ_UNDO_OFF && !to;
    if (!rt.hashing) return;
    if (from || to) mz_undo_forget(); /* from the start */
    rt.undo = (uint8_t)reversible();
    if (!to) return;
    rt.hashing = false;
    if (rt.runs == LOOK_TO) mz_state_advise();
}

/* Before an execution: is it to be logged, and what of it? */
void mz_backtrack_plan(void)
{
    bool back = plan.phase == TRY_BACK || (plan.phase == DECIDED && plan.better);
    plan.start = mz_ticks();
    if (rt.channel->options.backtrack != MZ_BACKTRACK_AUTO || rt.stateful || rt.once) back = true;
    bool again = rt.runs <= FIRST || mz_again_turn();
    /* Where states are told apart, not in another way than all other executions. */
    bool alike = !rt.hashing || reversible() == MZ_UNDO_WRITES;
    bool audit = alike && mz_audit_plan(!rt.writes_unknown);
    if (rt.undo && (again || audit)) mz_audit_start();
    if (!rt.undo || again || audit || plan.audited) mz_undo_forget();
    rt.undo = (uint8_t)(audit ? MZ_UNDO_WRITES : back ? reversible() : MZ_UNDO_OFF);
    plan.audited = audit && reversible() != MZ_UNDO_WRITES; /* its log is not to be used */
    bool always = rt.channel->options.state_capture == MZ_CAPTURE_ALWAYS;
    if (!rt.stateful && !always && rt.runs >= LOOK_FROM && rt.runs <= LOOK_TO) look_at_states();
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
        plan.left = SAMPLE + 1; /* the first one has no log to go back by */
    }
    plan.ticks = plan.most = 0;
}

/* After it. */
void mz_backtrack_measured(void)
{
    uint64_t t = mz_ticks() - plan.start;
    if (rt.channel->options.backtrack != MZ_BACKTRACK_AUTO || rt.stateful) return;
    if (plan.left-- > SAMPLE && plan.phase == TRY_BACK) return;
    plan.ticks += t;
    if (t > plan.most) plan.most = t;
    if (!plan.left) next_phase();
}
