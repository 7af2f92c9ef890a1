/* The words of the paper (2017) as functions on the oracle's interpreter, one for each definition and lemma. For literal.c
 * and paper_tree.c. Nothing is shared with src/engine, and nothing is fast.
 *
 *   s[E]            a state; whatever follows is found by running steps from it
 *   process p       a thread together with one of the choices of its next event. The choices of one event disable each
 *                   other, so Algorithm 6 covers choices, too.
 *   next[E](p)      mz_machine_next(): a thread that is woken or times out has another next event from then on. The step
 *                   that wakes it disables the event that it had before (the timeout).
 *   e -> e'         from the clocks of the events */
#ifndef MZ_RANDOM_PAPER_H
#define MZ_RANDOM_PAPER_H

#include "machine.h"

#define PAPER_EVENTS 200 /* of one execution, and of a sequence */

typedef struct {
    uint8_t thread, choice;
} paper_step;

struct paper_event {
    paper_step step;
    int next;       /* mz_machine_next() before it */
    mz_lanes clock; /* of all events that happen before it, and of itself */
};

struct paper_sequence { /* of processes */
    paper_step steps[PAPER_EVENTS + 1];
    int length;
};

static inline bool paper_same(paper_step p, paper_step q)
{
    return p.thread == q.thread && p.choice == q.choice;
}
static inline void paper_add(struct paper_sequence *w, paper_step p) { w->steps[w->length++] = p; }
/* Where the thread has its first event in w; -1: it has none. */
int paper_first_of(const struct paper_sequence *w, int thread);
void paper_take_out(struct paper_sequence *w, int i);

bool paper_is_enabled(struct mz_machine *k, const struct mz_machine_state *s, paper_step p);
bool paper_is_maximal(struct mz_machine *k, const struct mz_machine_state *s);
/* s := s.p; stores the event in *e unless e is NULL. False if p is not enabled. */
bool paper_run_step(struct mz_machine *k, struct mz_machine_state *s, paper_step p, struct paper_event *e);
/* The events of w after s. False if E.w is not an execution sequence. */
bool paper_run(struct mz_machine *k, struct mz_machine_state s, const struct paper_sequence *w,
               struct paper_event *events);
/* e -> f, for two events of one execution. */
bool paper_happens_before(const struct paper_event *e, const struct paper_event *f);

/* p in I(w): Lemma 4.2 (1): the first event of p in w has p's choice, and no other event of w happens before it. */
bool paper_is_initial(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                      const struct paper_sequence *w);
/* E |- p <> w: section 3.2: E.p.w is an execution, and next(p) happens before nothing in w. */
bool paper_is_independent(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                          const struct paper_sequence *w);
/* p in WI(w): Lemma 4.2 (2) */
bool paper_is_weak_initial(struct mz_machine *k, const struct mz_machine_state *s, paper_step p,
                           const struct paper_sequence *w);
/* v ~ w: Lemma 4.6 */
bool paper_is_consistent(struct mz_machine *k, struct mz_machine_state s, const struct paper_sequence *v,
                         struct paper_sequence w);

/* A maximal execution E: its events, and the state before each of them. */
struct paper_execution {
    struct mz_machine *machine;
    const struct paper_event *events;
    const struct mz_machine_state *states;
    int length;
};

/* The callback f gets each sequence v that must be explored after E', the first `e` events of E. If f returns false, the
 * functions below stop and return false. */
typedef bool paper_race(void *arg, int e, const struct paper_sequence *v);
/* Algorithm 2, lines 3 to 5: the reversible races. */
bool paper_each_race(const struct paper_execution *x, paper_race *f, void *arg);
/* Algorithm 6, lines 8 to 13: what an event has disabled. */
bool paper_each_disabled(const struct paper_execution *x, paper_race *f, void *arg);

#endif
