/* Finds every reachable state, see states.h: breadth-first, with a queue of whole states. States are numbered
 * from 0 in the order of the queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine_state.h"
#include "states.h"

void mz_reached_clear(struct mz_reached *r)
{
    mz_set_clear(&r->states);
    mz_set_clear(&r->locals);
    mz_set_clear(&r->traps);
    mz_findings_clear(&r->finals);
    r->transitions = 0;
}

void mz_reached_free(struct mz_reached *r)
{
    mz_set_free(&r->states);
    mz_set_free(&r->locals);
    mz_set_free(&r->traps);
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
    struct {
        uint8_t channel, tag; /* the messages of one channel and tag stand together */
        mz_model_value value;
    } messages[MZ_MODEL_MESSAGES];
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
    for (int i = 0, n = 0; i < k->m->object_count[MZ_MODEL_CHAN] * MZ_MODEL_TAGS; i++)
        for (const struct mz_state_message *m = s->messages; m < s->messages + s->message_count; m++) {
            if (m->taken || m->channel != i / MZ_MODEL_TAGS || m->tag != i % MZ_MODEL_TAGS) continue;
            g.messages[n].channel = (uint8_t)(m->channel + 1);
            g.messages[n].tag = m->tag;
            g.messages[n++].value = m->value;
        }
    return mz_hash_bytes(&g, sizeof g);
}

/* Clear the clocks and the form: with loops, clocks grow without end, and equal states would differ. */
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
    for (int i = 0; i < MZ_MODEL_MESSAGES; i++) s->messages[i].clock = 0;
    memset(s->missed, 0, sizeof s->missed);
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

/* Traps: sets of states that lead to each other and to no other state; a final state is not a trap. A state is in a
 * trap if and only if every state that it leads to leads back to it. */

struct edge {
    uint32_t from, to;
    uint32_t next, next_to; /* edges from the same state, to the same state; plus one */
    uint8_t thread;
    bool writes;
};

struct graph {
    struct edge *edges;
    uint32_t count, size, states;
    uint32_t *first, *first_to, *queue; /* for each state: its edges, plus one */
    bool *ahead, *behind, *done;        /* for each state */
};

static void add_edge(struct graph *g, struct edge e)
{
    if (g->count == g->size) {
        g->size = g->size ? 2 * g->size : 256;
        g->edges = realloc(g->edges, g->size * sizeof *g->edges);
        if (!g->edges) abort();
    }
    g->edges[g->count++] = e;
}

static void link_edges(struct graph *g, uint32_t states)
{
    g->states = states;
    g->first = calloc(3 * (size_t)states, sizeof *g->first);
    g->ahead = calloc(3, states);
    if (!g->first || !g->ahead) abort();
    g->first_to = g->first + states;
    g->queue = g->first_to + states;
    g->behind = g->ahead + states;
    g->done = g->behind + states;
    for (uint32_t i = 0; i < g->count; i++) {
        struct edge *e = &g->edges[i];
        e->next = g->first[e->from];
        e->next_to = g->first_to[e->to];
        g->first[e->from] = g->first_to[e->to] = i + 1;
    }
}

/* Mark all states that the state leads to, or (backward) that lead to it, and the state itself. */
static void spread(struct graph *g, bool *mark, uint32_t from, bool backward)
{
    uint32_t count = 1;
    memset(mark, 0, g->states);
    mark[g->queue[0] = from] = true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = (backward ? g->first_to : g->first)[g->queue[i]]; n;) {
            const struct edge *e = &g->edges[n - 1];
            uint32_t to = backward ? e->from : e->to;
            if (!mark[to]) mark[g->queue[count++] = to] = true;
            n = backward ? e->next_to : e->next;
        }
}

/* Does the state lead to a state that does not lead back? *to is that state. */
static bool leads_away(struct graph *g, uint32_t s, uint32_t *to)
{
    spread(g, g->ahead, s, false);
    spread(g, g->behind, s, true);
    for (uint32_t i = 0; i < g->states; i++) {
        if (!g->ahead[i] || g->behind[i]) continue;
        *to = i;
        return true;
    }
    return false;
}

static void find_traps(struct mz_reached *r, struct graph *g)
{
    for (uint32_t s = 0; s < g->states; s++) {
        uint64_t threads = 0, writers = 0;
        uint32_t at = s;
        if (g->done[s]) continue;
        while (leads_away(g, at, &at)) {
        }
        for (uint32_t i = 0; i < g->states; i++) g->done[i] |= g->behind[i];
        for (uint32_t i = 0; i < g->count; i++) {
            if (!g->ahead[g->edges[i].from]) continue;
            threads |= (uint64_t)1 << g->edges[i].thread;
            if (g->edges[i].writes) writers |= (uint64_t)1 << g->edges[i].thread;
        }
        if (threads) mz_reached_trap(r, threads, writers);
    }
}

void mz_reached_trap(struct mz_reached *r, uint64_t threads, uint64_t writers)
{
    bool added;
    mz_set_add(&r->traps, (struct mz_hash){threads, writers + 1}, &added);
}

static uint32_t number_of(struct mz_reached *r, struct mz_machine *k, const struct mz_machine_state *s)
{
    bool added;
    return (uint32_t)mz_set_add(&r->states, hash_of(k, s), &added)->value;
}

bool mz_states_run(const struct mz_model *m, bool sections, uint32_t max, struct mz_reached *r)
{
    static struct queue q; /* their memory is used again */
    static struct graph g;
    struct mz_machine k;
    struct mz_machine_state s;
    bool added;
    q.count = g.count = 0;
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
                struct edge e = {.from = i, .thread = (uint8_t)t};
                e.writes = mz_machine_object(&k, &s, t) >= 0 && mz_machine_use(&k, &s, t) != MZ_USE_READ;
                mz_machine_step(&k, &s, t, __builtin_ctz(choices));
                r->transitions++;
                added = mz_reached_add(r, &k, &s);
                if (added) {
                    bool unused;
                    mz_set_add(&r->states, hash_of(&k, &s), &unused)->value = q.count;
                    push(&q, &s);
                }
                e.to = number_of(r, &k, &s);
                add_edge(&g, e);
            }
    r->sections = k.features >> MZ_FEATURE_SECTION & 1;
    if (q.count <= max && mz_model_loops(m)) {
        link_edges(&g, q.count);
        find_traps(r, &g);
        free(g.first);
        free(g.ahead);
    }
    return q.count <= max;
}
