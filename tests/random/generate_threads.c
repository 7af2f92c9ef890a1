/* The random generator of models: which threads create and join which, and threads that make an execution long. */
#include <string.h>
#include "generator.h"

/* Spawning and joining. */

static void insert(struct generator *g, int thread, int index, enum mz_model_code code, int other)
{
    struct mz_model_thread *t = &g->m->threads[thread];
    if (t->length >= MZ_MODEL_OPS) return;
    memmove(&t->ops[index + 1], &t->ops[index], (size_t)(t->length - index) * sizeof *t->ops);
    t->length++;
    t->ops[index] =
        (struct mz_model_op){.code = (uint8_t)code, .object = (uint8_t)other, .result = MZ_MODEL_NOWHERE};
    for (int i = 0; i < t->length; i++)
        if (i != index && mz_model_jumps(t->ops[i].code) &&
            (t->ops[i].target > index || (t->ops[i].target == index && i > index)))
            t->ops[i].target++;
}

/* As in C programs: the first thread spawns the others, and joins some at its end. */
void mz_spawn_from_first(struct generator *g)
{
    int at = 0;
    for (int t = 1; t < g->m->thread_count; t++) {
        if (at < g->m->threads[0].length && percent(g, 15)) at++;
        insert(g, 0, at++, MZ_MODEL_SPAWN, t);
    }
    for (int t = 1; t < g->m->thread_count; t++)
        if (percent(g, 50)) insert(g, 0, g->m->threads[0].length, MZ_MODEL_JOIN, t);
}

void mz_spawn_anyhow(struct generator *g)
{
    int count = g->m->thread_count;
    for (int t = 0; t < count; t++) {
        int by = below(g, count);
        if (percent(g, 60) && by != t && (by < t || percent(g, 10)))
            insert(g, by, between(g, 0, g->m->threads[by].length), MZ_MODEL_SPAWN, t);
    }
    for (int n = below(g, count + 1); n-- > 0;) {
        int by = below(g, count), whom = below(g, count);
        if (by != whom || percent(g, 5))
            insert(g, by, between(g, 0, g->m->threads[by].length), MZ_MODEL_JOIN, whom);
    }
}

/* ---- a tail ---- */

#define TAIL 3 /* threads, one after the other */

/* Makes a thread that waits for some of the threads before it and then does operations that hardly matter to
 * them: its events make the execution long, and add few interleavings. */
static void tail_thread(struct generator *g, int t, int own)
{
    g->t = &g->m->threads[t];
    *g->t = (struct mz_model_thread){0};
    snprintf(g->t->name, MZ_MODEL_NAME, "t%d", t);
    for (int i = 0; i < t; i++)
        if (i + 1 == t || percent(g, 80)) emit(g, MZ_MODEL_JOIN, i);
    while (g->t->length < MZ_MODEL_OPS) {
        bool shared = percent(g, 2);
        struct mz_model_op *op =
            emit(g, percent(g, 50) ? MZ_MODEL_WRITE : MZ_MODEL_ADD, shared ? any(g, MZ_MODEL_VAR) : own);
        op->a = constant(1);
    }
}

void mz_add_tail(struct generator *g)
{
    int own = g->m->object_count[MZ_MODEL_VAR];
    declare(g, MZ_MODEL_VAR, own + 1, "xyzw");
    for (int n = 0; n < TAIL && g->m->thread_count < MZ_MODEL_THREADS; n++)
        tail_thread(g, g->m->thread_count++, own);
}
