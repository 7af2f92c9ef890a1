/* Every reachable state, see states.h: breadth-first, with a queue of whole states. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine_state.h"
#include "states.h"

void mz_reached_clear(struct mz_reached *r)
{
    mz_set_clear(&r->states);
    mz_set_clear(&r->locals);
    mz_findings_clear(&r->finals);
    r->transitions = 0;
}

void mz_reached_free(struct mz_reached *r)
{
    mz_set_free(&r->states);
    mz_set_free(&r->locals);
    mz_findings_free(&r->finals);
}

struct local { /* of one thread */
    mz_model_value regs[MZ_MODEL_REGS];
    uint8_t held[MZ_MODEL_OBJECTS];
    uint8_t thread, pc, mode, zero[5];
};

struct global {
    struct local locals[MZ_MODEL_THREADS];
    struct {
        int16_t content;
        uint8_t waiters, claims;
    } objects[MZ_MODEL_KINDS][MZ_MODEL_OBJECTS];
};

static void local_of(const struct mz_machine_state *s, int t, struct local *l)
{
    memset(l, 0, sizeof *l);
    memcpy(l->regs, s->threads[t].regs, sizeof l->regs);
    memcpy(l->held, s->threads[t].held, sizeof l->held);
    l->thread = (uint8_t)t;
    l->pc = s->threads[t].pc;
    l->mode = s->threads[t].mode;
}

static struct mz_hash hash_of(const struct mz_machine *k, const struct mz_machine_state *s)
{
    struct global g;
    memset(&g, 0, sizeof g);
    for (int t = 0; t < k->m->thread_count; t++) local_of(s, t, &g.locals[t]);
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
            g.objects[kind][i].content = s->objects[kind][i].content;
            g.objects[kind][i].waiters = s->objects[kind][i].waiters;
            g.objects[kind][i].claims = s->objects[kind][i].claims;
        }
    return mz_hash_bytes(&g, sizeof g);
}

/* Clocks count events, of which there is no end here. */
static void forget_order(struct mz_machine_state *s)
{
    s->form = (struct mz_hash){0, 0};
    s->last = s->memory = s->sections = 0;
    for (int t = 0; t < MZ_MODEL_THREADS; t++) s->threads[t].clock = s->threads[t].signal = 0;
    for (int kind = 0; kind < MZ_MODEL_KINDS; kind++)
        for (int i = 0; i < MZ_MODEL_OBJECTS; i++) {
            struct mz_state_object *o = &s->objects[kind][i];
            o->reads = o->shares = o->writes = 0;
        }
}

static bool is_final(struct mz_machine *k, const struct mz_machine_state *s)
{
    for (int t = 0; t < k->m->thread_count; t++)
        if (mz_machine_choices(k, s, t)) return false;
    return true;
}

bool mz_reached_has(const struct mz_reached *r, const struct mz_machine *k, struct mz_machine_state *s)
{
    return mz_set_has(&r->states, hash_of(k, s));
}

bool mz_reached_add(struct mz_reached *r, struct mz_machine *k, struct mz_machine_state *s)
{
    bool added, unused;
    forget_order(s);
    mz_set_add(&r->states, hash_of(k, s), &added);
    if (!added) return false;
    for (int t = 0; t < k->m->thread_count; t++) {
        struct local l;
        local_of(s, t, &l);
        if (l.mode == JOIN || l.mode == SLEEP) continue;
        if (l.mode == UNLOCK_WOKEN) l.mode = UNLOCK;
        mz_set_add(&r->locals, mz_hash_bytes(&l, sizeof l), &unused);
        if (l.mode == FAILED) r->finals.failures[t] |= 1u << l.pc;
    }
    if (is_final(k, s)) {
        struct mz_model_outcome outcome;
        mz_machine_outcome(k, s, &outcome);
        mz_findings_add(&r->finals, (struct mz_hash){0, 0}, &outcome);
    }
    return true;
}

struct queue {
    struct mz_machine_state *states;
    uint32_t count, size;
};

static void push(struct queue *q, const struct mz_machine_state *s)
{
    if (q->count == q->size) {
        q->size = q->size ? 2 * q->size : 64;
        q->states = realloc(q->states, q->size * sizeof *q->states);
        if (!q->states) {
            perror("mz-random");
            exit(2);
        }
    }
    q->states[q->count++] = *s;
}

bool mz_states_run(const struct mz_model *m, bool sections, uint32_t max, struct mz_reached *r)
{
    static struct queue q; /* its memory is used again */
    struct mz_machine k;
    struct mz_machine_state s;
    q.count = 0;
    mz_reached_clear(r);
    mz_machine_init(&k, m, sections);
    mz_machine_start(&k, &s);
    mz_reached_add(r, &k, &s);
    push(&q, &s);
    for (uint32_t i = 0; i < q.count && q.count <= max; i++)
        for (int t = 0; t < m->thread_count; t++)
            for (unsigned choices = mz_machine_choices(&k, &q.states[i], t); choices;
                 choices &= choices - 1) {
                s = q.states[i];
                mz_machine_step(&k, &s, t, __builtin_ctz(choices));
                r->transitions++;
                if (mz_reached_add(r, &k, &s)) push(&q, &s);
            }
    return q.count <= max;
}
