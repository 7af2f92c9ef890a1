/* A model as a system under test: the next operation of each thread, and whether it is enabled. See
 * system.c. */
#include "model/state.h"

/* The distance between two keys is larger than the size of any operation. Each choose has an object of its
 * own. */
uint64_t mz_model_key(enum mz_model_kind kind, int object)
{
    return 0x10000u * ((unsigned)kind + 1) + 64u * (unsigned)object;
}
static uint64_t choose_key(int thread, int pc)
{
    return 0x100000u + 64u * (unsigned)(thread * MZ_MODEL_OPS + pc);
}

/* Read-write locks. */

static bool writers_first(const struct mz_model_explorer *s, int lock)
{
    return s->m->initial[MZ_MODEL_RWLOCK][lock] != 0;
}

static unsigned readers(const struct mz_model_rwlock *l)
{
    unsigned count = 0;
    for (int t = 0; t < MZ_MODEL_THREADS; t++) count += l->held[t];
    return count;
}

uint64_t mz_model_rw_state(const struct mz_model_explorer *s, int lock)
{
    const struct mz_model_rwlock *l = &s->rwlocks[lock];
    return readers(l) | (l->writer != MZ_MODEL_NOBODY ? MZ_RW_WRITER : 0) | (uint64_t)l->claims << 32 |
           (writers_first(s, lock) ? MZ_RW_ORDERED : 0);
}

bool mz_model_can_read(const struct mz_model_explorer *s, int lock)
{
    return s->rwlocks[lock].writer == MZ_MODEL_NOBODY && !s->rwlocks[lock].claims;
}

bool mz_model_can_write(const struct mz_model_explorer *s, int lock)
{
    return s->rwlocks[lock].writer == MZ_MODEL_NOBODY && !readers(&s->rwlocks[lock]);
}

enum mz_access mz_model_shared(const struct mz_model_explorer *s, int lock)
{
    return writers_first(s, lock) ? MZ_WRITES : MZ_SHARES;
}

/* Publishing. */

static void publish(struct mz_model_explorer *s, int t, enum mz_op op, enum mz_model_kind kind, int object,
                    enum mz_access access)
{
    s->view.pending[t] = (struct mz_pending){.key = mz_model_key(kind, object),
                                             .choices = 1,
                                             .op = (uint8_t)op,
                                             .size = kind == MZ_MODEL_VAR ? sizeof(mz_model_value) : 0,
                                             .access = (uint8_t)access};
}

void mz_model_publish_none(struct mz_model_explorer *s, int t)
{
    s->view.pending[t] = (struct mz_pending){.op = MZ_OP_NONE, .choices = 1};
}

/* Does the object of the thread's pending operation have the state that the operation needs (op.def)? */
static bool is_as_needed(const struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    const struct mz_op_info *info = &mz_ops[s->view.pending[t].op];
    switch ((enum mz_need)info->needs) {
    case MZ_NEEDS_EXPECTED:
        return s->vars[op->object] == mz_model_value_of(&s->threads[t], &op->a);
    case MZ_NEEDS_FREE:
        if (info->object == MZ_OBJECT_ONCE) return s->once[op->object] != MZ_ONCE_RUNNING;
        return s->owner[mz_model_has_mutex(op->code) ? op->mutex : op->object] == MZ_MODEL_NOBODY;
    case MZ_NEEDS_COUNT:
        return s->sems[op->object] > 0;
    case MZ_NEEDS_NO_WRITER:
        return mz_model_can_read(s, op->object);
    case MZ_NEEDS_NO_HOLDER:
        return mz_model_can_write(s, op->object);
    case MZ_NEEDS_CONDITION:
        return mz_model_condition(s, t, s->vars);
    case MZ_NEEDS_MESSAGE: {
        const struct mz_model_queue *q = &s->queues[op->object][op->mutex];
        return q->taken < q->sent;
    }
    case MZ_NEEDS_ANY:
        break;
    }
    return true;
}

/* Returns the access that the pending operation would make now. It is exact for operations that may fail and
 * do not block. */
static enum mz_access exact_access(const struct mz_model_explorer *s, int t)
{
    const struct mz_pending *p = &s->view.pending[t];
    if (!mz_op_in(MZ_OPS_FAIL & ~(uint64_t)MZ_OPS_BLOCK, p->op)) return (enum mz_access)p->access;
    if (!is_as_needed(s, t)) return MZ_READS;
    return mz_ops[p->op].access == MZ_SHARES ? mz_model_shared(s, mz_model_op_of(s, t)->object) : MZ_WRITES;
}

/* A callback of the engine: makes the access of a pending operation that may fail exact. */
void mz_model_refresh(void *system, int t)
{
    struct mz_model_explorer *s = system;
    s->view.pending[t].access = (uint8_t)exact_access(s, t);
}

/* The thread begins to wait, or has stopped waiting by itself. */
static void publish_resume(struct mz_model_explorer *s, int t, enum mz_model_kind kind)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    publish(s, t, MZ_OP_RESUME, MZ_MODEL_MUTEX, op->mutex, MZ_WRITES);
    if (!mz_model_has_mutex(op->code)) s->view.pending[t].key = 0;
    s->view.pending[t].expected = mz_model_key(kind, op->object);
    s->view.pending[t].size = kind == MZ_MODEL_VAR ? sizeof(mz_model_value) : 0;
}

static void publish_wait(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    switch (s->threads[t].phase) {
    case MZ_AT_START:
        publish(s, t, MZ_OP_WAIT, MZ_MODEL_COND, op->object, MZ_READS);
        break;
    case MZ_RELEASING:
        publish(s, t, MZ_OP_UNLOCK, MZ_MODEL_MUTEX, op->mutex, MZ_WRITES);
        break;
    default:
        publish_resume(s, t, MZ_MODEL_COND);
    }
}

static void publish_lock(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    enum mz_op exclusive = MZ_OP_WRLOCK;
    bool writer = s->rwlocks[op->object].writer == t;
    if (s->threads[t].phase == MZ_AT_START && writers_first(s, op->object)) exclusive = MZ_OP_RWCLAIM;
    switch (op->code) {
    case MZ_MODEL_RDLOCK:
        publish(s, t, MZ_OP_RDLOCK, MZ_MODEL_RWLOCK, op->object, mz_model_shared(s, op->object));
        break;
    case MZ_MODEL_WRLOCK:
        publish(s, t, exclusive, MZ_MODEL_RWLOCK, op->object, MZ_WRITES);
        break;
    case MZ_MODEL_TRYRDLOCK:
        publish(s, t, MZ_OP_TRYRDLOCK, MZ_MODEL_RWLOCK, op->object, MZ_WRITES);
        break;
    case MZ_MODEL_TRYWRLOCK:
        publish(s, t, MZ_OP_TRYWRLOCK, MZ_MODEL_RWLOCK, op->object, MZ_WRITES);
        break;
    default:
        publish(s, t, MZ_OP_RWUNLOCK, MZ_MODEL_RWLOCK, op->object,
                writer ? MZ_WRITES : mz_model_shared(s, op->object));
    }
}

/* Operations with one event, which always has the same kind. */
static const struct {
    uint8_t op, access;
} plain[MZ_MODEL_CODES] = {
    [MZ_MODEL_READ] = {MZ_OP_LOAD, MZ_READS},
    [MZ_MODEL_WRITE] = {MZ_OP_STORE, MZ_WRITES},
    [MZ_MODEL_ADD] = {MZ_OP_RMW, MZ_WRITES},
    [MZ_MODEL_XCHG] = {MZ_OP_RMW, MZ_WRITES},
    [MZ_MODEL_CAS] = {MZ_OP_CAS, MZ_WRITES},
    [MZ_MODEL_LOCK] = {MZ_OP_LOCK, MZ_WRITES},
    [MZ_MODEL_TRYLOCK] = {MZ_OP_TRYLOCK, MZ_WRITES},
    [MZ_MODEL_UNLOCK] = {MZ_OP_UNLOCK, MZ_WRITES},
    [MZ_MODEL_SIGNAL] = {MZ_OP_SIGNAL, MZ_WRITES},
    [MZ_MODEL_BROADCAST] = {MZ_OP_BROADCAST, MZ_WRITES},
    [MZ_MODEL_SEM_WAIT] = {MZ_OP_SEM_WAIT, MZ_WRITES},
    [MZ_MODEL_SEM_POST] = {MZ_OP_SEM_POST, MZ_WRITES},
    [MZ_MODEL_SEM_TRY] = {MZ_OP_SEM_TRY, MZ_WRITES},
    [MZ_MODEL_SEM_VALUE] = {MZ_OP_LOAD, MZ_READS},
    [MZ_MODEL_ONCE] = {MZ_OP_ONCE, MZ_WRITES},
    [MZ_MODEL_BUMP] = {MZ_OP_ADD, MZ_SHARES},
    [MZ_MODEL_SEND] = {MZ_OP_SEND, MZ_WRITES},
    [MZ_MODEL_RECEIVE] = {MZ_OP_RECEIVE, MZ_READS},
    [MZ_MODEL_TRY_RECEIVE] = {MZ_OP_TRY_RECEIVE, MZ_READS},
    [MZ_MODEL_FUTEX_WAKE] = {MZ_OP_SIGNAL, MZ_WRITES},
    [MZ_MODEL_FUTEX_WAKE_ALL] = {MZ_OP_BROADCAST, MZ_WRITES},
};

void mz_model_publish(struct mz_model_explorer *s, int t)
{
    const struct mz_model_op *op = mz_model_op_of(s, t);
    switch (op->code) {
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
        publish_wait(s, t);
        break;
    case MZ_MODEL_FUTEX_WAIT:
    case MZ_MODEL_FUTEX_TIMEDWAIT:
        if (s->threads[t].phase == MZ_SLEEPING)
            publish_resume(s, t, MZ_MODEL_VAR);
        else
            publish(s, t, MZ_OP_WAIT, MZ_MODEL_VAR, op->object, MZ_READS);
        break;
    case MZ_MODEL_SECTION:
        s->view.pending[t] = (struct mz_pending){.op = MZ_OP_SECTION, .choices = 1, .access = MZ_WRITES};
        break;
    case MZ_MODEL_AWAIT:
        s->view.pending[t] = (struct mz_pending){
            .key = mz_await_key(mz_model_awaited(op)), .op = MZ_OP_AWAIT, .choices = 1, .access = MZ_READS};
        break;
    case MZ_MODEL_CHOOSE:
        s->view.pending[t] = (struct mz_pending){.key = choose_key(t, s->threads[t].pc),
                                                 .op = MZ_OP_CHOOSE,
                                                 .choices = mz_model_bit(op->a.value) - 1,
                                                 .access = MZ_WRITES};
        break;
    default:
        if (mz_model_kind_of(op->code) == MZ_MODEL_RWLOCK)
            publish_lock(s, t);
        else
            publish(s, t, plain[op->code].op, mz_model_kind_of(op->code), op->object, plain[op->code].access);
    }
    if (op->code == MZ_MODEL_CAS)
        s->view.pending[t].expected = (uint16_t)mz_model_value_of(&s->threads[t], &op->a);
    if (op->code == MZ_MODEL_BUMP)
        s->view.pending[t].expected = (uint64_t)mz_model_value_of(&s->threads[t], &op->a);
    s->view.pending[t].pc = s->threads[t].pc;
    mz_model_refresh(s, t);
}

/* The view. */

static bool is_enabled(const struct mz_model_explorer *s, int t)
{
    uint8_t op = s->view.pending[t].op;
    if (s->view.waiting & mz_model_bit(t)) return mz_model_timed(mz_model_op_of(s, t));
    return op != MZ_OP_NONE && (!mz_op_in(MZ_OPS_BLOCK, op) || is_as_needed(s, t));
}

void mz_model_update_view(struct mz_model_explorer *s)
{
    s->view.enabled = s->view.waiting = 0;
    for (int t = 0; t < s->m->thread_count; t++) {
        if (!(s->view.alive & mz_model_bit(t))) continue;
        if (s->threads[t].phase == MZ_SLEEPING) s->view.waiting |= mz_model_bit(t);
        if (is_enabled(s, t)) s->view.enabled |= mz_model_bit(t);
        const struct mz_model_op *op = mz_model_op_of(s, t);
        if (mz_ops[s->view.pending[t].op].object == MZ_OBJECT_CHANNEL) {
            const struct mz_model_queue *q = &s->queues[op->object][op->mutex];
            s->view.pending[t].expected =
                mz_message(op->mutex, op->code == MZ_MODEL_SEND ? q->sent : q->taken);
        }
        if (s->view.pending[t].op != MZ_OP_SIGNAL) continue;
        uint8_t waiters = s->waiters[mz_model_kind_of(op->code)][op->object];
        s->view.pending[t].choices = waiters ? waiters : 1;
    }
}
