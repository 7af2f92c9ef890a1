/* The oracle's interpreter: local code, start and end. See machine.h and machine_state.h. */
#include <string.h>
#include "machine_state.h"

/* Local code. `todo` is the set of threads that have some to run. */

void mz_machine_local_unlock(struct mz_machine_state *s, int t, int mutex)
{
    struct mz_state_object *o = &s->objects[MZ_MODEL_MUTEX][mutex];
    o->content = 0;
    o->writes = join(o->writes, s->threads[t].clock); /* comes before the next lock */
}

static void end_once(struct mz_machine_state *s, int t, int once)
{
    struct mz_state_object *o = &s->objects[MZ_MODEL_ONCES][once];
    if (o->content != t + 1) return;
    o->content = -1;
    o->writes = join(o->writes, s->threads[t].clock);
}

static unsigned finish(const struct mz_machine *k, struct mz_machine_state *s, int t)
{
    unsigned freed = 0;
    s->threads[t].mode = DONE;
    for (int j = 0; j < k->m->thread_count; j++)
        if (s->threads[j].mode == JOIN && current(k, s, j)->object == t) freed |= 1u << j;
    return freed;
}

static bool join_thread(struct mz_machine *k, struct mz_machine_state *s, int t, int other)
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

bool mz_machine_local(struct mz_machine *k, struct mz_machine_state *s, int t, unsigned *todo)
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
        mz_machine_local_unlock(s, t, op->object);
        break;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
        if (owns(s, t, op->mutex)) return false;
        break;
    case MZ_MODEL_RWUNLOCK:
        if (self->held[op->object] || s->objects[MZ_MODEL_RWLOCK][op->object].content == t + 1) return false;
        break;
    case MZ_MODEL_ONCE_END:
        end_once(s, t, op->object);
        break;
    case MZ_MODEL_SECTION_END:
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

void mz_machine_run_local(struct mz_machine *k, struct mz_machine_state *s, unsigned todo)
{
    while (todo) {
        int t = __builtin_ctz(todo);
        todo &= todo - 1;
        while (s->threads[t].pc < k->m->threads[t].length && mz_machine_local(k, s, t, &todo)) {
        }
        if (s->threads[t].pc == k->m->threads[t].length) todo |= finish(k, s, t);
    }
}

/* Start and end. */

void mz_machine_init(struct mz_machine *k, const struct mz_model *m, bool sections)
{
    *k = (struct mz_machine){
        .m = m, .from_start = (uint8_t)((1u << m->thread_count) - 1), .sections = sections};
    for (int t = 0; t < m->thread_count; t++)
        for (const struct mz_model_op *op = m->threads[t].ops; op < m->threads[t].ops + m->threads[t].length;
             op++) {
            if (op->code == MZ_MODEL_TRYLOCK) k->tried |= (uint8_t)(1u << op->object);
            if (op->code == MZ_MODEL_SPAWN) k->from_start &= (uint8_t) ~(1u << op->object);
        }
}

void mz_machine_start(struct mz_machine *k, struct mz_machine_state *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
        s->objects[MZ_MODEL_VAR][i].content = k->m->initial[MZ_MODEL_VAR][i];
        s->objects[MZ_MODEL_SEM][i].content = k->m->initial[MZ_MODEL_SEM][i];
    }
    for (int t = 0; t < k->m->thread_count; t++)
        if (k->from_start & 1u << t) s->threads[t].mode = OP;
    mz_machine_run_local(k, s, k->from_start);
}

static enum mz_model_status status_of(const struct mz_machine *k, const struct mz_machine_state *s, int t)
{
    static const uint8_t of_mode[] = {
        [ABSENT] = MZ_MODEL_ABSENT,       [UNLOCK] = MZ_MODEL_READY,       [UNLOCK_WOKEN] = MZ_MODEL_READY,
        [SLEEP] = MZ_MODEL_WAITING,       [RELOCK] = MZ_MODEL_LOCKING,     [JOIN] = MZ_MODEL_JOINING,
        [RELOCK_LATE] = MZ_MODEL_LOCKING, [CLAIMED] = MZ_MODEL_WR_LOCKING, [DONE] = MZ_MODEL_FINISHED,
        [FAILED] = MZ_MODEL_FAILED,
    };
    if (s->threads[t].mode != OP) return (enum mz_model_status)of_mode[s->threads[t].mode];
    switch (current(k, s, t)->code) {
    case MZ_MODEL_LOCK:
        return MZ_MODEL_LOCKING;
    case MZ_MODEL_SEM_WAIT:
        return MZ_MODEL_SEM_WAITING;
    case MZ_MODEL_RDLOCK:
        return MZ_MODEL_RD_LOCKING;
    case MZ_MODEL_WRLOCK:
        return MZ_MODEL_WR_LOCKING;
    case MZ_MODEL_ONCE:
        return MZ_MODEL_ONCE_WAITING;
    case MZ_MODEL_AWAIT:
        return MZ_MODEL_AWAITING;
    case MZ_MODEL_RECEIVE:
        return MZ_MODEL_RECEIVING;
    default:
        return MZ_MODEL_READY;
    }
}

void mz_machine_outcome(const struct mz_machine *k, const struct mz_machine_state *s,
                        struct mz_model_outcome *o)
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

uint64_t mz_machine_check(const struct mz_machine *k, const struct mz_machine_state *s)
{
    uint64_t h = fold(s->memory, s->sections), regs, held;
    _Static_assert(sizeof held == sizeof s->threads[0].held, "so are the locks it holds");
    _Static_assert(sizeof regs == sizeof s->threads[0].regs, "the registers of a thread are one word");
    for (int t = 0; t < k->m->thread_count; t++) {
        const struct mz_state_thread *x = &s->threads[t];
        memcpy(&regs, x->regs, sizeof regs);
        memcpy(&held, x->held, sizeof held);
        h = fold(fold(fold(fold(h, x->clock), x->signal), 256u * x->pc + x->mode), regs);
        h = fold(h, held);
    }
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = 0; i < k->m->object_count[kind]; i++) {
            const struct mz_state_object *o = &s->objects[kind][i];
            h = fold(fold(fold(h, o->reads), o->shares), o->writes);
            h = fold(h, (uint16_t)o->content | (uint64_t)o->waiters << 16 | (uint64_t)o->claims << 24);
        }
    for (int i = 0; i < k->m->object_count[MZ_MODEL_CHAN]; i++)
        for (int tag = 0; tag < MZ_MODEL_TAGS; tag++) {
            h = fold(h, s->missed[i][tag]);
            for (int j = 0; j < s->message_count; j++) {
                const struct mz_state_message *m = &s->messages[j];
                if (m->channel != i || m->tag != tag) continue;
                h = fold(fold(h, m->clock), (uint16_t)m->value | (uint64_t)m->taken << 16);
            }
        }
    return h;
}
