/* Optimal-DPOR as the paper states it (2017), line by line: Algorithm 2 for operations that do not block,
 * Algorithm 6 for those that do. It is slow on purpose. It shares no code with src/engine: no clocks but
 * those of the oracle's interpreter, no bit sets, no shortcuts, no shortened sequences. paper.h has the
 * definitions and lemmas.
 *
 * insert is the simple implementation of section 6.2: the smallest node v of the tree, in post-order, with v
 * ~ w. */
#include "literal.h"
#include "paper_tree.h"

#include <stdlib.h>

struct node {                    /* of the path: E' */
    struct paper_sequence sleep; /* a set */
    struct paper_tree *wut;
};

struct search {
    struct mz_literal *l;
    struct mz_machine machine;
    struct node *nodes;              /* of each prefix of E, the empty one first */
    struct mz_machine_state *states; /* likewise */
    struct paper_event events[PAPER_EVENTS + 1];
    enum mz_literal_answer answer;
};

/* Section 6.2 */
static void insert(struct search *x, int k, const struct paper_sequence *w)
{
    struct node *n = &x->nodes[k];
    struct paper_sequence way = {.length = 0}, rest = *w;
    struct paper_tree *v = paper_tree_smallest(&x->machine, &x->states[k], n->wut, &way, w);
    if (v != n->wut && !v->child) return;
    for (int i = 0; i < way.length; i++) {
        int at = paper_first_of(&rest, way.steps[i].thread);
        if (at >= 0) paper_take_out(&rest, at);
    }
    for (int i = 0; i < rest.length; i++) {
        struct paper_tree **to = &v->child;
        while (*to) to = &(*to)->sibling;
        v = *to = paper_tree_new(rest.steps[i]);
        paper_add(&way, rest.steps[i]);
    }
    x->l->leaves++;
    if (!paper_tree_is_good_leaf(&x->machine, &x->states[k], &n->sleep, n->wut, &way))
        x->answer = MZ_LITERAL_NO_TREE;
}

/* ---- Algorithm 6 ---- */

/* Lines 6, 7 and 14, 15: is v explored already? If not, insert it into the wakeup tree of E'. */
static bool reverse(void *arg, int e, const struct paper_sequence *v)
{
    struct search *x = arg;
    struct node *n = &x->nodes[e];
    if (++x->l->races == x->l->max_races) {
        x->answer = MZ_LITERAL_TOO_LARGE;
        return false;
    }
    for (int i = 0; i < n->sleep.length; i++)
        if (paper_is_weak_initial(&x->machine, &x->states[e], n->sleep.steps[i], v)) return true;
    insert(x, e, v);
    return x->answer == MZ_LITERAL_DONE;
}

/* Line 20. The paper leaves the choice open. This is the order of src/engine: the same thread as before if
 * possible, else the lowest one, and the first choice. */
static paper_step choose(struct search *x, int length)
{
    const struct mz_machine_state *s = &x->states[length];
    unsigned choices = 0;
    int t = length ? x->events[length - 1].step.thread : 0;
    if (length) choices = mz_machine_choices(&x->machine, s, t);
    for (int i = 0; !choices; i++) choices = mz_machine_choices(&x->machine, s, t = i);
    return (paper_step){(uint8_t)t, (uint8_t)__builtin_ctz(choices)};
}

/* Line 25: Sleep' = { q in sleep(E) | E |- p <> q } */
static void sleep_after(struct search *x, int length, paper_step p, struct paper_sequence *to)
{
    const struct node *n = &x->nodes[length];
    to->length = 0;
    for (int i = 0; i < n->sleep.length; i++) {
        struct paper_sequence q = {.steps = {n->sleep.steps[i]}, .length = 1};
        if (paper_is_independent(&x->machine, &x->states[length], p, &q)) paper_add(to, q.steps[0]);
    }
}

/* Explore(E, Sleep, WuT): E, s[E], sleep(E) = Sleep and wut(E) = WuT are nodes[length] and states[length]. */
static void explore(struct search *x, int length)
{
    struct node *n = &x->nodes[length];
    if (paper_is_maximal(&x->machine, &x->states[length])) {
        struct paper_execution all = {&x->machine, x->events, x->states, length};
        x->l->executions++;
        if (!x->l->visit(x->l->arg, &x->states[length]))
            x->answer = MZ_LITERAL_STOPPED;
        else if (paper_each_race(&all, reverse, x)) /* lines 3-7 */
            paper_each_disabled(&all, reverse, x);  /* lines 8-15 */
        return;
    }
    if (length == PAPER_EVENTS) {
        x->answer = MZ_LITERAL_TOO_LARGE;
        return;
    }
    if (!n->wut->child) { /* lines 19-21 */
        if (n->sleep.length) x->answer = MZ_LITERAL_BLOCKED;
        n->wut->child = paper_tree_new(choose(x, length));
    }
    while (n->wut->child && x->answer == MZ_LITERAL_DONE) { /* lines 23-29 */
        struct paper_tree *first = n->wut->child;
        paper_step p = first->step;
        struct node *next = n + 1;
        x->states[length + 1] = x->states[length];
        if (!paper_run_step(&x->machine, &x->states[length + 1], p, &x->events[length])) abort();
        sleep_after(x, length, p, &next->sleep);
        next->wut = paper_tree_new(p);
        next->wut->child = paper_tree_copy_children(first);
        explore(x, length + 1);
        paper_tree_free(next->wut);
        paper_add(&n->sleep, p);
        n->wut->child = first->sibling;
        first->sibling = NULL;
        paper_tree_free(first);
    }
}

enum mz_literal_answer mz_literal_explore(struct mz_literal *l, const struct mz_model *m, bool sections)
{
    struct search *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->nodes = calloc(PAPER_EVENTS + 1, sizeof *x->nodes);
    x->states = calloc(PAPER_EVENTS + 1, sizeof *x->states);
    if (!x->nodes || !x->states) abort();
    x->l = l;
    l->executions = l->races = l->leaves = 0;
    mz_machine_init(&x->machine, m, sections);
    mz_machine_start(&x->machine, &x->states[0]);
    x->nodes[0].wut = paper_tree_new((paper_step){0, 0});
    explore(x, 0);
    paper_tree_free(x->nodes[0].wut);
    enum mz_literal_answer answer = x->answer;
    free(x->nodes);
    free(x->states);
    free(x);
    return answer;
}
