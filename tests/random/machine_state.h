/* The oracle's interpreter, private to machine.c and machine_event.c.
 *
 * A thread's mode says what it is about to do; pc is its operation:
 *
 *   OP     the operation at pc, not looked at yet (only within a step) or an event
 *   UNLOCK, UNLOCK_WOKEN, SLEEP, RELOCK    inside the wait at pc; RELOCK_LATE: after a timeout
 *   CLAIMED    inside the wrlock at pc, where writers come first
 *   ABSENT, JOIN (waits for the thread of the join at pc), DONE, FAILED
 */
#ifndef MZ_RANDOM_MACHINE_STATE_H
#define MZ_RANDOM_MACHINE_STATE_H

#include "machine.h"

enum mode { ABSENT, OP, UNLOCK, UNLOCK_WOKEN, SLEEP, RELOCK, RELOCK_LATE, CLAIMED, JOIN, DONE, FAILED };

#define HIGH 0x8080808080808080u

/* The larger of each pair of bytes; all are below 128. */
static inline mz_lanes join(mz_lanes a, mz_lanes b)
{
    uint64_t larger = ((a | HIGH) - b) & HIGH;
    uint64_t mask = (larger >> 7) * 0xff;
    return (a & mask) | (b & ~mask);
}

static inline void feature(struct mz_machine *k, enum mz_feature f) { k->features |= (uint64_t)1 << f; }
static inline void feature_if(struct mz_machine *k, bool holds, enum mz_feature f)
{
    k->features |= (uint64_t)holds << f;
}

static inline const struct mz_model_op *current(const struct mz_machine *k, const struct mz_machine_state *s,
                                                int t)
{
    return &k->m->threads[t].ops[s->threads[t].pc];
}

static inline int operand(const struct mz_machine_state *s, int t, const struct mz_model_operand *o)
{
    return o->is_register ? s->threads[t].regs[o->value] : o->value;
}

static inline bool compare(const struct mz_machine_state *s, int t, const struct mz_model_op *op)
{
    int difference = operand(s, t, &op->a) - operand(s, t, &op->b);
    const bool answers[] = {difference == 0, difference != 0, difference<0, difference> 0};
    return answers[op->relation];
}

static inline void store(struct mz_machine_state *s, int t, int reg, int value)
{
    if (reg < MZ_MODEL_REGS) s->threads[t].regs[reg] = (mz_model_value)value;
}

static inline bool owns(const struct mz_machine_state *s, int t, int mutex)
{
    return s->objects[MZ_MODEL_MUTEX][mutex].content == t + 1;
}

static inline bool timed(const struct mz_model_op *op)
{
    return op->code == MZ_MODEL_TIMEDWAIT || op->code == MZ_MODEL_FUTEX_TIMEDWAIT;
}

static inline int as_readers(const struct mz_machine_state *s, int lock)
{
    int count = 0;
    for (int t = 0; t < MZ_MODEL_THREADS; t++) count += s->threads[t].held[lock];
    return count;
}

/* Could a thread take the read-write lock now? */
static inline bool free_for(const struct mz_machine_state *s, int lock, bool writer)
{
    const struct mz_state_object *o = &s->objects[MZ_MODEL_RWLOCK][lock];
    return !o->content && (writer ? as_readers(s, lock) == 0 : o->claims == 0);
}

/* machine_event.c: are events of different threads on these two objects always independent? */
bool mz_machine_apart(int object, int other);

/* machine_wait.c: awaits and channels */
bool mz_machine_condition(const struct mz_machine_state *s, int t, const struct mz_model_op *op);
/* The oldest message that the receive at op would take; -1: none. */
int mz_machine_message(const struct mz_machine_state *s, const struct mz_model_op *op);
/* The clock of the event, an await or an event on a channel. */
mz_lanes mz_machine_order_wait(struct mz_machine_state *s, int t, const struct mz_model_op *op);
void mz_machine_channel(struct mz_machine *k, struct mz_machine_state *s, int t,
                        const struct mz_model_op *op);
static inline bool on_channel(const struct mz_model_op *op)
{
    return mz_model_kind_of(op->code) == MZ_MODEL_CHAN;
}

/* machine.c: run the local code of the threads in the set `todo`, each up to its next event; a local unlock. */
/* Run the operation if it is local. Returns false if the thread stops at it. */
bool mz_machine_local(struct mz_machine *k, struct mz_machine_state *s, int t, unsigned *todo);
void mz_machine_run_local(struct mz_machine *k, struct mz_machine_state *s, unsigned todo);
void mz_machine_local_unlock(struct mz_machine_state *s, int t, int mutex);

#endif
