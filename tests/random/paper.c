/* The definitions of the paper (2017), see paper.h. */
#include "paper.h"

#include <stdlib.h>
#include <string.h>

/* ---- executions ---- */

bool paper_is_enabled(struct mz_machine *k, const struct mz_machine_state *s, paper_step p)
{
    return mz_machine_choices(k, s, p.thread) >> p.choice & 1;
}

/* s := s.p; stores the event in *e unless e is NULL. False if p is not enabled. */
bool paper_run_step(struct mz_machine *k, struct mz_machine_state *s, paper_step p, struct paper_event *e)
{
    if (!paper_is_enabled(k, s, p)) return false;
    int next = mz_machine_next(s, p.thread);
    mz_machine_step(k, s, p.thread, p.choice);
    if (e) *e = (struct paper_event){p, next, s->last};
    return true;
}

/* The events of w after s. False if E.w is not an execution sequence. */
bool paper_run(struct mz_machine *k, struct mz_machine_state s, const struct paper_sequence *w,
               struct paper_event *events)
{
    for (int i = 0; i < w->length; i++)
        if (!paper_run_step(k, &s, w->steps[i], &events[i])) return false;
    return true;
}

static unsigned lane(mz_lanes clock, int thread) { return clock >> 8 * thread & 0xff; }

/* e -> f, for two events of one execution. */
bool paper_happens_before(const struct paper_event *e, const struct paper_event *f)
{
    return e != f && lane(f->clock, e->step.thread) >= lane(e->clock, e->step.thread);
}

/* Where the thread has its first event in w; -1: it has none. */
int paper_first_of(const struct paper_sequence *w, int thread)
{
    for (int i = 0; i < w->length; i++)
        if (w->steps[i].thread == thread) return i;
    return -1;
}

void paper_take_out(struct paper_sequence *w, int i)
{
    w->length--;
    memmove(&w->steps[i], &w->steps[i + 1], (size_t)(w->length - i) * sizeof *w->steps);
}

/* ---- section 3 and 4 ---- */

/* Lemma 4.2 (1) */
bool paper_is_initial(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                      const struct paper_sequence *w)
{
    struct paper_event events[PAPER_EVENTS + 1];
    int i = paper_first_of(w, p.thread);
    if (i < 0 || !paper_same(w->steps[i], p) || !paper_run(k, *s, w, events)) return false;
    for (int j = 0; j < i; j++)
        if (paper_happens_before(&events[j], &events[i])) return false;
    return true;
}

/* E |- p <> w */
bool paper_is_independent(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                          const struct paper_sequence *w)
{
    struct paper_event own, events[PAPER_EVENTS + 1], alone[PAPER_EVENTS + 1];
    struct mz_machine_state after = *s;
    if (paper_first_of(w, p.thread) >= 0 || !paper_run_step(k, &after, p, &own)) return false;
    if (!paper_run(k, after, w, events) || !paper_run(k, *s, w, alone)) return false;
    for (int i = 0; i < w->length; i++)
        if (paper_happens_before(&own, &events[i]) || events[i].next != alone[i].next) return false;
    return true;
}

/* Lemma 4.2 (2) */
bool paper_is_weak_initial(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                           const struct paper_sequence *w)
{
    return paper_is_initial(k, s, p, w) || paper_is_independent(k, s, p, w);
}

bool paper_is_consistent(struct mz_machine *k, struct mz_machine_state s, const struct paper_sequence *v,
                         struct paper_sequence w)
{
    for (int i = 0; i < v->length; i++) {
        paper_step p = v->steps[i];
        if (paper_is_initial(k, &s, p, &w))
            paper_take_out(&w, paper_first_of(&w, p.thread));
        else if (!paper_is_independent(k, &s, p, &w))
            return false;
        if (!paper_run_step(k, &s, p, NULL)) return false;
    }
    return true;
}

bool paper_is_maximal(struct mz_machine *k, const struct mz_machine_state *s)
{
    for (int t = 0; t < k->m->thread_count; t++)
        if (mz_machine_choices(k, s, t)) return false;
    return true;
}

/* ---- Algorithm 6, lines 3 to 15 ---- */

struct races {
    const struct paper_execution *x;
    paper_race *f;
    void *arg;
};

/* notdep(e, E), as the events that it consists of. */
static int notdep(const struct paper_execution *x, int e, const struct paper_event **w)
{
    int count = 0;
    for (int i = e + 1; i < x->length; i++)
        if (!paper_happens_before(&x->events[e], &x->events[i])) w[count++] = &x->events[i];
    return count;
}

/* e is in a race with f: section 3.2. */
static bool is_race(const struct paper_execution *x, int e, int f)
{
    const struct paper_event *v = x->events;
    if (v[e].step.thread == v[f].step.thread || !paper_happens_before(&v[e], &v[f])) return false;
    for (int i = e + 1; i < f; i++)
        if (paper_happens_before(&v[e], &v[i]) && paper_happens_before(&v[i], &v[f])) return false;
    return true;
}

/* Lines 3-5 for one e. The race is reversible if e' is possible after E'.notdep(e, E), with the same next event and
 * choice. Otherwise e enables e', and lines 8 to 15 find what e disables. */
static bool each_reversible(const struct races *r, int e)
{
    const struct paper_execution *x = r->x;
    const struct paper_event *w[PAPER_EVENTS];
    int count = notdep(x, e, w);
    for (int f = e + 1; f < x->length; f++) {
        struct mz_machine_state s = x->states[e];
        struct paper_sequence v = {.length = 0};
        if (!is_race(x, e, f)) continue;
        for (int i = 0; i < count; i++) {
            paper_add(&v, w[i]->step);
            if (!paper_run_step(x->machine, &s, w[i]->step, NULL)) abort();
        }
        paper_step p = x->events[f].step;
        if (!paper_is_enabled(x->machine, &s, p) || mz_machine_next(&s, p.thread) != x->events[f].next)
            continue;
        paper_add(&v, p);
        if (!r->f(r->arg, e, &v)) return false;
    }
    return true;
}

/* Line 12: does e disable p after s, which is s[E'.u]? */
static bool disables(struct mz_machine *k, const struct mz_machine_state *s, paper_step e, paper_step p)
{
    struct mz_machine_state after = *s;
    if (paper_same(e, p)) return false;
    if (!paper_run_step(k, &after, e, NULL))
        abort(); /* e happens before nothing in u, so it can come after u */
    if (e.thread == p.thread) return true;
    return mz_machine_next(&after, p.thread) != mz_machine_next(s, p.thread) ||
           !paper_is_enabled(k, &after, p);
}

/* Lines 12 and 13 */
static bool each_disabled(const struct races *r, int e, const struct mz_machine_state *s,
                          const struct paper_sequence *u)
{
    struct mz_machine *k = r->x->machine;
    for (int t = 0; t < k->m->thread_count; t++) {
        unsigned choices = mz_machine_choices(k, s, t);
        for (; choices; choices &= choices - 1) {
            paper_step p = {(uint8_t)t, (uint8_t)__builtin_ctz(choices)};
            struct paper_sequence v = *u;
            if (!disables(k, s, r->x->events[e].step, p)) continue;
            paper_add(&v, p);
            if (!r->f(r->arg, e, &v)) return false;
        }
    }
    return true;
}

/* Line 11: all subsequences u of w with u [= w, that is, those that contain with each event all events of w that happen before
 * it. The events [0, i) of w are decided: in[] says which of them are in u. s is the state after u. */
static bool each_subsequence(const struct races *r, int e, const struct paper_event **w, int count, int i,
                             bool *in, const struct mz_machine_state *s, const struct paper_sequence *u)
{
    if (i == count) return each_disabled(r, e, s, u);
    in[i] = false;
    if (!each_subsequence(r, e, w, count, i + 1, in, s, u)) return false;
    for (int j = 0; j < i; j++)
        if (!in[j] && paper_happens_before(w[j], w[i])) return true;
    struct mz_machine_state after = *s;
    struct paper_sequence longer = *u;
    if (!paper_run_step(r->x->machine, &after, w[i]->step, NULL)) abort();
    paper_add(&longer, w[i]->step);
    in[i] = true;
    return each_subsequence(r, e, w, count, i + 1, in, &after, &longer);
}

bool paper_each_race(const struct paper_execution *x, paper_race *f, void *arg)
{
    struct races r = {x, f, arg};
    for (int e = 0; e < x->length; e++)
        if (!each_reversible(&r, e)) return false;
    return true;
}

bool paper_each_disabled(const struct paper_execution *x, paper_race *f, void *arg)
{
    struct races r = {x, f, arg};
    for (int e = 0; e < x->length; e++) {
        const struct paper_event *w[PAPER_EVENTS];
        bool in[PAPER_EVENTS];
        struct paper_sequence u = {.length = 0};
        int count = notdep(x, e, w);
        if (!each_subsequence(&r, e, w, count, 0, in, &x->states[e], &u)) return false;
    }
    return true;
}
