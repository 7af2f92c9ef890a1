/* A model as a system under test: the side of program.h that the native runtime is for C programs.
 *
 * A thread, at its operation `pc`:
 *
 *     ABSENT --spawn--> READY --end--> FINISHED          READY: its pending event is in view.pending
 *                       |  ^  \--assert--> FAILED
 *                  join |  | joined thread finished
 *                       v  |
 *                      JOINING
 *
 * and within one wait, by phase (the release is a step of its own only if the mutex is tried):
 *
 *     AT_START --WAIT--> RELEASING --UNLOCK--> SLEEPING --signal--> RELOCKING --LOCK--> next operation
 *                            \--UNLOCK, if signalled before it-------^
 *
 * Invariants
 *  S1  Between two steps every thread is ABSENT, FINISHED, FAILED, JOINING or has its next event published.
 *  S2  view.alive and view.enabled are exact between two steps, and so are the choices of a signal. The
 *      access of a CAS or TRYLOCK is as of when it was published: the engine asks through refresh().
 *  S3  The engine hears of an event (commit) before any of its effects on other threads.
 *  S4  Keys mean the same kind of object in every model, so an exploration can serve one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include "system.h"

#define NOBODY 0xff

enum phase { AT_START, RELEASING, SLEEPING, RELOCKING };

struct thread {
    mz_model_value regs[MZ_MODEL_REGS];
    uint8_t pc, status, phase;
    mz_number woken; /* RELEASING: the event that woke it already; else 0 */
};

struct mz_model_explorer {
    const struct mz_model *m;
    struct mz_explore_options options;
    struct mz_exploration *x; /* NULL: to be made */
    struct mz_view view;
    uint8_t tried;      /* set of mutexes that the text tries: their unlock is an event */
    uint8_t from_start; /* set of threads that nobody spawns */
    struct thread threads[MZ_MODEL_THREADS];
    mz_model_value vars[MZ_MODEL_OBJECTS];
    uint8_t owner[MZ_MODEL_OBJECTS];
    uint8_t waiters[MZ_MODEL_OBJECTS];
    int sems[MZ_MODEL_OBJECTS];
    struct mz_step steps[MZ_MODEL_THREADS * MZ_MODEL_EVENTS];
    uint32_t length;
};

static uint64_t bit(int i) { return (uint64_t)1 << i; }
static uint64_t bits(mz_model_value value) { return (uint16_t)value; }

/* Keys are apart by more than the size of any operation. A choose is on an object of its own. */
static uint64_t key_of(enum mz_model_kind kind, int object)
{
    return 0x10000u * ((unsigned)kind + 1) + 64u * (unsigned)object;
}
static uint64_t choose_key(int thread, int pc)
{
    return 0x100000u + 64u * (unsigned)(thread * MZ_MODEL_OPS + pc);
}

static const struct mz_model_op *op_of(const struct mz_model_explorer *s, int t)
{
    return &s->m->threads[t].ops[s->threads[t].pc];
}

static mz_model_value value_of(const struct thread *t, const struct mz_model_operand *o)
{
    return o->is_register ? t->regs[o->value] : o->value;
}

static void set_result(struct thread *t, const struct mz_model_op *op, int value)
{
    if (op->result != MZ_MODEL_NOWHERE) t->regs[op->result] = (mz_model_value)value;
}

static bool holds(const struct thread *t, const struct mz_model_op *op)
{
    mz_model_value a = value_of(t, &op->a), b = value_of(t, &op->b);
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

/* Publishing what a thread does next. */

static void publish(struct mz_model_explorer *s, int t, enum mz_op op, uint64_t key, enum mz_access access)
{
    bool memory = op == MZ_OP_LOAD || op == MZ_OP_STORE || op == MZ_OP_RMW || op == MZ_OP_CAS;
    s->view.pending[t] = (struct mz_pending){.key = key,
                                             .choices = 1,
                                             .op = (uint8_t)op,
                                             .size = memory ? sizeof(mz_model_value) : 0,
                                             .access = (uint8_t)access};
}

static void publish_object(struct mz_model_explorer *s, int t, enum mz_op op, enum mz_model_kind kind,
                           enum mz_access access)
{
    publish(s, t, op, key_of(kind, op_of(s, t)->object), access);
}

/* Makes the access of a pending CAS or TRYLOCK exact. */
static void refresh(void *system, int t)
{
    struct mz_model_explorer *s = system;
    const struct mz_model_op *op = op_of(s, t);
    bool succeeds;
    switch (s->view.pending[t].op) {
    case MZ_OP_CAS:
        succeeds = s->vars[op->object] == value_of(&s->threads[t], &op->a);
        break;
    case MZ_OP_TRYLOCK:
        succeeds = s->owner[op->object] == NOBODY;
        break;
    default:
        return;
    }
    s->view.pending[t].access = succeeds ? MZ_WRITES : MZ_READS;
}

static void publish_wait(struct mz_model_explorer *s, int t)
{
    uint64_t mutex = key_of(MZ_MODEL_MUTEX, op_of(s, t)->mutex);
    switch (s->threads[t].phase) {
    case AT_START:
        publish_object(s, t, MZ_OP_WAIT, MZ_MODEL_COND, MZ_READS);
        break;
    case RELEASING:
        publish(s, t, MZ_OP_UNLOCK, mutex, MZ_WRITES);
        break;
    case SLEEPING:
        publish(s, t, MZ_OP_NONE, 0, MZ_READS);
        break;
    default:
        publish(s, t, MZ_OP_LOCK, mutex, MZ_WRITES);
    }
}

/* The operation is an event: says what it is. */
static void publish_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    switch (op->code) {
    case MZ_MODEL_READ:
        publish_object(s, t, MZ_OP_LOAD, MZ_MODEL_VAR, MZ_READS);
        break;
    case MZ_MODEL_WRITE:
        publish_object(s, t, MZ_OP_STORE, MZ_MODEL_VAR, MZ_WRITES);
        break;
    case MZ_MODEL_ADD:
    case MZ_MODEL_XCHG:
        publish_object(s, t, MZ_OP_RMW, MZ_MODEL_VAR, MZ_WRITES);
        break;
    case MZ_MODEL_CAS:
        publish_object(s, t, MZ_OP_CAS, MZ_MODEL_VAR, MZ_WRITES);
        s->view.pending[t].expected = bits(value_of(&s->threads[t], &op->a));
        refresh(s, t);
        break;
    case MZ_MODEL_LOCK:
        publish_object(s, t, MZ_OP_LOCK, MZ_MODEL_MUTEX, MZ_WRITES);
        break;
    case MZ_MODEL_TRYLOCK:
        publish_object(s, t, MZ_OP_TRYLOCK, MZ_MODEL_MUTEX, MZ_WRITES);
        refresh(s, t);
        break;
    case MZ_MODEL_UNLOCK:
        publish_object(s, t, MZ_OP_UNLOCK, MZ_MODEL_MUTEX, MZ_WRITES);
        break;
    case MZ_MODEL_WAIT:
        publish_wait(s, t);
        break;
    case MZ_MODEL_SIGNAL:
        publish_object(s, t, MZ_OP_SIGNAL, MZ_MODEL_COND, MZ_WRITES);
        break;
    case MZ_MODEL_BROADCAST:
        publish_object(s, t, MZ_OP_BROADCAST, MZ_MODEL_COND, MZ_WRITES);
        break;
    case MZ_MODEL_SEM_WAIT:
        publish_object(s, t, MZ_OP_SEM_WAIT, MZ_MODEL_SEM, MZ_WRITES);
        break;
    case MZ_MODEL_SEM_POST:
        publish_object(s, t, MZ_OP_SEM_POST, MZ_MODEL_SEM, MZ_WRITES);
        break;
    default: /* CHOOSE */
        publish(s, t, MZ_OP_CHOOSE, choose_key(t, s->threads[t].pc), MZ_WRITES);
        s->view.pending[t].choices = bit(op->a.value) - 1;
    }
}

/* Local code. */

static void run_local(struct mz_model_explorer *s, int t);

static void spawn(struct mz_model_explorer *s, int parent, int child)
{
    if (parent != child) mz_explore_spawn(s->x, parent, child);
    s->threads[child].status = MZ_MODEL_READY;
    s->view.alive |= bit(child);
    run_local(s, child);
}

static void release(struct mz_model_explorer *s, int t, int mutex)
{
    s->owner[mutex] = NOBODY;
    mz_explore_release(s->x, t, key_of(MZ_MODEL_MUTEX, mutex));
}

static void halt(struct mz_model_explorer *s, int t, enum mz_model_status status)
{
    s->threads[t].status = (uint8_t)status;
    publish(s, t, MZ_OP_NONE, 0, MZ_READS);
}

static void finish(struct mz_model_explorer *s, int t)
{
    halt(s, t, MZ_MODEL_FINISHED);
    s->view.alive &= ~bit(t);
    for (int j = 0; j < s->m->thread_count; j++) {
        if (s->threads[j].status != MZ_MODEL_JOINING || op_of(s, j)->object != t) continue;
        mz_explore_join(s->x, j, t);
        s->threads[j].status = MZ_MODEL_READY;
        s->threads[j].pc++;
        run_local(s, j);
    }
}

/* The operation at pc, if it is a local one that does not stop the thread; pc moves on. */
static bool run_local_op(struct mz_model_explorer *s, int t)
{
    struct thread *self = &s->threads[t];
    const struct mz_model_op *op = op_of(s, t);
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
        release(s, t, op->object);
        break;
    case MZ_MODEL_WAIT:
        if (self->phase != AT_START || s->owner[op->mutex] == t) return false;
        break;
    case MZ_MODEL_ASSERT:
        if (!holds(self, op)) return false;
        break;
    case MZ_MODEL_LET:
        set_result(self, op,
                   op->relation == MZ_MODEL_PLUS ? value_of(self, &op->a) + value_of(self, &op->b)
                                                 : value_of(self, &op->a) - value_of(self, &op->b));
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

/* Local code up to the next event, the end, or something to wait for. */
static void run_local(struct mz_model_explorer *s, int t)
{
    struct thread *self = &s->threads[t];
    while (self->pc < s->m->threads[t].length && run_local_op(s, t)) {
    }
    if (self->pc == s->m->threads[t].length)
        finish(s, t);
    else if (op_of(s, t)->code == MZ_MODEL_ASSERT)
        halt(s, t, MZ_MODEL_FAILED);
    else if (op_of(s, t)->code == MZ_MODEL_JOIN)
        halt(s, t, MZ_MODEL_JOINING);
    else
        publish_event(s, t);
}

/* Events. */

static void memory_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    struct thread *self = &s->threads[t];
    mz_model_value old = s->vars[op->object], a = value_of(self, &op->a);
    bool writes = op->code != MZ_MODEL_READ && (op->code != MZ_MODEL_CAS || old == a);
    mz_explore_commit(s->x, writes ? MZ_WRITES : MZ_READS, bits(old));
    if (writes) {
        if (op->code == MZ_MODEL_ADD) a = (mz_model_value)(old + a);
        if (op->code == MZ_MODEL_CAS) a = value_of(self, &op->b);
        s->vars[op->object] = a;
    }
    if (op->code != MZ_MODEL_WRITE) set_result(self, op, op->code == MZ_MODEL_CAS ? writes : old);
}

static void mutex_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    bool failed = op->code == MZ_MODEL_TRYLOCK && s->owner[op->object] != NOBODY;
    mz_explore_commit(s->x, failed ? MZ_READS : MZ_WRITES, 0);
    if (!failed) s->owner[op->object] = op->code == MZ_MODEL_UNLOCK ? NOBODY : (uint8_t)t;
    if (op->code == MZ_MODEL_TRYLOCK) set_result(&s->threads[t], op, !failed);
}

/* One of the events of a wait; true when the wait is over. */
static bool wait_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    struct thread *self = &s->threads[t];
    mz_explore_commit(s->x, self->phase == AT_START ? MZ_READS : MZ_WRITES, 0);
    switch (self->phase) {
    case AT_START:
        s->waiters[op->object] |= (uint8_t)bit(t);
        if (s->tried >> op->mutex & 1) {
            self->phase = RELEASING;
            return false;
        }
        release(s, t, op->mutex);
        self->phase = SLEEPING;
        return false;
    case RELEASING:
        s->owner[op->mutex] = NOBODY;
        self->phase = self->woken ? RELOCKING : SLEEPING;
        if (self->woken) mz_explore_wake(s->x, self->woken, t);
        self->woken = 0;
        return false;
    default:
        s->owner[op->mutex] = (uint8_t)t;
        self->phase = AT_START;
        return true;
    }
}

/* By the event of thread t that is happening. It comes before the lock that ends the wait, not before the
 * release, which does not wait for it. */
static void wake(struct mz_model_explorer *s, int t, int woken)
{
    mz_number event = s->length;
    s->waiters[op_of(s, t)->object] &= (uint8_t)~bit(woken);
    if (s->threads[woken].phase == RELEASING) {
        s->threads[woken].woken = event;
        return;
    }
    mz_explore_wake(s->x, event, woken);
    s->threads[woken].phase = RELOCKING;
    publish_event(s, woken);
}

static void signal_event(struct mz_model_explorer *s, int t, int choice)
{
    const struct mz_model_op *op = op_of(s, t);
    uint8_t waiters = s->waiters[op->object];
    mz_explore_commit(s->x, MZ_WRITES, waiters);
    if (op->code == MZ_MODEL_SIGNAL) waiters &= (uint8_t)bit(choice);
    for (int w = 0; w < s->m->thread_count; w++)
        if (waiters >> w & 1) wake(s, t, w);
}

static void semaphore_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    mz_explore_commit(s->x, MZ_WRITES, (uint64_t)s->sems[op->object]);
    s->sems[op->object] += op->code == MZ_MODEL_SEM_POST ? 1 : -1;
}

static void choose_event(struct mz_model_explorer *s, int t, int choice)
{
    mz_explore_commit(s->x, MZ_WRITES, 0);
    set_result(&s->threads[t], op_of(s, t), choice);
}

/* Performs the thread's event; true when it was the last of its operation. */
static bool perform(struct mz_model_explorer *s, int t, int choice)
{
    switch (op_of(s, t)->code) {
    case MZ_MODEL_LOCK:
    case MZ_MODEL_TRYLOCK:
    case MZ_MODEL_UNLOCK:
        mutex_event(s, t);
        return true;
    case MZ_MODEL_WAIT:
        return wait_event(s, t);
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_BROADCAST:
        signal_event(s, t, choice);
        return true;
    case MZ_MODEL_SEM_WAIT:
    case MZ_MODEL_SEM_POST:
        semaphore_event(s, t);
        return true;
    case MZ_MODEL_CHOOSE:
        choose_event(s, t, choice);
        return true;
    default:
        memory_event(s, t);
        return true;
    }
}

/* The view. */

static bool is_enabled(const struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = op_of(s, t);
    switch (s->view.pending[t].op) {
    case MZ_OP_NONE:
        return false;
    case MZ_OP_LOCK:
        return s->owner[op->code == MZ_MODEL_WAIT ? op->mutex : op->object] == NOBODY;
    case MZ_OP_SEM_WAIT:
        return s->sems[op->object] > 0;
    default:
        return true;
    }
}

static void update_view(struct mz_model_explorer *s)
{
    s->view.enabled = 0;
    for (int t = 0; t < s->m->thread_count; t++) {
        if (!(s->view.alive & bit(t))) continue;
        if (is_enabled(s, t)) s->view.enabled |= bit(t);
        if (s->view.pending[t].op != MZ_OP_SIGNAL) continue;
        uint8_t waiters = s->waiters[op_of(s, t)->object];
        s->view.pending[t].choices = waiters ? waiters : 1;
    }
}

/* Executions. */

static void reset(struct mz_model_explorer *s)
{
    memset(&s->view, 0, sizeof s->view);
    memset(s->threads, 0, sizeof s->threads);
    memset(s->owner, NOBODY, sizeof s->owner);
    memset(s->waiters, 0, sizeof s->waiters);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
        s->vars[i] = s->m->initial[MZ_MODEL_VAR][i];
        s->sems[i] = s->m->initial[MZ_MODEL_SEM][i];
    }
    s->length = 0;
}

static bool is_legal(const struct mz_model_explorer *s, struct mz_step step)
{
    return step.thread < s->m->thread_count && (s->view.enabled & bit(step.thread)) && step.choice < 64 &&
           (s->view.pending[step.thread].choices & bit(step.choice));
}

/* One execution, from the start until the engine names nobody; false if it asks for the impossible. */
static bool execute(struct mz_model_explorer *s)
{
    struct mz_step step;
    reset(s);
    mz_explore_begin(s->x);
    for (int t = 0; t < s->m->thread_count; t++)
        if (s->from_start >> t & 1) spawn(s, t, t);
    update_view(s);
    while ((step = mz_explore_next(s->x)).thread != MZ_NOBODY) {
        if (!is_legal(s, step)) return false;
        s->steps[s->length++] = step;
        if (perform(s, step.thread, step.choice)) s->threads[step.thread].pc++;
        run_local(s, step.thread);
        update_view(s);
    }
    return true;
}

static enum mz_model_status final_status(const struct mz_model_explorer *s, int t)
{
    if (s->threads[t].status != MZ_MODEL_READY) return (enum mz_model_status)s->threads[t].status;
    switch (s->view.pending[t].op) {
    case MZ_OP_NONE:
        return MZ_MODEL_WAITING;
    case MZ_OP_LOCK:
        return MZ_MODEL_LOCKING;
    case MZ_OP_SEM_WAIT:
        return MZ_MODEL_SEM_WAITING;
    default:
        return MZ_MODEL_READY;
    }
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
        if (status == MZ_MODEL_FAILED) o->failed |= (uint8_t)bit(t);
        if (status > MZ_MODEL_FAILED) o->blocked |= (uint8_t)bit(t);
    }
}

static bool visit(const struct mz_model_explorer *s, const struct mz_model_run *run)
{
    struct mz_model_execution e = {.steps = s->steps, .length = s->length, .exploration = s->x};
    outcome_of(s, &e.outcome);
    return !run->visit || run->visit(run->arg, &e);
}

/* After an execution: counts it and says whether the exploration may go on. */
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
        break;
    case MZ_ENDING_STEP_LIMIT:
        return MZ_MODEL_STEP_LIMIT;
    default:
        return MZ_MODEL_WRONG_ENDING;
    }
    bool too_many = run->max_runs && report->complete + report->asleep > run->max_runs;
    return too_many ? MZ_MODEL_TOO_MANY : MZ_MODEL_EXPLORED;
}

static void read_text(struct mz_model_explorer *s)
{
    s->tried = 0;
    s->from_start = (uint8_t)(bit(s->m->thread_count) - 1);
    for (int t = 0; t < s->m->thread_count; t++)
        for (int i = 0; i < s->m->threads[t].length; i++) {
            const struct mz_model_op *op = &s->m->threads[t].ops[i];
            if (op->code == MZ_MODEL_TRYLOCK) s->tried |= (uint8_t)bit(op->object);
            if (op->code == MZ_MODEL_SPAWN) s->from_start &= (uint8_t)~bit(op->object);
        }
}

struct mz_model_explorer *mz_model_explorer_new(enum mz_algorithm algorithm, bool sleep_sets)
{
    struct mz_model_explorer *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->options = (struct mz_explore_options){
        .algorithm = algorithm,
        .sleep_sets = sleep_sets,
        .max_steps = MZ_MODEL_THREADS * MZ_MODEL_EVENTS,
        .refresh = refresh,
        .system = s,
    };
    return s;
}

static void forget(struct mz_model_explorer *s)
{
    if (s->x) mz_explore_free(s->x);
    s->x = NULL;
}

void mz_model_explorer_free(struct mz_model_explorer *explorer)
{
    if (explorer) forget(explorer);
    free(explorer);
}

/* The exploration is over: make it ready for another. One that was cut short cannot be used again. */
static void recycle(struct mz_model_explorer *s, enum mz_model_verdict verdict)
{
    if (verdict != MZ_MODEL_EXPLORED) {
        forget(s);
        return;
    }
    mz_explore_restart(s->x);
    mz_explore_end(s->x);
}

void mz_model_explore(struct mz_model_explorer *explorer, const struct mz_model *m,
                      const struct mz_model_run *run, struct mz_model_report *report)
{
    struct mz_model_explorer *s = explorer;
    memset(report, 0, sizeof *report);
    s->m = m;
    read_text(s);
    if (!s->x) s->x = mz_explore_new(&s->view, &s->options);
    do report->verdict = execute(s) ? account(s, run, report) : MZ_MODEL_ILLEGAL;
    while (report->verdict == MZ_MODEL_EXPLORED && mz_explore_end(s->x));
    report->counters = *mz_explore_counters(s->x);
    recycle(s, report->verdict);
}
