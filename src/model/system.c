/* A model as a system under test: it implements program.h for models, as the native runtime does for C
 * programs.
 *
 * A thread, at its operation `pc`:
 *
 *     ABSENT --spawn--> READY --end--> FINISHED          READY: its pending event is in view.pending
 *                       |  ^  \--assert--> FAILED
 *                  join |  | joined thread finished
 *                       v  |
 *                      JOINING
 *
 * Within one wait, a thread goes through phases. (The release is a step of its own only if the text uses the
 * mutex with trylock. Only a timed wait has the step TIMEOUT. A wait on a futex has neither RELEASING nor
 * RELOCKING.)
 *
 *     AT_START --WAIT--> RELEASING --UNLOCK--> SLEEPING --signal, TIMEOUT--> RELOCKING --LOCK--> next operation
 *                            \--UNLOCK, if signalled before it-----------------^
 *
 * A wrlock where writers come first: AT_START --RWCLAIM--> CLAIMED --WRLOCK--> next operation.
 *
 * Invariants
 *  S1  Between two steps every thread is ABSENT, FINISHED, FAILED, JOINING or has its next event published.
 *  S2  view.alive and view.enabled are exact between two steps, and so are the choices of a signal. The
 *      access of an operation that may fail dates from its publication: the engine asks through refresh().
 *  S3  The engine learns of an event (commit) before any of its effects on other threads.
 *  S4  A key means the same kind of object in every model, so an exploration can serve several models. */
#include <stdlib.h>
#include <string.h>
#include "model/state.h"

#define STATEFUL_STEPS (1u << 20) /* a path may be as long as the number of states */

static bool holds(const struct mz_model_runner *t, const struct mz_model_op *op)
{
    mz_model_value a = mz_model_value_of(t, &op->a), b = mz_model_value_of(t, &op->b);
    switch (op->relation) {
    case MZ_MODEL_EQ:
        return a == b;
    case MZ_MODEL_NE:
        return a != b;
    case MZ_MODEL_LT:
        return a < b;
    default:
        return a > b;
    }
}

/* Local code. */

static void spawn(struct mz_model_explorer *s, int parent, int child)
{
    if (parent != child) mz_explore_spawn(s->x, parent, child);
    s->threads[child].status = MZ_MODEL_READY;
    s->view.alive |= mz_model_bit(child);
    mz_model_run_local(s, child);
}

void mz_model_release(struct mz_model_explorer *s, int t, int mutex)
{
    s->owner[mutex] = MZ_MODEL_NOBODY;
    mz_explore_release(s->x, t, mz_model_key(MZ_MODEL_MUTEX, mutex));
}

static void end_once(struct mz_model_explorer *s, int t, int object)
{
    s->once[object] = MZ_ONCE_DONE;
    mz_explore_release(s->x, t, mz_model_key(MZ_MODEL_ONCES, object));
}

static void halt(struct mz_model_explorer *s, int t, enum mz_model_status status)
{
    s->threads[t].status = (uint8_t)status;
    mz_model_publish_none(s, t);
}

static void finish(struct mz_model_explorer *s, int t)
{
    halt(s, t, MZ_MODEL_FINISHED);
    s->view.alive &= ~mz_model_bit(t);
    for (int j = 0; j < s->m->thread_count; j++) {
        if (s->threads[j].status != MZ_MODEL_JOINING || mz_model_op_of(s, j)->object != t) continue;
        mz_explore_join(s->x, j, t);
        s->threads[j].status = MZ_MODEL_READY;
        s->threads[j].pc++;
        mz_model_run_local(s, j);
    }
}

bool mz_model_run_local_op(struct mz_model_explorer *s, int t)
{
    struct mz_model_runner *self = &s->threads[t];
    const struct mz_model_op *op = mz_model_op_of(s, t);
    switch (op->code) {
    case MZ_MODEL_SPAWN:
        self->pc++;
        spawn(s, t, op->object);
        return true;
    case MZ_MODEL_JOIN:
        if (s->threads[op->object].status != MZ_MODEL_FINISHED) return false;
        mz_explore_join(s->x, t, op->object);
        break;
    case MZ_MODEL_UNLOCK:
        if (s->owner[op->object] != t) break;
        if (s->tried >> op->object & 1) return false;
        mz_model_release(s, t, op->object);
        break;
    case MZ_MODEL_RWUNLOCK:
        if (s->rwlocks[op->object].writer == t || s->rwlocks[op->object].held[t]) return false;
        break;
    case MZ_MODEL_ONCE_END:
        if (s->once[op->object] == MZ_ONCE_RUNNING && s->once_runner[op->object] == t)
            end_once(s, t, op->object);
        break;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
        if (self->phase != MZ_AT_START || s->owner[op->mutex] == t) return false;
        break;
    case MZ_MODEL_SECTION_END:
        break;
    case MZ_MODEL_ASSERT:
        if (!holds(self, op)) return false;
        break;
    case MZ_MODEL_LET:
        mz_model_result(self, op,
                        op->relation == MZ_MODEL_PLUS
                            ? mz_model_value_of(self, &op->a) + mz_model_value_of(self, &op->b)
                            : mz_model_value_of(self, &op->a) - mz_model_value_of(self, &op->b));
        break;
    case MZ_MODEL_IF:
        self->pc = holds(self, op) ? op->target : (uint8_t)(self->pc + 1);
        return true;
    default:
        return false;
    }
    self->pc++;
    return true;
}

/* Runs local code up to the next event, the end of the thread, or a join that has to wait. */
void mz_model_run_local(struct mz_model_explorer *s, int t)
{
    struct mz_model_runner *self = &s->threads[t];
    while (self->pc < s->m->threads[t].length && mz_model_run_local_op(s, t)) {
    }
    if (self->pc == s->m->threads[t].length)
        finish(s, t);
    else if (mz_model_op_of(s, t)->code == MZ_MODEL_ASSERT)
        halt(s, t, MZ_MODEL_FAILED);
    else if (mz_model_op_of(s, t)->code == MZ_MODEL_JOIN)
        halt(s, t, MZ_MODEL_JOINING);
    else
        mz_model_publish(s, t);
}

/* Executions. */

static void reset(struct mz_model_explorer *s)
{
    memset(&s->view, 0, sizeof s->view);
    memset(s->threads, 0, sizeof s->threads);
    memset(s->owner, MZ_MODEL_NOBODY, sizeof s->owner);
    memset(s->waiters, 0, sizeof s->waiters);
    memset(s->rwlocks, 0, sizeof s->rwlocks);
    memset(s->once, MZ_ONCE_NEW, sizeof s->once);
    memset(s->queues, 0, sizeof s->queues);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
        s->vars[i] = s->m->initial[MZ_MODEL_VAR][i];
        s->sems[i] = s->m->initial[MZ_MODEL_SEM][i];
        s->rwlocks[i].writer = MZ_MODEL_NOBODY;
    }
    s->length = 0;
}

static bool is_legal(const struct mz_model_explorer *s, struct mz_step step)
{
    return step.thread < s->m->thread_count && (s->view.enabled & mz_model_bit(step.thread)) &&
           step.choice < 64 && (s->view.pending[step.thread].choices & mz_model_bit(step.choice));
}

/* Runs one execution, from the start until the engine chooses no thread. Returns false if the engine asks for
 * a step that is not enabled. */
static bool execute(struct mz_model_explorer *s)
{
    struct mz_step step;
    reset(s);
    mz_explore_begin(s->x);
    for (int t = 0; t < s->m->thread_count; t++)
        if (s->from_start >> t & 1) spawn(s, t, t);
    mz_model_update_view(s);
    while ((step = mz_explore_next(s->x)).thread != MZ_NOBODY) {
        if (!is_legal(s, step)) return false;
        s->steps[s->length++] = step;
        if (mz_model_perform(s, step.thread, step.choice)) s->threads[step.thread].pc++;
        mz_model_run_local(s, step.thread);
        mz_model_update_view(s);
    }
    return true;
}

/* Returns what a thread waits for at the end of an execution, by the object of its pending operation. */
static enum mz_model_status final_status(const struct mz_model_explorer *s, int t)
{
    static const uint8_t waits_for[MZ_OBJECT_COUNT] = {
        [MZ_OBJECT_MUTEX] = MZ_MODEL_LOCKING,      [MZ_OBJECT_SEMAPHORE] = MZ_MODEL_SEM_WAITING,
        [MZ_OBJECT_RWLOCK] = MZ_MODEL_RD_LOCKING,  [MZ_OBJECT_ONCE] = MZ_MODEL_ONCE_WAITING,
        [MZ_OBJECT_CONDITION] = MZ_MODEL_AWAITING, [MZ_OBJECT_CHANNEL] = MZ_MODEL_RECEIVING,
    };
    uint8_t op = s->view.pending[t].op;
    if (s->threads[t].status != MZ_MODEL_READY) return (enum mz_model_status)s->threads[t].status;
    if (s->view.waiting & mz_model_bit(t)) return MZ_MODEL_WAITING;
    if (!mz_op_in(MZ_OPS_BLOCK, op)) return MZ_MODEL_READY;
    if (mz_ops[op].needs == MZ_NEEDS_NO_HOLDER) return MZ_MODEL_WR_LOCKING;
    return (enum mz_model_status)waits_for[mz_ops[op].object];
}

static void outcome_of(const struct mz_model_explorer *s, struct mz_model_outcome *o)
{
    memset(o, 0, sizeof *o);
    memcpy(o->vars, s->vars, sizeof o->vars);
    for (int t = 0; t < s->m->thread_count; t++) {
        enum mz_model_status status = final_status(s, t);
        memcpy(o->regs[t], s->threads[t].regs, sizeof o->regs[t]);
        o->pc[t] = s->threads[t].pc;
        o->status[t] = (uint8_t)status;
        if (status == MZ_MODEL_FAILED) o->failed |= (uint8_t)mz_model_bit(t);
        if (status > MZ_MODEL_FAILED) o->blocked |= (uint8_t)mz_model_bit(t);
    }
}

static bool visit(const struct mz_model_explorer *s, const struct mz_model_run *run)
{
    struct mz_model_execution e = {.steps = s->steps, .length = s->length, .exploration = s->x};
    outcome_of(s, &e.outcome);
    e.revisits = mz_explore_ending(s->x) == MZ_ENDING_VISITED;
    e.asleep = mz_explore_ending(s->x) == MZ_ENDING_ASLEEP;
    return !run->visit || run->visit(run->arg, &e);
}

/* Counts an execution that has ended, and says whether the exploration may continue. */
static enum mz_model_verdict account(const struct mz_model_explorer *s, const struct mz_model_run *run,
                                     struct mz_model_report *report)
{
    switch (mz_explore_ending(s->x)) {
    case MZ_ENDING_MAXIMAL:
        if (s->view.enabled) return MZ_MODEL_WRONG_ENDING;
        report->complete++;
        if (!visit(s, run)) return MZ_MODEL_STOPPED;
        break;
    case MZ_ENDING_ASLEEP:
        if (!s->view.enabled) return MZ_MODEL_WRONG_ENDING;
        report->asleep++;
        if (mz_algorithm_is_stateful(s->options.algorithm) && !visit(s, run)) return MZ_MODEL_STOPPED;
        break;
    case MZ_ENDING_VISITED:
        report->revisiting++;
        if (!visit(s, run)) return MZ_MODEL_STOPPED;
        break;
    case MZ_ENDING_PEEKED:
        break;
    case MZ_ENDING_STEP_LIMIT:
        return MZ_MODEL_STEP_LIMIT;
    default:
        return MZ_MODEL_WRONG_ENDING;
    }
    bool too_many = run->max_runs && report->complete + report->asleep + report->revisiting > run->max_runs;
    return too_many ? MZ_MODEL_TOO_MANY : MZ_MODEL_EXPLORED;
}

/* The search starts over: the executions so far do not count. */
static enum mz_model_verdict start_over(const struct mz_model_explorer *s, const struct mz_model_run *run,
                                        struct mz_model_report *report)
{
    report->complete = report->asleep = report->revisiting = 0;
    if (run->start_over) run->start_over(run->arg, mz_explore_has_sections(s->x));
    return MZ_MODEL_EXPLORED;
}

static void read_text(struct mz_model_explorer *s)
{
    s->tried = s->awaited = 0;
    s->from_start = (uint8_t)(mz_model_bit(s->m->thread_count) - 1);
    for (int t = 0; t < s->m->thread_count; t++)
        for (int i = 0; i < s->m->threads[t].length; i++) {
            const struct mz_model_op *op = &s->m->threads[t].ops[i];
            if (op->code == MZ_MODEL_AWAIT) s->awaited |= (uint8_t)mz_model_awaited(op);
            if (op->code == MZ_MODEL_TRYLOCK) s->tried |= (uint8_t)mz_model_bit(op->object);
            if (op->code == MZ_MODEL_SPAWN) s->from_start &= (uint8_t)~mz_model_bit(op->object);
        }
}

static void endless(void *system, uint32_t depth, uint64_t threads, uint64_t writers)
{
    struct mz_model_explorer *s = system;
    (void)depth;
    if (s->run->endless) s->run->endless(s->run->arg, threads, writers);
}

static bool full(void *system)
{
    struct mz_model_explorer *s = system;
    return ++s->asked > s->run->asks;
}

struct mz_model_explorer *mz_model_explorer_new(const struct mz_model_settings *settings)
{
    struct mz_model_explorer *s = calloc(1, sizeof *s);
    if (!s) abort();
    bool stateful = mz_algorithm_is_stateful(settings->algorithm);
    s->options = (struct mz_explore_options){
        .algorithm = settings->algorithm,
        .strategy = settings->strategy,
        .strategy_depth = settings->strategy_depth,
        .bound = settings->bound,
        .sleep_sets = settings->sleep_sets,
        .max_steps = stateful ? STATEFUL_STEPS : MZ_MODEL_THREADS * MZ_MODEL_EVENTS,
        .refresh = mz_model_refresh,
        .holds = mz_model_holds,
        .state = mz_model_state,
        .state_bytes = settings->exact ? mz_model_state_bytes : NULL,
        .endless = endless,
        .order = settings->order,
        .order_seed = settings->order_seed,
        .share = settings->share,
        .persistent = settings->persistent,
        .marks = settings->marks,
        .eager = settings->eager,
        .survey = settings->survey,
        .tree_log = settings->tree_log,
        .full = settings->limited ? full : NULL,
        .system = s,
        .deterministic = true,
        .strict = true,
    };
    s->steps = calloc(s->options.max_steps, sizeof *s->steps);
    if (!s->steps) abort();
    return s;
}

void mz_model_set_order(struct mz_model_explorer *s, enum mz_order order, uint64_t seed)
{
    s->options.order = order;
    s->options.order_seed = seed;
    if (s->x) mz_explore_set_order(s->x, order, seed);
}

void mz_model_set_bound(struct mz_model_explorer *s, uint32_t limit)
{
    s->options.bound_limit = limit;
    if (s->x) mz_explore_set_bound(s->x, limit);
}

static void forget(struct mz_model_explorer *s)
{
    if (s->x) mz_explore_free(s->x);
    s->x = NULL;
}

void mz_model_explorer_free(struct mz_model_explorer *explorer)
{
    if (!explorer) return;
    forget(explorer);
    free(explorer->steps);
    free(explorer);
}

/* The exploration is over: prepare it for the next model. An exploration that was cut short cannot be used
 * again. */
static void recycle(struct mz_model_explorer *s, enum mz_model_verdict verdict)
{
    if (verdict != MZ_MODEL_EXPLORED) {
        forget(s);
        return;
    }
    mz_explore_reuse(s->x);
}

struct mz_exploration *mz_model_begin(struct mz_model_explorer *s, const struct mz_model *m)
{
    s->m = m;
    s->asked = 0;
    read_text(s);
    if (!s->x) s->x = mz_explore_new(&s->view, &s->options);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++)
        if (s->awaited >> i & 1)
            mz_explore_awaited(s->x, mz_model_key(MZ_MODEL_VAR, i), sizeof(mz_model_value), (unsigned)i);
    return s->x;
}

bool mz_model_next(struct mz_model_explorer *s, const struct mz_model_run *run,
                   struct mz_model_report *report)
{
    s->run = run;
    report->verdict = !execute(s)                 ? MZ_MODEL_ILLEGAL
                      : mz_explore_restarts(s->x) ? start_over(s, run, report)
                                                  : account(s, run, report);
    return report->verdict == MZ_MODEL_EXPLORED && mz_explore_end(s->x);
}

void mz_model_end(struct mz_model_explorer *s, const struct mz_model_report *report)
{
    recycle(s, report->verdict);
}

void mz_model_explore(struct mz_model_explorer *explorer, const struct mz_model *m,
                      const struct mz_model_run *run, struct mz_model_report *report)
{
    memset(report, 0, sizeof *report);
    mz_model_begin(explorer, m);
    while (mz_model_next(explorer, run, report)) {
    }
    report->counters = *mz_explore_counters(explorer->x);
    mz_model_end(explorer, report);
}
