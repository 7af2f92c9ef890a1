/* Checks the invariants of a model (model.h), and answers questions about its operations. */
#include <stddef.h>
#include "model/model.h"

enum mz_model_kind mz_model_kind_of(uint8_t code)
{
    switch (code) {
    case MZ_MODEL_READ:
    case MZ_MODEL_WRITE:
    case MZ_MODEL_ADD:
    case MZ_MODEL_XCHG:
    case MZ_MODEL_CAS:
    case MZ_MODEL_FUTEX_WAIT:
    case MZ_MODEL_FUTEX_TIMEDWAIT:
    case MZ_MODEL_FUTEX_WAKE:
    case MZ_MODEL_FUTEX_WAKE_ALL:
    case MZ_MODEL_BUMP:
    case MZ_MODEL_AWAIT:
        return MZ_MODEL_VAR;
    case MZ_MODEL_LOCK:
    case MZ_MODEL_TRYLOCK:
    case MZ_MODEL_UNLOCK:
        return MZ_MODEL_MUTEX;
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
    case MZ_MODEL_SIGNAL:
    case MZ_MODEL_BROADCAST:
        return MZ_MODEL_COND;
    case MZ_MODEL_SEM_WAIT:
    case MZ_MODEL_SEM_POST:
    case MZ_MODEL_SEM_TRY:
    case MZ_MODEL_SEM_VALUE:
        return MZ_MODEL_SEM;
    case MZ_MODEL_RDLOCK:
    case MZ_MODEL_WRLOCK:
    case MZ_MODEL_TRYRDLOCK:
    case MZ_MODEL_TRYWRLOCK:
    case MZ_MODEL_RWUNLOCK:
        return MZ_MODEL_RWLOCK;
    case MZ_MODEL_ONCE:
    case MZ_MODEL_ONCE_END:
        return MZ_MODEL_ONCES;
    case MZ_MODEL_SEND:
    case MZ_MODEL_RECEIVE:
    case MZ_MODEL_TRY_RECEIVE:
        return MZ_MODEL_CHAN;
    default:
        return MZ_MODEL_KINDS;
    }
}

static const char *check_operand(const struct mz_model_operand *o)
{
    if (o->is_register && (o->value < 0 || o->value >= MZ_MODEL_REGS)) return "no such register";
    return NULL;
}

static const char *check_op(const struct mz_model *m, const struct mz_model_thread *t, int i)
{
    const struct mz_model_op *op = &t->ops[i];
    if (op->code >= MZ_MODEL_CODES) return "no such operation";
    enum mz_model_kind kind = mz_model_kind_of(op->code);
    if (kind != MZ_MODEL_KINDS && op->object >= m->object_count[kind]) return "no such object";
    if (mz_model_has_mutex(op->code) && op->mutex >= m->object_count[MZ_MODEL_MUTEX]) return "no such mutex";
    if ((op->code == MZ_MODEL_SPAWN || op->code == MZ_MODEL_JOIN) && op->object >= m->thread_count)
        return "no such thread";
    if (op->result > MZ_MODEL_NOWHERE) return "no such register";
    if (mz_model_jumps(op->code) && op->target > t->length) return "a jump out of its thread";
    if (op->code == MZ_MODEL_ONCE && op->target <= i) return "a run_once must jump forward";
    if (op->code == MZ_MODEL_CHOOSE && (op->a.value < 1 || op->a.value > MZ_MODEL_CHOICES))
        return "choose takes a number from 1 to 8";
    if (op->relation > MZ_MODEL_MINUS) return "no such relation";
    if (mz_model_is_joint(op) && op->mutex >= m->object_count[MZ_MODEL_VAR]) return "no such var";
    if (kind == MZ_MODEL_CHAN && op->mutex >= MZ_MODEL_TAGS) return "a tag is 0, 1 or 2";
    const char *wrong = check_operand(&op->a);
    return wrong ? wrong : check_operand(&op->b);
}

/* Loops. */

static int goes_back(const struct mz_model_thread *t, int i)
{
    return t->ops[i].code == MZ_MODEL_IF && t->ops[i].target <= i;
}

int mz_model_loops(const struct mz_model *m)
{
    for (int t = 0; t < m->thread_count; t++)
        for (int i = 0; i < m->threads[t].length; i++)
            if (goes_back(&m->threads[t], i)) return 1;
    return 0;
}

/* Can the operation happen without an event? */
static int may_be_local(uint8_t code)
{
    switch (code) {
    case MZ_MODEL_UNLOCK:
    case MZ_MODEL_RWUNLOCK:
    case MZ_MODEL_WAIT:
    case MZ_MODEL_TIMEDWAIT:
    case MZ_MODEL_ONCE_END:
    case MZ_MODEL_SECTION_END:
    case MZ_MODEL_SPAWN:
    case MZ_MODEL_JOIN:
    case MZ_MODEL_ASSERT:
    case MZ_MODEL_LET:
    case MZ_MODEL_IF:
        return 1;
    default:
        return 0;
    }
}

/* Returns the set of operations that can be reached from operation i without an event. */
static uint64_t reach(const struct mz_model_thread *t, int i)
{
    uint64_t found = 0, todo = (uint64_t)1 << i;
    while (todo) {
        int at = __builtin_ctzll(todo);
        uint64_t next = 0;
        todo &= todo - 1;
        if (at >= t->length || !may_be_local(t->ops[at].code)) continue;
        next = (uint64_t)1 << (at + 1);
        if (t->ops[at].code == MZ_MODEL_IF) next |= (uint64_t)1 << t->ops[at].target;
        todo |= next & ~found;
        found |= next;
    }
    return found;
}

static const char *check_loops(const struct mz_model_thread *t)
{
    for (int i = 0; i < t->length; i++) {
        if (!goes_back(t, i)) continue;
        if (reach(t, i) >> i & 1) return "a loop without an event";
        for (int j = 0; j < t->length; j++) {
            if (t->ops[j].code == MZ_MODEL_SECTION) return "a loop and an atomic section in one thread";
            if (t->ops[j].code == MZ_MODEL_SPAWN && j >= t->ops[i].target && j < i)
                return "a spawn in a loop";
            if (t->ops[j].code == MZ_MODEL_SEND && j >= t->ops[i].target && j < i) return "a send in a loop";
        }
    }
    return NULL;
}

/* M4 and M5 */
static const char *check_text(const struct mz_model *m)
{
    int sends = 0, awaits = 0, sections = 0, receiver[MZ_MODEL_OBJECTS] = {0};
    for (int t = 0; t < m->thread_count; t++)
        for (int i = 0; i < m->threads[t].length; i++) {
            const struct mz_model_op *op = &m->threads[t].ops[i];
            sends += op->code == MZ_MODEL_SEND;
            awaits += op->code == MZ_MODEL_AWAIT;
            sections += op->code == MZ_MODEL_SECTION;
            if (op->code != MZ_MODEL_RECEIVE && op->code != MZ_MODEL_TRY_RECEIVE) continue;
            int *r = &receiver[op->object];
            if (*r && *r != t + 1) return "two threads receive from one channel";
            *r = t + 1;
        }
    if (sends > MZ_MODEL_MESSAGES) return "too many sends";
    return awaits && sections ? "an await and an atomic section" : NULL;
}

const char *mz_model_check(const struct mz_model *m)
{
    uint8_t spawned = 0;
    if (m->thread_count > MZ_MODEL_THREADS) return "too many threads";
    for (int k = 0; k < MZ_MODEL_KINDS; k++)
        if (m->object_count[k] > MZ_MODEL_OBJECTS) return "too many objects";
    for (int i = 0; i < m->object_count[MZ_MODEL_SEM]; i++)
        if (m->initial[MZ_MODEL_SEM][i] < 0) return "a semaphore starts at 0 or more";
    for (int i = 0; i < m->object_count[MZ_MODEL_RWLOCK]; i++)
        if (m->initial[MZ_MODEL_RWLOCK][i] & ~1) return "the value of an rwlock is 0, or 1: writers first";
    for (int t = 0; t < m->thread_count; t++) {
        if (m->threads[t].length > MZ_MODEL_OPS) return "too many operations";
        for (int i = 0; i < m->threads[t].length; i++) {
            const struct mz_model_op *op = &m->threads[t].ops[i];
            const char *wrong = check_op(m, &m->threads[t], i);
            if (wrong) return wrong;
            if (op->code != MZ_MODEL_SPAWN) continue;
            if (spawned >> op->object & 1) return "a thread is spawned in two places";
            spawned |= (uint8_t)(1u << op->object);
        }
        const char *wrong = check_loops(&m->threads[t]);
        if (wrong) return wrong;
    }
    return check_text(m);
}
