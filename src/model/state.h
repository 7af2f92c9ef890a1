/* The state of a model that is being explored. Private to system.c (local code, executions), pending.c (what
 * each thread does next) and perform.c (events). */
#ifndef MZ_MODEL_STATE_H
#define MZ_MODEL_STATE_H

#include "system.h"

#define MZ_MODEL_NOBODY 0xff

/* Where a thread is within an operation of several events: see the head of system.c. */
enum mz_phase { MZ_AT_START, MZ_RELEASING, MZ_SLEEPING, MZ_RELOCKING, MZ_CLAIMED };

struct mz_model_runner {
    mz_model_value regs[MZ_MODEL_REGS];
    uint8_t pc, status, phase;
    bool gave_up;    /* RELOCKING: after a timeout */
    mz_number woken; /* RELEASING: the event that woke it already; else 0 */
};

struct mz_model_rwlock {
    uint8_t writer, claims;
    uint8_t held[MZ_MODEL_THREADS]; /* as readers, how often */
};

enum mz_once { MZ_ONCE_NEW, MZ_ONCE_RUNNING, MZ_ONCE_DONE };

/* All that the future of a program depends on. Plain bytes, all of them given a value. */
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
};

struct mz_model_explorer {
    const struct mz_model *m;
    struct mz_explore_options options;
    const struct mz_model_run *run;
    uint64_t asked;           /* for memory */
    struct mz_exploration *x; /* NULL: to be made */
    struct mz_view view;
    uint8_t tried;      /* set of mutexes that the text tries: their unlock is an event */
    uint8_t from_start; /* set of threads that nobody spawns */
    struct mz_model_runner threads[MZ_MODEL_THREADS];
    mz_model_value vars[MZ_MODEL_OBJECTS];
    uint8_t owner[MZ_MODEL_OBJECTS];
    uint8_t waiters[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS]; /* of condition variables and variables */
    int sems[MZ_MODEL_OBJECTS];
    struct mz_model_rwlock rwlocks[MZ_MODEL_OBJECTS];
    uint8_t once[MZ_MODEL_OBJECTS], once_runner[MZ_MODEL_OBJECTS];
    struct mz_step *steps; /* options.max_steps */
    uint32_t length;
    struct mz_model_image image; /* of the state, when it was last asked for */
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

/* pending.c */
uint64_t mz_model_key(enum mz_model_kind kind, int object);
void mz_model_publish(struct mz_model_explorer *s, int t);      /* the operation at pc is an event: which? */
void mz_model_publish_none(struct mz_model_explorer *s, int t); /* it has none */
void mz_model_refresh(void *system, int t);
void mz_model_update_view(struct mz_model_explorer *s);
uint64_t mz_model_rw_state(const struct mz_model_explorer *s, int lock);
bool mz_model_can_read(const struct mz_model_explorer *s, int lock);
bool mz_model_can_write(const struct mz_model_explorer *s, int lock);
enum mz_access mz_model_shared(const struct mz_model_explorer *s, int lock);

/* capture.c */
void mz_model_state(void *system, struct mz_state *out);
size_t mz_model_state_bytes(void *system, const void **bytes);

/* perform.c: the thread's event; true when it was the last of its operation and pc is to move on. */
bool mz_model_perform(struct mz_model_explorer *s, int t, int choice);

/* system.c */
void mz_model_run_local(struct mz_model_explorer *s, int t);
/* The operation at pc, if it is a local one that does not stop the thread; pc moves on. */
bool mz_model_run_local_op(struct mz_model_explorer *s, int t);
void mz_model_release(struct mz_model_explorer *s, int t, int mutex);

#endif
