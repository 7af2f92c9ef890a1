/* A model as a system under test: the effects of events. See system.c. */
#include "model/state.h"

/* An access to memory: an event of its own, or part of a section. */
static void access_memory(struct mz_model_explorer *s, int t, bool event)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    struct mz_model_runner *self = &s->threads[t];
    mz_model_value old = s->vars[op->object], a = mz_model_value_of(self, &op->a);
    bool writes = op->code != MZ_MODEL_READ && (op->code != MZ_MODEL_CAS || old == a);
    if (op->code == MZ_MODEL_ADD || op->code == MZ_MODEL_BUMP) a = (mz_model_value)(old + a);
    if (op->code == MZ_MODEL_CAS) a = mz_model_value_of(self, &op->b);
    if (event)
        mz_explore_commit(s->x,
                          op->code == MZ_MODEL_BUMP ? MZ_SHARES
                          : writes                  ? MZ_WRITES
                                                    : MZ_READS,
                          (uint16_t)old, (uint16_t)(writes ? a : old));
    if (writes) s->vars[op->object] = a;
    if (op->code != MZ_MODEL_WRITE) mz_model_result(self, op, op->code == MZ_MODEL_CAS ? writes : old);
}

/* Runs a section up to the operation that ends it. */
static void section_event(struct mz_model_explorer *s, int t)
{
    struct mz_model_runner *self = &s->threads[t];
    mz_explore_commit(s->x, MZ_WRITES, 0, 0);
    self->pc++;
    while (self->pc < s->m->threads[t].length) {
        if (mz_model_accesses(mz_model_op_of(s, t)->code)) {
            access_memory(s, t, false);
            self->pc++;
        } else if (!mz_model_computes(mz_model_op_of(s, t)->code) || !mz_model_run_local_op(s, t)) {
            break;
        }
    }
}

static void mutex_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    bool failed = op->code == MZ_MODEL_TRYLOCK && s->owner[op->object] != MZ_MODEL_NOBODY;
    mz_explore_commit(s->x, failed ? MZ_READS : MZ_WRITES, 0, 0);
    if (!failed) s->owner[op->object] = op->code == MZ_MODEL_UNLOCK ? MZ_MODEL_NOBODY : (uint8_t)t;
    if (op->code == MZ_MODEL_TRYLOCK) mz_model_result(&s->threads[t], op, !failed);
}

/* Condition variables and futexes. */

/* The thread stops waiting by itself. */
static void time_out(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    uint8_t *waiters = &s->waiters[mz_model_kind_of(op->code)][op->object];
    mz_explore_commit(s->x, MZ_READS, *waiters, 0);
    *waiters &= (uint8_t)~mz_model_bit(t);
}

static void begin_to_wait(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    mz_explore_commit(s->x, MZ_READS, 0, 0);
    s->waiters[MZ_MODEL_COND][op->object] |= (uint8_t)mz_model_bit(t);
    if (s->tried >> op->mutex & 1) {
        s->threads[t].phase = MZ_RELEASING;
        return;
    }
    mz_model_release(s, t, op->mutex);
    s->threads[t].phase = MZ_SLEEPING;
}

/* Performs one of the events of a wait. Returns true when the wait is over. */
static bool wait_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    struct mz_model_runner *self = &s->threads[t];
    switch (self->phase) {
    case MZ_AT_START:
        begin_to_wait(s, t);
        return false;
    case MZ_RELEASING:
        mz_explore_commit(s->x, MZ_WRITES, 0, 0);
        s->owner[op->mutex] = MZ_MODEL_NOBODY;
        self->phase = self->woken ? MZ_RELOCKING : MZ_SLEEPING;
        if (self->woken) mz_explore_wake(s->x, self->woken, t);
        return false;
    case MZ_SLEEPING:
        time_out(s, t);
        self->gave_up = true;
        self->phase = MZ_RELOCKING;
        return false;
    default:
        s->view.pending[t].expected = self->woken;
        mz_explore_commit(s->x, MZ_WRITES, 0, 0);
        s->owner[op->mutex] = (uint8_t)t;
        if (mz_model_timed(op)) mz_model_result(self, op, !self->gave_up);
        self->gave_up = false;
        self->woken = 0;
        self->phase = MZ_AT_START;
        return true;
    }
}

/* The same for a wait on a futex. */
static bool futex_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    struct mz_model_runner *self = &s->threads[t];
    mz_model_value value = s->vars[op->object];
    if (self->phase == MZ_SLEEPING) {
        time_out(s, t);
        mz_model_result(self, op, 2);
        self->phase = MZ_AT_START;
        return true;
    }
    bool waits = value == mz_model_value_of(self, &op->a);
    if (!waits) s->view.pending[t].op = MZ_OP_LOAD;
    mz_explore_commit(s->x, MZ_READS, (uint16_t)value, (uint16_t)value);
    if (!waits) {
        mz_model_result(self, op, 0);
        return true;
    }
    s->waiters[MZ_MODEL_VAR][op->object] |= (uint8_t)mz_model_bit(t);
    self->phase = MZ_SLEEPING;
    return false;
}

/* The current event wakes the thread. The event comes before the lock that ends the wait, but not before the
 * release of the mutex, which does not depend on it. */
static void wake(struct mz_model_explorer *s, int woken)
{
    struct mz_model_runner *other = &s->threads[woken];
    const struct mz_model_op *op = mz_model_op_of(s, woken);
    mz_number event = s->length;
    s->waiters[mz_model_kind_of(op->code)][op->object] &= (uint8_t)~mz_model_bit(woken);
    if (mz_model_timed(op)) mz_explore_could_time_out(s->x, woken);
    if (mz_model_has_mutex(op->code)) other->woken = event;
    if (other->phase == MZ_RELEASING) return;
    mz_explore_wake(s->x, event, woken);
    if (mz_model_has_mutex(op->code)) {
        other->phase = MZ_RELOCKING;
    } else {
        mz_model_result(other, op, 1);
        other->phase = MZ_AT_START;
        other->pc++;
        mz_model_run_local(s, woken);
    }
}

static void signal_event(struct mz_model_explorer *s, int t, int choice)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    uint8_t waiters = s->waiters[mz_model_kind_of(op->code)][op->object];
    mz_explore_commit(s->x, MZ_WRITES, waiters, 0);
    if (op->code == MZ_MODEL_SIGNAL || op->code == MZ_MODEL_FUTEX_WAKE)
        waiters &= (uint8_t)mz_model_bit(choice);
    for (int w = 0; w < s->m->thread_count; w++)
        if (waiters >> w & 1) wake(s, w);
}

/* Other operations. */

static void semaphore_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    int *count = &s->sems[op->object];
    bool looks = op->code == MZ_MODEL_SEM_VALUE, fails = op->code == MZ_MODEL_SEM_TRY && *count == 0;
    mz_explore_commit(s->x, fails || looks ? MZ_READS : MZ_WRITES, (uint64_t)*count, 0);
    if (looks) mz_model_result(&s->threads[t], op, *count);
    if (!fails && !looks) *count += op->code == MZ_MODEL_SEM_POST ? 1 : -1;
    if (op->code == MZ_MODEL_SEM_TRY) mz_model_result(&s->threads[t], op, !fails);
}

static void give_back(struct mz_model_explorer *s, int t, int lock)
{
    struct mz_model_rwlock *l = &s->rwlocks[lock];
    bool writer = l->writer == t;
    mz_explore_commit(s->x, writer ? MZ_WRITES : mz_model_shared(s, lock), mz_model_rw_state(s, lock), 0);
    if (writer)
        l->writer = MZ_MODEL_NOBODY;
    else
        l->held[t]--;
}

/* Performs an event of an operation on a read-write lock. Returns true when the operation is over. */
static bool rwlock_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    struct mz_model_runner *self = &s->threads[t];
    struct mz_model_rwlock *l = &s->rwlocks[op->object];
    bool exclusive = op->code == MZ_MODEL_WRLOCK || op->code == MZ_MODEL_TRYWRLOCK;
    bool can = exclusive ? mz_model_can_write(s, op->object) : mz_model_can_read(s, op->object);
    enum mz_access success = exclusive ? MZ_WRITES : mz_model_shared(s, op->object);
    if (op->code == MZ_MODEL_RWUNLOCK) {
        give_back(s, t, op->object);
        return true;
    }
    bool claims = s->view.pending[t].op == MZ_OP_RWCLAIM;
    mz_explore_commit(s->x, can || claims ? success : MZ_READS, mz_model_rw_state(s, op->object), 0);
    if (claims) {
        l->claims++;
        self->phase = MZ_CLAIMED;
        return false;
    }
    if (can && exclusive) l->writer = (uint8_t)t;
    if (can && !exclusive) l->held[t]++;
    if (self->phase == MZ_CLAIMED) l->claims--;
    self->phase = MZ_AT_START;
    if (op->code == MZ_MODEL_TRYRDLOCK || op->code == MZ_MODEL_TRYWRLOCK) mz_model_result(self, op, can);
    return true;
}

/* Returns true if the thread has to run the function. */
static bool once_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    bool done = s->once[op->object] == MZ_ONCE_DONE;
    mz_explore_commit(s->x, done ? MZ_READS : MZ_WRITES, s->once[op->object], 0);
    if (done) {
        s->threads[t].pc = op->target;
        return false;
    }
    s->once[op->object] = MZ_ONCE_RUNNING;
    s->once_runner[op->object] = (uint8_t)t;
    return true;
}

static void channel_event(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    struct mz_model_queue *q = mz_model_queue_of(s, op);
    mz_explore_commit(s->x, op->code == MZ_MODEL_SEND ? MZ_WRITES : MZ_READS, 0, 0);
    if (op->code == MZ_MODEL_SEND)
        q->values[q->sent++] = mz_model_value_of(&s->threads[t], &op->a);
    else
        mz_model_result(&s->threads[t], op, q->taken < q->sent ? q->values[q->taken++] : -1);
}

bool mz_model_perform(struct mz_model_explorer *s, int t, int choice)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    switch (op->code) {
    case MZ_MODEL_LOCK:
    case MZ_MODEL_TRYLOCK:
    case MZ_MODEL_UNLOCK:
        mutex_event(s, t);
        return true;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
        return wait_event(s, t);
    case MZ_MODEL_FUTEX_WAIT:
    case MZ_MODEL_FUTEX_TIMEDWAIT:
        return futex_event(s, t);
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_BROADCAST:
    case MZ_MODEL_FUTEX_WAKE:
    case MZ_MODEL_FUTEX_WAKE_ALL:
        signal_event(s, t, choice);
        return true;
    case MZ_MODEL_SEM_WAIT:
    case MZ_MODEL_SEM_POST:
    case MZ_MODEL_SEM_TRY:
    case MZ_MODEL_SEM_VALUE:
        semaphore_event(s, t);
        return true;
    case MZ_MODEL_ONCE:
        return once_event(s, t);
    case MZ_MODEL_SECTION:
        section_event(s, t);
        return false;
    case MZ_MODEL_AWAIT:
        mz_explore_commit(s->x, MZ_READS, 0, 0);
        return true;
    case MZ_MODEL_SEND:
    case MZ_MODEL_RECEIVE:
    case MZ_MODEL_TRY_RECEIVE:
        channel_event(s, t);
        return true;
    case MZ_MODEL_CHOOSE:
        mz_explore_commit(s->x, MZ_WRITES, 0, 0);
        mz_model_result(&s->threads[t], op, choice);
        return true;
    default:
        if (mz_model_kind_of(op->code) == MZ_MODEL_RWLOCK) return rwlock_event(s, t);
        access_memory(s, t, true);
        return true;
    }
}
