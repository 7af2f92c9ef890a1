/* The oracle's interpreter: which events are enabled, what each event does, and the happens-before relation.
 * See machine.h and machine_state.h. */
#include "machine_state.h"

#define ANY_MEMORY (MZ_MODEL_KINDS * 16) /* the object of a section */

/* Returns the object of the event as one number: kind * 16 + object. A choose has no object. */
int mz_machine_object(const struct mz_machine *k, const struct mz_machine_state *s, int thread)
{
    const struct mz_model_op *op = current(k, s, thread);
    switch (s->threads[thread].mode) {
    case UNLOCK:
    case UNLOCK_WOKEN:
    case RELOCK:
    case RELOCK_LATE:
        return MZ_MODEL_MUTEX * 16 + op->mutex;
    default:
        if (op->code == MZ_MODEL_SECTION) return ANY_MEMORY;
        return op->code == MZ_MODEL_CHOOSE || op->code == MZ_MODEL_AWAIT
                   ? -1
                   : (int)mz_model_kind_of(op->code) * 16 + op->object;
    }
}

static bool is_variable(int object) { return object >= 0 && object / 16 == MZ_MODEL_VAR; }

bool mz_machine_apart(int object, int other)
{
    if (object == ANY_MEMORY && is_variable(other)) return false;
    if (other == ANY_MEMORY && is_variable(object)) return false;
    return object < 0 || object != other;
}

static enum mz_use use_of_rwlock(const struct mz_machine *k, const struct mz_machine_state *s, int t)
{
    const struct mz_model_op *op = current(k, s, t);
    enum mz_use as_reader = k->m->initial[MZ_MODEL_RWLOCK][op->object] ? MZ_USE_WRITE : MZ_USE_SHARE;
    switch (op->code) {
    case MZ_MODEL_RDLOCK:
        return as_reader;
    case MZ_MODEL_RWUNLOCK:
        return s->threads[t].held[op->object] ? as_reader : MZ_USE_WRITE;
    case MZ_MODEL_TRYRDLOCK:
        return free_for(s, op->object, false) ? as_reader : MZ_USE_READ;
    case MZ_MODEL_TRYWRLOCK:
        return free_for(s, op->object, true) ? MZ_USE_WRITE : MZ_USE_READ;
    default:
        return MZ_USE_WRITE; /* WRLOCK, its claim too */
    }
}

enum mz_use mz_machine_use(const struct mz_machine *k, const struct mz_machine_state *s, int thread)
{
    const struct mz_model_op *op = current(k, s, thread);
    bool reads;
    if (s->threads[thread].mode == SLEEP) return MZ_USE_READ; /* the timeout */
    if (s->threads[thread].mode != OP) return MZ_USE_WRITE;
    switch (op->code) {
    case MZ_MODEL_READ:
    case MZ_MODEL_SEM_VALUE:
    case MZ_MODEL_AWAIT:
    case MZ_MODEL_RECEIVE:
    case MZ_MODEL_TRY_RECEIVE:
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
    case MZ_MODEL_FUTEX_WAIT:
    case MZ_MODEL_FUTEX_TIMEDWAIT:
        reads = true;
        break;
    case MZ_MODEL_BUMP:
        return MZ_USE_SHARE;
    case MZ_MODEL_CAS:
        reads = !k->sections && s->objects[MZ_MODEL_VAR][op->object].content != operand(s, thread, &op->a);
        break;
    case MZ_MODEL_TRYLOCK:
        reads = s->objects[MZ_MODEL_MUTEX][op->object].content != 0;
        break;
    case MZ_MODEL_SEM_TRY:
        reads = s->objects[MZ_MODEL_SEM][op->object].content == 0;
        break;
    case MZ_MODEL_ONCE:
        reads = s->objects[MZ_MODEL_ONCES][op->object].content < 0;
        break;
    default:
        if (mz_model_kind_of(op->code) == MZ_MODEL_RWLOCK) return use_of_rwlock(k, s, thread);
        reads = false;
    }
    return reads ? MZ_USE_READ : MZ_USE_WRITE;
}

int mz_machine_next(const struct mz_machine_state *s, int thread)
{
    int mode = s->threads[thread].mode;
    if (mode == UNLOCK_WOKEN)
        mode = UNLOCK; /* the signal changes what comes after the unlock, not the unlock */
    return s->threads[thread].pc * 16 + mode;
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Returns the clock of an event on an object. */
static mz_lanes order_on(const struct mz_machine *k, struct mz_machine_state *s, int t, int where)
{
    struct mz_state_object *o = &s->objects[where / 16][where % 16];
    enum mz_use use = mz_machine_use(k, s, t);
    mz_lanes clock = join(s->threads[t].clock, o->writes);
    if (use != MZ_USE_READ) clock = join(clock, o->reads);
    if (use != MZ_USE_SHARE) clock = join(clock, o->shares);
    if (is_variable(where)) clock = join(clock, s->sections);
    clock += (mz_lanes)1 << 8 * t;
    mz_lanes *known = use == MZ_USE_READ ? &o->reads : use == MZ_USE_SHARE ? &o->shares : &o->writes;
    *known = join(*known, clock);
    if (is_variable(where)) s->memory = join(s->memory, clock);
    return clock;
}

/* Adds the event to the canonical form and to the happens-before relation. */
static void order(struct mz_machine *k, struct mz_machine_state *s, int t, int choice)
{
    int where = mz_machine_object(k, s, t);
    mz_lanes clock = s->threads[t].clock;
    const struct mz_model_op *op = current(k, s, t);
    bool waits = s->threads[t].mode == OP && (op->code == MZ_MODEL_AWAIT || on_channel(op));
    if (waits) {
        clock = mz_machine_order_wait(s, t, op);
    } else if (where == ANY_MEMORY) {
        mz_lanes before = join(s->memory, s->sections);
        feature_if(k, join(before, clock) != clock, MZ_FEATURE_SECTION_MEETS);
        clock = join(before, clock) + ((mz_lanes)1 << 8 * t);
        s->sections = join(s->sections, clock);
    } else if (where >= 0) {
        clock = order_on(k, s, t, where);
    } else {
        clock += (mz_lanes)1 << 8 * t;
    }
    s->threads[t].clock = s->last = clock;
    uint64_t label = (uint64_t)t * 64 + (uint64_t)choice + 1;
    s->form.a += scramble(clock + scramble(label));
    s->form.b += scramble((clock ^ 0x5851f42d4c957f2du) * 3 + scramble(label * 0x9e3779b97f4a7c15u));
}

static void acquire(struct mz_machine *k, struct mz_machine_state *s, int t, int mutex)
{
    for (int i = 0; i < k->m->object_count[MZ_MODEL_MUTEX]; i++)
        feature_if(k, owns(s, t, i), MZ_FEATURE_NESTED_LOCK);
    s->objects[MZ_MODEL_MUTEX][mutex].content = (int16_t)(t + 1);
}

/* Wakes a thread. Returns the set of threads that have local code to run: a thread that waited on a futex. */
static unsigned wake(struct mz_machine *k, struct mz_machine_state *s, int t, int sleeper)
{
    struct mz_state_thread *other = &s->threads[sleeper];
    const struct mz_model_op *op = current(k, s, sleeper);
    bool futex = mz_model_kind_of(op->code) == MZ_MODEL_VAR;
    feature_if(k, other->mode == UNLOCK, MZ_FEATURE_EARLY_WAKE);
    feature_if(k, timed(op), MZ_FEATURE_TIMED_WOKEN);
    feature_if(k, futex, MZ_FEATURE_FUTEX_WOKEN);
    if (other->mode == UNLOCK) {
        other->mode = UNLOCK_WOKEN; /* the signal comes before the lock, not before the unlock */
        other->signal = s->threads[t].clock;
        return 0;
    }
    other->clock = join(other->clock, s->threads[t].clock);
    other->mode = RELOCK;
    if (!futex) return 0;
    store(s, sleeper, op->result, 1);
    other->mode = OP;
    other->pc++;
    return 1u << sleeper;
}

static unsigned notify(struct mz_machine *k, struct mz_machine_state *s, int t, int choice)
{
    const struct mz_model_op *op = current(k, s, t);
    struct mz_state_object *c = &s->objects[mz_model_kind_of(op->code)][op->object];
    unsigned waiters = c->waiters, woken = 0;
    bool all = op->code == MZ_MODEL_BROADCAST || op->code == MZ_MODEL_FUTEX_WAKE_ALL;
    feature_if(k, !all && !waiters, MZ_FEATURE_LOST_SIGNAL);
    feature_if(k, !all && waiters, MZ_FEATURE_SIGNAL_WAKES);
    feature_if(k, waiters & (waiters - 1), all ? MZ_FEATURE_BROADCAST_MANY : MZ_FEATURE_SIGNAL_CHOICE);
    if (!all) waiters &= 1u << choice;
    c->waiters &= (uint8_t)~waiters;
    for (; waiters; waiters &= waiters - 1) woken |= wake(k, s, t, __builtin_ctz(waiters));
    return woken;
}

/* Returns true when the operation is over. */
static bool lock_or_unlock(struct mz_machine *k, struct mz_machine_state *s, int t, bool failed)
{
    const struct mz_model_op *op = current(k, s, t);
    struct mz_state_thread *self = &s->threads[t];
    struct mz_state_object *o = &s->objects[MZ_MODEL_RWLOCK][op->object];
    switch (op->code) {
    case MZ_MODEL_RWUNLOCK:
        if (self->held[op->object])
            self->held[op->object]--;
        else
            o->content = 0;
        return true;
    case MZ_MODEL_WRLOCK:
        if (k->m->initial[MZ_MODEL_RWLOCK][op->object] && self->mode == OP) {
            o->claims++;
            self->mode = CLAIMED;
            return false;
        }
        if (self->mode == CLAIMED) o->claims--;
        self->mode = OP;
        o->content = (int16_t)(t + 1);
        return true;
    case MZ_MODEL_TRYWRLOCK:
        feature_if(k, failed, MZ_FEATURE_FAILED_TRYWRLOCK);
        if (!failed) o->content = (int16_t)(t + 1);
        break;
    default: /* RDLOCK, TRYRDLOCK */
        feature_if(k, failed, MZ_FEATURE_FAILED_TRYRDLOCK);
        feature_if(k, !failed && as_readers(s, op->object), MZ_FEATURE_READERS);
        if (!failed) self->held[op->object]++;
    }
    store(s, t, op->result, !failed);
    return true;
}

static void change(struct mz_machine_state *s, int t, const struct mz_model_op *op, bool failed)
{
    struct mz_state_object *v = &s->objects[MZ_MODEL_VAR][op->object];
    int old = v->content, a = operand(s, t, &op->a), b = operand(s, t, &op->b);
    switch (op->code) {
    case MZ_MODEL_WRITE:
        v->content = (int16_t)a;
        return;
    case MZ_MODEL_ADD:
        v->content = (int16_t)(old + a);
        break;
    case MZ_MODEL_BUMP:
        v->content = (int16_t)(old + a);
        return;
    case MZ_MODEL_XCHG:
        v->content = (int16_t)a;
        break;
    case MZ_MODEL_CAS:
        if (!failed) v->content = (int16_t)b;
        store(s, t, op->result, !failed);
        return;
    default:
        break; /* READ */
    }
    store(s, t, op->result, old);
}

static bool as_expected(const struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    return s->objects[MZ_MODEL_VAR][op->object].content == operand(s, t, &op->a);
}

/* Runs the whole section; pc is left at its last operation. */
static void run_section(struct mz_machine *k, struct mz_machine_state *s, int t)
{
    struct mz_state_thread *self = &s->threads[t];
    unsigned none = 0;
    feature(k, MZ_FEATURE_SECTION);
    for (self->pc++; self->pc < k->m->threads[t].length;) {
        const struct mz_model_op *op = current(k, s, t);
        bool access = op->code == MZ_MODEL_READ || op->code == MZ_MODEL_WRITE || op->code == MZ_MODEL_ADD ||
                      op->code == MZ_MODEL_XCHG || op->code == MZ_MODEL_CAS;
        bool local = op->code == MZ_MODEL_LET || op->code == MZ_MODEL_IF || op->code == MZ_MODEL_ASSERT;
        if (access) change(s, t, op, op->code == MZ_MODEL_CAS && !as_expected(s, t, op));
        if (access)
            self->pc++;
        else if (!local || !mz_machine_local(k, s, t, &none))
            break;
    }
    self->pc--;
}

/* Performs a futex_wait. Returns true when it is over. */
static bool look(struct mz_machine *k, struct mz_machine_state *s, int t)
{
    const struct mz_model_op *op = current(k, s, t);
    struct mz_state_object *v = &s->objects[MZ_MODEL_VAR][op->object];
    bool waits = v->content == operand(s, t, &op->a);
    feature(k, waits ? MZ_FEATURE_FUTEX_WAITS : MZ_FEATURE_FUTEX_GOES_ON);
    if (waits) {
        v->waiters |= (uint8_t)(1u << t);
        s->threads[t].mode = SLEEP;
    } else {
        store(s, t, op->result, 0);
    }
    return !waits;
}

/* Performs the event of a thread at the start of an operation, unless the event notifies. Returns true when
 * the operation is over. failed: the event only reads. */
static bool perform(struct mz_machine *k, struct mz_machine_state *s, int t, int choice, bool failed)
{
    const struct mz_model_op *op = current(k, s, t);
    switch (op->code) {
    case MZ_MODEL_LOCK:
        acquire(k, s, t, op->object);
        return true;
    case MZ_MODEL_TRYLOCK:
        feature_if(k, failed, MZ_FEATURE_FAILED_TRYLOCK);
        if (!failed) acquire(k, s, t, op->object);
        store(s, t, op->result, !failed);
        return true;
    case MZ_MODEL_UNLOCK:
        feature(k, MZ_FEATURE_VISIBLE_UNLOCK);
        s->objects[MZ_MODEL_MUTEX][op->object].content = 0;
        return true;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
        feature(k, MZ_FEATURE_WAIT);
        s->objects[MZ_MODEL_COND][op->object].waiters |= (uint8_t)(1u << t);
        s->threads[t].mode = k->tried & 1u << op->mutex ? UNLOCK : SLEEP;
        if (s->threads[t].mode == SLEEP) mz_machine_local_unlock(s, t, op->mutex);
        return false;
    case MZ_MODEL_FUTEX_WAIT:
    case MZ_MODEL_FUTEX_TIMEDWAIT:
        return look(k, s, t);
    case MZ_MODEL_ONCE:
        s->objects[MZ_MODEL_ONCES][op->object].content = (int16_t)(failed ? -1 : t + 1);
        feature_if(k, failed, MZ_FEATURE_ONCE_DONE);
        if (failed) s->threads[t].pc = (uint8_t)(op->target - 1);
        return true;
    case MZ_MODEL_SEM_VALUE:
        store(s, t, op->result, s->objects[MZ_MODEL_SEM][op->object].content);
        return true;
    case MZ_MODEL_SEM_TRY:
        feature_if(k, failed, MZ_FEATURE_FAILED_SEM_TRY);
        if (!failed) s->objects[MZ_MODEL_SEM][op->object].content--;
        store(s, t, op->result, !failed);
        return true;
    case MZ_MODEL_SEM_WAIT:
        s->objects[MZ_MODEL_SEM][op->object].content--;
        return true;
    case MZ_MODEL_SEM_POST:
        s->objects[MZ_MODEL_SEM][op->object].content++;
        return true;
    case MZ_MODEL_AWAIT:
        feature(k, MZ_FEATURE_AWAIT);
        return true;
    case MZ_MODEL_SEND:
    case MZ_MODEL_RECEIVE:
    case MZ_MODEL_TRY_RECEIVE:
        mz_machine_channel(k, s, t, op);
        return true;
    case MZ_MODEL_SECTION:
        run_section(k, s, t);
        return true;
    case MZ_MODEL_CHOOSE:
        feature(k, MZ_FEATURE_CHOOSE);
        store(s, t, op->result, choice);
        return true;
    default:
        if (mz_model_kind_of(op->code) == MZ_MODEL_RWLOCK) return lock_or_unlock(k, s, t, failed);
        feature_if(k, op->code == MZ_MODEL_BUMP, MZ_FEATURE_BUMP);
        failed = op->code == MZ_MODEL_CAS && !as_expected(s, t, op);
        feature_if(k, failed, MZ_FEATURE_FAILED_CAS);
        change(s, t, op, failed);
        return true;
    }
}

/* Performs the thread's timeout. Returns true when the operation is over. */
static bool give_up(struct mz_machine *k, struct mz_machine_state *s, int t)
{
    const struct mz_model_op *op = current(k, s, t);
    bool futex = mz_model_kind_of(op->code) == MZ_MODEL_VAR;
    feature(k, MZ_FEATURE_TIMEOUT);
    s->objects[mz_model_kind_of(op->code)][op->object].waiters &= (uint8_t) ~(1u << t);
    s->threads[t].mode = futex ? OP : RELOCK_LATE;
    if (futex) store(s, t, op->result, 2);
    return futex;
}

/* Performs the later events of an operation. Returns true when the operation is over. */
static bool perform_later(struct mz_machine *k, struct mz_machine_state *s, int t)
{
    struct mz_state_thread *self = &s->threads[t];
    int mutex = current(k, s, t)->mutex;
    switch (self->mode) {
    case CLAIMED:
        return lock_or_unlock(k, s, t, false);
    case SLEEP:
        return give_up(k, s, t);
    case UNLOCK:
        s->objects[MZ_MODEL_MUTEX][mutex].content = 0;
        self->mode = SLEEP;
        return false;
    case UNLOCK_WOKEN:
        s->objects[MZ_MODEL_MUTEX][mutex].content = 0;
        self->clock = join(self->clock, self->signal);
        self->signal = 0;
        self->mode = RELOCK;
        return false;
    default: /* RELOCK, RELOCK_LATE */
        acquire(k, s, t, mutex);
        store(s, t, current(k, s, t)->result, self->mode == RELOCK);
        self->mode = OP;
        return true;
    }
}

static bool notifies(uint8_t code)
{
    return code == MZ_MODEL_SIGNAL || code == MZ_MODEL_BROADCAST || code == MZ_MODEL_FUTEX_WAKE ||
           code == MZ_MODEL_FUTEX_WAKE_ALL;
}

void mz_machine_step(struct mz_machine *k, struct mz_machine_state *s, int thread, int choice)
{
    bool failed = mz_machine_use(k, s, thread) == MZ_USE_READ, over = true;
    unsigned woken = 0;
    order(k, s, thread, choice);
    if (s->threads[thread].mode != OP)
        over = perform_later(k, s, thread);
    else if (notifies(current(k, s, thread)->code))
        woken = notify(k, s, thread, choice);
    else
        over = perform(k, s, thread, choice, failed);
    if (!over) return;
    s->threads[thread].pc++;
    mz_machine_run_local(k, s, woken | 1u << thread);
}

static bool mutex_free(struct mz_machine *k, const struct mz_machine_state *s, int t, int mutex)
{
    int owner = s->objects[MZ_MODEL_MUTEX][mutex].content;
    feature_if(k, owner && owner != t + 1, MZ_FEATURE_CONTENTION);
    feature_if(k, owner == t + 1, MZ_FEATURE_SELF_LOCK);
    return owner == 0;
}

static unsigned rwlock_choices(struct mz_machine *k, const struct mz_machine_state *s, int t)
{
    const struct mz_model_op *op = current(k, s, t);
    const struct mz_state_object *o = &s->objects[MZ_MODEL_RWLOCK][op->object];
    if (op->code == MZ_MODEL_WRLOCK) {
        feature_if(k, as_readers(s, op->object), MZ_FEATURE_WRITER_WAITS);
        if (k->m->initial[MZ_MODEL_RWLOCK][op->object] && s->threads[t].mode == OP) return 1; /* the claim */
        return free_for(s, op->object, true);
    }
    if (op->code != MZ_MODEL_RDLOCK) return 1;
    feature_if(k, o->content != 0, MZ_FEATURE_READER_WAITS);
    feature_if(k, o->claims != 0 && !o->content, MZ_FEATURE_CLAIM_WAITS);
    return free_for(s, op->object, false);
}

unsigned mz_machine_choices(struct mz_machine *k, const struct mz_machine_state *s, int thread)
{
    uint8_t mode = s->threads[thread].mode;
    const struct mz_model_op *op = current(k, s, thread);
    if (mode == UNLOCK || mode == UNLOCK_WOKEN) return 1;
    if (mode == SLEEP) return timed(op);
    if (mode == CLAIMED) return rwlock_choices(k, s, thread);
    if (mode == RELOCK || mode == RELOCK_LATE) return mutex_free(k, s, thread, op->mutex);
    if (mode != OP) return 0;
    switch (op->code) {
    case MZ_MODEL_LOCK:
        return mutex_free(k, s, thread, op->object);
    case MZ_MODEL_SEM_WAIT:
        feature_if(k, s->objects[MZ_MODEL_SEM][op->object].content == 0, MZ_FEATURE_SEM_BLOCKS);
        return s->objects[MZ_MODEL_SEM][op->object].content > 0;
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_FUTEX_WAKE: {
        unsigned waiters = s->objects[mz_model_kind_of(op->code)][op->object].waiters;
        return waiters ? waiters : 1;
    }
    case MZ_MODEL_ONCE:
        feature_if(k, s->objects[MZ_MODEL_ONCES][op->object].content > 0, MZ_FEATURE_ONCE_WAITS);
        return s->objects[MZ_MODEL_ONCES][op->object].content <= 0;
    case MZ_MODEL_AWAIT:
        feature_if(k, !mz_machine_condition(s, thread, op), MZ_FEATURE_AWAIT_WAITS);
        return mz_machine_condition(s, thread, op);
    case MZ_MODEL_RECEIVE:
        feature_if(k, mz_machine_message(s, op) < 0, MZ_FEATURE_RECEIVE_WAITS);
        return mz_machine_message(s, op) >= 0;
    case MZ_MODEL_CHOOSE:
        return (1u << op->a.value) - 1;
    default:
        return mz_model_kind_of(op->code) == MZ_MODEL_RWLOCK ? rwlock_choices(k, s, thread) : 1;
    }
}
