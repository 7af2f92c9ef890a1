/* The state of a model that is being explored. Private to system.c (local code, executions), pending.c (the
 * next operation of each thread), perform.c (events) and capture.c (identity of states). */
#ifndef MZ_MODEL_STATE_H
#define MZ_MODEL_STATE_H

#include "model/system.h"

#define MZ_MODEL_NOBODY 0xff

/* Where a thread is within an operation of several events: see the head of system.c. */
enum mz_phase { MZ_AT_START, MZ_RELEASING, MZ_SLEEPING, MZ_RELOCKING, MZ_CLAIMED };

struct mz_model_runner {
    mz_model_value regs[MZ_MODEL_REGS];
    uint8_t pc, status, phase;
    bool gave_up;    /* RELOCKING: the wait timed out */
    mz_number woken; /* RELEASING, RELOCKING: the event that has woken the thread; else 0 */
};

struct mz_model_rwlock {
    uint8_t writer, claims;
    uint8_t held[MZ_MODEL_THREADS]; /* how often each thread holds it as a reader */
};

/* The messages of one tag: values[taken .. sent) are still there. */
struct mz_model_queue {
    mz_model_value values[MZ_MODEL_MESSAGES];
    uint8_t sent, taken;
};

enum mz_once { MZ_ONCE_NEW, MZ_ONCE_RUNNING, MZ_ONCE_DONE };

/* Everything that the future of a model depends on. Plain bytes; all of them have a value. */
struct mz_model_image {
    struct {
        mz_model_value regs[MZ_MODEL_REGS];
        uint8_t pc, status, phase, flags; /* flags: gave up; woken before the release */
    } threads[MZ_MODEL_THREADS];
    mz_model_value vars[MZ_MODEL_OBJECTS];
    int32_t sems[MZ_MODEL_OBJECTS];
    uint8_t owner[MZ_MODEL_OBJECTS];
    uint8_t waiters[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS];
    struct mz_model_rwlock rwlocks[MZ_MODEL_OBJECTS];
    uint8_t once[MZ_MODEL_OBJECTS], once_runner[MZ_MODEL_OBJECTS];
    struct mz_model_queue queues[MZ_MODEL_OBJECTS][MZ_MODEL_TAGS]; /* taken 0: what was taken is left out */
};

struct mz_model_explorer {
    const struct mz_model *m;
    struct mz_explore_options options;
    const struct mz_model_run *run;
    uint64_t asked;           /* how often the engine asked whether memory is full */
    struct mz_exploration *x; /* NULL: not created yet */
    struct mz_view view;
    uint8_t tried;      /* set of mutexes that the text uses with trylock: their unlock is an event */
    uint8_t from_start; /* set of threads that no operation spawns */
    uint8_t awaited;    /* set of variables that the text uses with await */
    struct mz_model_runner threads[MZ_MODEL_THREADS];
    mz_model_value vars[MZ_MODEL_OBJECTS];
    uint8_t owner[MZ_MODEL_OBJECTS];
    uint8_t waiters[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS]; /* of condition variables and variables */
    int sems[MZ_MODEL_OBJECTS];
    struct mz_model_rwlock rwlocks[MZ_MODEL_OBJECTS];
    uint8_t once[MZ_MODEL_OBJECTS], once_runner[MZ_MODEL_OBJECTS];
    struct mz_model_queue queues[MZ_MODEL_OBJECTS][MZ_MODEL_TAGS]; /* of channels */
    struct mz_step *steps;                                         /* options.max_steps */
    uint32_t length;
    struct mz_model_image image; /* of the state that was last asked for */
};

static inline uint64_t mz_model_bit(int i) { return (uint64_t)1 << i; }

static inline const struct mz_model_op *mz_model_op_of(const struct mz_model_explorer *s, int t)
{
    return &s->m->threads[t].ops[s->threads[t].pc];
}

static inline mz_model_value mz_model_value_of(const struct mz_model_runner *t,
                                               const struct mz_model_operand *o)
{
    return o->is_register ? t->regs[o->value] : o->value;
}

static inline void mz_model_result(struct mz_model_runner *t, const struct mz_model_op *op, int value)
{
    if (op->result != MZ_MODEL_NOWHERE) t->regs[op->result] = (mz_model_value)value;
}

static inline bool mz_model_timed(const struct mz_model_op *op)
{
    return op->code == MZ_MODEL_TIMEDWAIT || op->code == MZ_MODEL_FUTEX_TIMEDWAIT;
}

static inline struct mz_model_queue *mz_model_queue_of(struct mz_model_explorer *s,
                                                       const struct mz_model_op *op)
{
    return &s->queues[op->object][op->mutex];
}

/* await.c */
/* Does the condition of the await at pc hold, with these values of variables? */
bool mz_model_condition(const struct mz_model_explorer *s, int t, const mz_model_value *vars);
uint32_t mz_model_awaited(const struct mz_model_op *op); /* the set of its variables */
bool mz_model_holds(void *system, int t, const struct mz_unwritten *writes, uint32_t count);
/* pending.c */
uint64_t mz_model_key(enum mz_model_kind kind, int object);
/* Publishes the event of the operation at pc. */
void mz_model_publish(struct mz_model_explorer *s, int t);
void mz_model_publish_none(struct mz_model_explorer *s, int t); /* the thread has no event */
void mz_model_refresh(void *system, int t);
void mz_model_update_view(struct mz_model_explorer *s);
uint64_t mz_model_rw_state(const struct mz_model_explorer *s, int lock);
bool mz_model_can_read(const struct mz_model_explorer *s, int lock);
bool mz_model_can_write(const struct mz_model_explorer *s, int lock);
enum mz_access mz_model_shared(const struct mz_model_explorer *s, int lock);

/* capture.c */
void mz_model_state(void *system, struct mz_state *out);
size_t mz_model_state_bytes(void *system, const void **bytes);

/* perform.c: performs the event of the thread. Returns true if it was the last event of its operation: then
 * the caller moves pc on. */
bool mz_model_perform(struct mz_model_explorer *s, int t, int choice);

/* system.c */
void mz_model_run_local(struct mz_model_explorer *s, int t);
/* Performs the operation at pc, and moves pc on. Returns false if the operation is an event or stops the
 * thread. */
bool mz_model_run_local_op(struct mz_model_explorer *s, int t);
void mz_model_release(struct mz_model_explorer *s, int t, int mutex);

#endif
