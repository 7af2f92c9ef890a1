/* The oracle's interpreter, see machine.h.
 *
 * A thread's mode says what it is about to do; pc is its operation:
 *
 *   OP     the operation at pc, not looked at yet (only within a step) or an event
 *   UNLOCK, UNLOCK_WOKEN, SLEEP, RELOCK    inside the wait at pc
 *   ABSENT, JOIN (waits for the thread of the join at pc), DONE, FAILED
 */
#include <string.h>
#include "machine.h"

enum mode { ABSENT, OP, UNLOCK, UNLOCK_WOKEN, SLEEP, RELOCK, JOIN, DONE, FAILED };

#define HIGH 0x8080808080808080u

/* The larger of each pair of bytes; all are below 128. */
static mz_lanes join(mz_lanes a, mz_lanes b)
{
    uint64_t larger = ((a | HIGH) - b) & HIGH;
    uint64_t mask = (larger >> 7) * 0xff;
    return (a & mask) | (b & ~mask);
}

static void feature(struct mz_machine *k, enum mz_feature f) { k->features |= (uint64_t)1 << f; }
static void feature_if(struct mz_machine *k, bool holds, enum mz_feature f)
{
    k->features |= (uint64_t)holds << f;
}

static const struct mz_model_op *current(const struct mz_machine *k, const struct mz_state *s, int t)
{
    return &k->m->threads[t].ops[s->threads[t].pc];
}

static int operand(const struct mz_state *s, int t, const struct mz_model_operand *o)
{
    return o->is_register ? s->threads[t].regs[o->value] : o->value;
}

static bool compare(const struct mz_state *s, int t, const struct mz_model_op *op)
{
    int difference = operand(s, t, &op->a) - operand(s, t, &op->b);
    const bool answers[] = {difference == 0, difference != 0, difference<0, difference> 0};
    return answers[op->relation];
}

static void store(struct mz_state *s, int t, int reg, int value)
{
    if (reg < MZ_MODEL_REGS) s->threads[t].regs[reg] = (mz_model_value)value;
}

static bool owns(const struct mz_state *s, int t, int mutex)
{
    return s->objects[MZ_MODEL_MUTEX][mutex].content == t + 1;
}

/* Local code. `todo` is the set of threads that have some to run. */

static void local_unlock(struct mz_state *s, int t, int mutex)
{
    struct mz_state_object *o = &s->objects[MZ_MODEL_MUTEX][mutex];
    o->content = 0;
    o->accesses = join(o->accesses, s->threads[t].clock); /* comes before the next lock */
}

static unsigned finish(const struct mz_machine *k, struct mz_state *s, int t)
{
    unsigned freed = 0;
    s->threads[t].mode = DONE;
    for (int j = 0; j < k->m->thread_count; j++)
        if (s->threads[j].mode == JOIN && current(k, s, j)->object == t) freed |= 1u << j;
    return freed;
}

static bool join_thread(struct mz_machine *k, struct mz_state *s, int t, int other)
{
    struct mz_state_thread *self = &s->threads[t];
    if (s->threads[other].mode != DONE) {
        feature(k, MZ_FEATURE_JOIN_WAITS);
        feature_if(k, s->threads[other].mode == ABSENT, MZ_FEATURE_JOIN_ABSENT);
        self->mode = JOIN;
        return false;
    }
    self->mode = OP;
    self->clock = join(self->clock, s->threads[other].clock);
    return true;
}

/* Runs the operation if it is local; false if the thread stops at it. */
static bool local(struct mz_machine *k, struct mz_state *s, int t, unsigned *todo)
{
    struct mz_state_thread *self = &s->threads[t];
    const struct mz_model_op *op = current(k, s, t);
    bool jump = false;
    switch (op->code) {
    case MZ_MODEL_SPAWN:
        feature(k, MZ_FEATURE_SPAWN);
        s->threads[op->object].clock = self->clock;
        s->threads[op->object].mode = OP;
        *todo |= 1u << op->object;
        break;
    case MZ_MODEL_JOIN:
        if (!join_thread(k, s, t, op->object)) return false;
        break;
    case MZ_MODEL_UNLOCK:
        feature_if(k, !owns(s, t, op->object), MZ_FEATURE_IDLE_UNLOCK);
        if (!owns(s, t, op->object)) break;
        if (k->tried & 1u << op->object) return false;
        local_unlock(s, t, op->object);
        break;
    case MZ_MODEL_WAIT:
        if (owns(s, t, op->mutex)) return false;
        break;
    case MZ_MODEL_ASSERT:
        feature(k, compare(s, t, op) ? MZ_FEATURE_ASSERT_HOLDS : MZ_FEATURE_ASSERT_FAILS);
        if (compare(s, t, op)) break;
        self->mode = FAILED;
        return false;
    case MZ_MODEL_LET: {
        int b = operand(s, t, &op->b);
        store(s, t, op->result, operand(s, t, &op->a) + (op->relation == MZ_MODEL_MINUS ? -b : b));
        break;
    }
    case MZ_MODEL_IF:
        jump = compare(s, t, op);
        feature(k, jump ? MZ_FEATURE_JUMP : MZ_FEATURE_NO_JUMP);
        break;
    default:
        return false;
    }
    self->pc = jump ? op->target : (uint8_t)(self->pc + 1);
    return true;
}

static void run_local(struct mz_machine *k, struct mz_state *s, unsigned todo)
{
    while (todo) {
        int t = __builtin_ctz(todo);
        todo &= todo - 1;
        while (s->threads[t].pc < k->m->threads[t].length && local(k, s, t, &todo)) {
        }
        if (s->threads[t].pc == k->m->threads[t].length) todo |= finish(k, s, t);
    }
}

/* Events. */

/* In one number: kind * 16 + object. A choose is on nothing. */
int mz_machine_object(const struct mz_machine *k, const struct mz_state *s, int thread)
{
    const struct mz_model_op *op = current(k, s, thread);
    if (s->threads[thread].mode != OP) return MZ_MODEL_MUTEX * 16 + op->mutex; /* inside a wait */
    switch (op->code) {
    case MZ_MODEL_LOCK:
    case MZ_MODEL_TRYLOCK:
    case MZ_MODEL_UNLOCK:
        return MZ_MODEL_MUTEX * 16 + op->object;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_BROADCAST:
        return MZ_MODEL_COND * 16 + op->object;
    case MZ_MODEL_SEM_WAIT:
    case MZ_MODEL_SEM_POST:
        return MZ_MODEL_SEM * 16 + op->object;
    case MZ_MODEL_CHOOSE:
        return -1;
    default:
        return MZ_MODEL_VAR * 16 + op->object;
    }
}

bool mz_machine_only_reads(const struct mz_machine *k, const struct mz_state *s, int thread)
{
    const struct mz_model_op *op = current(k, s, thread);
    if (s->threads[thread].mode != OP) return false;
    switch (op->code) {
    case MZ_MODEL_READ:
    case MZ_MODEL_WAIT:
        return true;
    case MZ_MODEL_CAS:
        return s->objects[MZ_MODEL_VAR][op->object].content != operand(s, thread, &op->a);
    case MZ_MODEL_TRYLOCK:
        return s->objects[MZ_MODEL_MUTEX][op->object].content != 0;
    default:
        return false;
    }
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The event joins the form, and the happens-before relation. */
static void order(const struct mz_machine *k, struct mz_state *s, int t, int choice)
{
    int where = mz_machine_object(k, s, t);
    mz_lanes clock = s->threads[t].clock;
    if (where >= 0) {
        struct mz_state_object *o = &s->objects[where / 16][where % 16];
        bool reads = mz_machine_only_reads(k, s, t);
        clock = join(clock, reads ? o->writes : o->accesses) + ((mz_lanes)1 << 8 * t);
        o->accesses = join(o->accesses, clock);
        if (!reads) o->writes = clock;
    } else {
        clock += (mz_lanes)1 << 8 * t;
    }
    s->threads[t].clock = s->last = clock;
    uint64_t label = (uint64_t)(t * 64 + choice + 1);
    s->form.a += scramble(clock + scramble(label));
    s->form.b += scramble((clock ^ 0x5851f42d4c957f2du) * 3 + scramble(label * 0x9e3779b97f4a7c15u));
}

static void acquire(struct mz_machine *k, struct mz_state *s, int t, int mutex)
{
    for (int i = 0; i < k->m->object_count[MZ_MODEL_MUTEX]; i++)
        feature_if(k, owns(s, t, i), MZ_FEATURE_NESTED_LOCK);
    s->objects[MZ_MODEL_MUTEX][mutex].content = (int16_t)(t + 1);
}

static void wake(struct mz_machine *k, struct mz_state *s, int t, int sleeper)
{
    struct mz_state_thread *other = &s->threads[sleeper];
    feature_if(k, other->mode == UNLOCK, MZ_FEATURE_EARLY_WAKE);
    if (other->mode == UNLOCK) {
        other->mode = UNLOCK_WOKEN; /* the signal comes before the lock, not before the unlock */
        other->signal = s->threads[t].clock;
    } else {
        other->mode = RELOCK;
        other->clock = join(other->clock, s->threads[t].clock);
    }
}

static void notify(struct mz_machine *k, struct mz_state *s, int t, const struct mz_model_op *op, int choice)
{
    struct mz_state_object *c = &s->objects[MZ_MODEL_COND][op->object];
    unsigned waiters = (unsigned)c->content;
    bool all = op->code == MZ_MODEL_BROADCAST;
    feature_if(k, !all && !waiters, MZ_FEATURE_LOST_SIGNAL);
    feature_if(k, !all && waiters, MZ_FEATURE_SIGNAL_WAKES);
    feature_if(k, waiters & (waiters - 1), all ? MZ_FEATURE_BROADCAST_MANY : MZ_FEATURE_SIGNAL_CHOICE);
    if (!all) waiters &= 1u << choice;
    c->content = (int16_t)((unsigned)c->content & ~waiters);
    for (; waiters; waiters &= waiters - 1) wake(k, s, t, __builtin_ctz(waiters));
}

static void change(struct mz_state *s, int t, const struct mz_model_op *op, bool failed)
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

/* The event of a thread at the start of an operation; true when the operation is over. */
static bool perform(struct mz_machine *k, struct mz_state *s, int t, int choice, bool failed)
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
        feature(k, MZ_FEATURE_WAIT);
        s->objects[MZ_MODEL_COND][op->object].content |= (int16_t)(1 << t);
        s->threads[t].mode = k->tried & 1u << op->mutex ? UNLOCK : SLEEP;
        if (s->threads[t].mode == SLEEP) local_unlock(s, t, op->mutex);
        return false;
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_BROADCAST:
        notify(k, s, t, op, choice);
        return true;
    case MZ_MODEL_SEM_WAIT:
        s->objects[MZ_MODEL_SEM][op->object].content--;
        return true;
    case MZ_MODEL_SEM_POST:
        s->objects[MZ_MODEL_SEM][op->object].content++;
        return true;
    case MZ_MODEL_CHOOSE:
        feature(k, MZ_FEATURE_CHOOSE);
        store(s, t, op->result, choice);
        return true;
    default:
        feature_if(k, failed, MZ_FEATURE_FAILED_CAS);
        change(s, t, op, failed);
        return true;
    }
}

/* The later events of a wait; true when the wait is over. */
static bool perform_wait(struct mz_machine *k, struct mz_state *s, int t)
{
    struct mz_state_thread *self = &s->threads[t];
    int mutex = current(k, s, t)->mutex;
    switch (self->mode) {
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
    default: /* RELOCK */
        acquire(k, s, t, mutex);
        self->mode = OP;
        return true;
    }
}

void mz_machine_step(struct mz_machine *k, struct mz_state *s, int thread, int choice)
{
    bool failed = current(k, s, thread)->code != MZ_MODEL_READ && mz_machine_only_reads(k, s, thread);
    order(k, s, thread, choice);
    bool over =
        s->threads[thread].mode == OP ? perform(k, s, thread, choice, failed) : perform_wait(k, s, thread);
    if (!over) return;
    s->threads[thread].pc++;
    run_local(k, s, 1u << thread);
}

static bool mutex_free(struct mz_machine *k, const struct mz_state *s, int t, int mutex)
{
    int owner = s->objects[MZ_MODEL_MUTEX][mutex].content;
    feature_if(k, owner && owner != t + 1, MZ_FEATURE_CONTENTION);
    feature_if(k, owner == t + 1, MZ_FEATURE_SELF_LOCK);
    return owner == 0;
}

unsigned mz_machine_choices(struct mz_machine *k, const struct mz_state *s, int thread)
{
    uint8_t mode = s->threads[thread].mode;
    const struct mz_model_op *op = current(k, s, thread);
    if (mode == UNLOCK || mode == UNLOCK_WOKEN) return 1;
    if (mode == RELOCK) return mutex_free(k, s, thread, op->mutex);
    if (mode != OP) return 0;
    switch (op->code) {
    case MZ_MODEL_LOCK:
        return mutex_free(k, s, thread, op->object);
    case MZ_MODEL_SEM_WAIT:
        feature_if(k, s->objects[MZ_MODEL_SEM][op->object].content == 0, MZ_FEATURE_SEM_BLOCKS);
        return s->objects[MZ_MODEL_SEM][op->object].content > 0;
    case MZ_MODEL_SIGNAL: {
        unsigned waiters = (unsigned)s->objects[MZ_MODEL_COND][op->object].content;
        return waiters ? waiters : 1;
    }
    case MZ_MODEL_CHOOSE:
        return (1u << op->a.value) - 1;
    default:
        return 1;
    }
}

/* Start and end. */

void mz_machine_init(struct mz_machine *k, const struct mz_model *m)
{
    *k = (struct mz_machine){.m = m, .from_start = (uint8_t)((1u << m->thread_count) - 1)};
    for (int t = 0; t < m->thread_count; t++)
        for (const struct mz_model_op *op = m->threads[t].ops; op < m->threads[t].ops + m->threads[t].length;
             op++) {
            if (op->code == MZ_MODEL_TRYLOCK) k->tried |= (uint8_t)(1u << op->object);
            if (op->code == MZ_MODEL_SPAWN) k->from_start &= (uint8_t) ~(1u << op->object);
        }
}

void mz_machine_start(struct mz_machine *k, struct mz_state *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
        s->objects[MZ_MODEL_VAR][i].content = k->m->initial[MZ_MODEL_VAR][i];
        s->objects[MZ_MODEL_SEM][i].content = k->m->initial[MZ_MODEL_SEM][i];
    }
    for (int t = 0; t < k->m->thread_count; t++)
        if (k->from_start & 1u << t) s->threads[t].mode = OP;
    run_local(k, s, k->from_start);
}

static enum mz_model_status status_of(const struct mz_machine *k, const struct mz_state *s, int t)
{
    static const uint8_t of_mode[] = {
        [ABSENT] = MZ_MODEL_ABSENT, [UNLOCK] = MZ_MODEL_READY,   [UNLOCK_WOKEN] = MZ_MODEL_READY,
        [SLEEP] = MZ_MODEL_WAITING, [RELOCK] = MZ_MODEL_LOCKING, [JOIN] = MZ_MODEL_JOINING,
        [DONE] = MZ_MODEL_FINISHED, [FAILED] = MZ_MODEL_FAILED,
    };
    if (s->threads[t].mode != OP) return (enum mz_model_status)of_mode[s->threads[t].mode];
    switch (current(k, s, t)->code) {
    case MZ_MODEL_LOCK:
        return MZ_MODEL_LOCKING;
    case MZ_MODEL_SEM_WAIT:
        return MZ_MODEL_SEM_WAITING;
    default:
        return MZ_MODEL_READY;
    }
}

void mz_machine_outcome(const struct mz_machine *k, const struct mz_state *s, struct mz_model_outcome *o)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++) o->vars[i] = s->objects[MZ_MODEL_VAR][i].content;
    for (int t = 0; t < k->m->thread_count; t++) {
        o->status[t] = (uint8_t)status_of(k, s, t);
        o->pc[t] = s->threads[t].pc;
        memcpy(o->regs[t], s->threads[t].regs, sizeof o->regs[t]);
        if (o->status[t] == MZ_MODEL_FAILED) o->failed |= (uint8_t)(1u << t);
        if (o->status[t] >= MZ_MODEL_LOCKING) o->blocked |= (uint8_t)(1u << t);
    }
}

static uint64_t fold(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9fb21c651e98df25u;
    return h ^ h >> 29;
}

uint64_t mz_machine_check(const struct mz_machine *k, const struct mz_state *s)
{
    uint64_t h = 0, regs;
    _Static_assert(sizeof regs == sizeof s->threads[0].regs, "the registers of a thread are one word");
    for (int t = 0; t < k->m->thread_count; t++) {
        const struct mz_state_thread *x = &s->threads[t];
        memcpy(&regs, x->regs, sizeof regs);
        h = fold(fold(fold(h, x->clock), x->signal + 256u * x->pc + x->mode), regs);
    }
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = 0; i < k->m->object_count[kind]; i++) {
            const struct mz_state_object *o = &s->objects[kind][i];
            h = fold(fold(fold(h, o->writes), o->accesses), (uint16_t)o->content);
        }
    return h;
}
