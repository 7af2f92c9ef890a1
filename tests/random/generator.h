/* The random generator of models, private to generate.c and generate_threads.c: its state, random numbers, and emitting
 * operations. */
#ifndef MZ_RANDOM_GENERATOR_H
#define MZ_RANDOM_GENERATOR_H

#include <stdbool.h>
#include <stdio.h>
#include "model/model.h"

enum theme {
    MEMORY,
    COMPARE,
    LOCKS,
    TRIES,
    CONDITIONS,
    SEMAPHORES,
    CHOICES,
    RWLOCKS,
    ONCES,
    FUTEXES,
    TIMEOUTS,
    SECTIONS,
    LOOPS,
    AWAITS,
    CHANNELS,
    THEMES
};

struct generator {
    uint64_t random;
    struct mz_model *m;
    struct mz_model_thread *t; /* the thread being filled */
    unsigned themes;           /* set of enum theme */
    int sends;                 /* emitted so far */
    int budget;
};

static inline uint64_t next_random(struct generator *g)
{
    uint64_t z = g->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline int below(struct generator *g, int n) { return (int)(next_random(g) % (uint64_t)n); }
static inline int between(struct generator *g, int low, int high) { return low + below(g, high - low + 1); }
static inline bool percent(struct generator *g, int chance) { return below(g, 100) < chance; }
static inline bool has(const struct generator *g, enum theme theme) { return g->themes >> theme & 1; }

static inline int any(struct generator *g, enum mz_model_kind kind)
{
    return below(g, g->m->object_count[kind]);
}

static inline bool some(const struct generator *g, enum mz_model_kind kind)
{
    return g->m->object_count[kind] > 0;
}

/* Emitting. There is always space for the end of a block, so emitting never fails. */

static inline struct mz_model_op *emit(struct generator *g, enum mz_model_code code, int object)
{
    static struct mz_model_op dropped;
    if (g->t->length >= MZ_MODEL_OPS) return &dropped;
    struct mz_model_op *op = &g->t->ops[g->t->length++];
    *op = (struct mz_model_op){.code = (uint8_t)code, .object = (uint8_t)object, .result = MZ_MODEL_NOWHERE};
    return op;
}

static inline struct mz_model_operand constant(int value)
{
    return (struct mz_model_operand){0, (mz_model_value)value};
}

static inline struct mz_model_operand reg(int number)
{
    return (struct mz_model_operand){1, (mz_model_value)number};
}

static inline void declare(struct generator *g, enum mz_model_kind kind, int count, const char *names)
{
    g->m->object_count[kind] = (uint8_t)count;
    for (int i = 0; i < count; i++) snprintf(g->m->name[kind][i], MZ_MODEL_NAME, "%c", names[i]);
}

/* generate_threads.c */
void mz_spawn_from_first(struct generator *g);
void mz_spawn_anyhow(struct generator *g);
void mz_add_tail(struct generator *g);

#endif
