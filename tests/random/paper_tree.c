/* Wakeup trees by their definition, see paper_tree.h. */
#include "paper_tree.h"

#include <stdlib.h>

struct paper_tree *paper_tree_new(paper_step p)
{
    struct paper_tree *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->step = p;
    return t;
}

void paper_tree_free(struct paper_tree *t)
{
    while (t) {
        struct paper_tree *next = t->sibling;
        paper_tree_free(t->child);
        free(t);
        t = next;
    }
}

struct paper_tree *paper_tree_copy_children(const struct paper_tree *t)
{
    struct paper_tree *first = NULL, **to = &first;
    for (const struct paper_tree *c = t->child; c; c = c->sibling, to = &(*to)->sibling) {
        *to = paper_tree_new(c->step);
        (*to)->child = paper_tree_copy_children(c);
    }
    return first;
}

struct paper_tree *paper_tree_smallest(struct mz_machine *k, const struct mz_machine_state *s,
                                       struct paper_tree *t, struct paper_sequence *way,
                                       const struct paper_sequence *w)
{
    for (struct paper_tree *c = t->child; c; c = c->sibling) {
        paper_add(way, c->step);
        struct paper_tree *found = paper_tree_smallest(k, s, c, way, w);
        if (found) return found;
        way->length--;
    }
    return paper_is_consistent(k, *s, way, *w) ? t : NULL;
}

/* Definition 6.1 (2) for one leaf: w is the way to it from t, and s the state at t. */
static bool is_told_from_siblings(struct mz_machine *k, struct mz_machine_state s, const struct paper_tree *t,
                                  struct paper_sequence w)
{
    while (w.length) {
        const struct paper_tree *c = t->child;
        for (; !paper_same(c->step, w.steps[0]); c = c->sibling)
            if (paper_is_weak_initial(k, &s, c->step, &w)) return false;
        if (!paper_run_step(k, &s, c->step, NULL)) return false;
        paper_take_out(&w, 0);
        t = c;
    }
    return true;
}

bool paper_tree_is_good_leaf(struct mz_machine *k, const struct mz_machine_state *s,
                             const struct paper_sequence *sleep, const struct paper_tree *t,
                             const struct paper_sequence *way)
{
    for (int i = 0; i < sleep->length; i++) /* Definition 6.1 (1) */
        if (paper_is_weak_initial(k, s, sleep->steps[i], way)) return false;
    return is_told_from_siblings(k, *s, t, *way);
}

struct question {
    struct mz_machine *machine;
    const struct mz_machine_state *state;
    const struct paper_tree *root;
    const struct paper_sequence *sleep, *w;
};

typedef bool leaf_test(const struct question *q, const struct paper_sequence *way);

/* Is there a leaf below t that passes the test? `way` leads to t. */
static bool any_leaf(const struct question *q, leaf_test *test, const struct paper_tree *t,
                     struct paper_sequence *way)
{
    if (!t->child && way->length) return test(q, way);
    for (const struct paper_tree *c = t->child; c; c = c->sibling) {
        paper_add(way, c->step);
        bool found = any_leaf(q, test, c, way);
        way->length--;
        if (found) return true;
    }
    return false;
}

static bool is_bad(const struct question *q, const struct paper_sequence *way)
{
    return !paper_tree_is_good_leaf(q->machine, q->state, q->sleep, q->root, way);
}

bool paper_tree_is_good(struct mz_machine *k, const struct mz_machine_state *s,
                        const struct paper_sequence *sleep, const struct paper_tree *t)
{
    struct question q = {.machine = k, .state = s, .root = t, .sleep = sleep};
    struct paper_sequence way = {.length = 0};
    return !any_leaf(&q, is_bad, t, &way);
}

static bool answers(const struct question *q, const struct paper_sequence *way)
{
    return paper_is_consistent(q->machine, *q->state, way, *q->w);
}

bool paper_tree_has_leaf_for(struct mz_machine *k, const struct mz_machine_state *s,
                             const struct paper_tree *t, const struct paper_sequence *w)
{
    struct question q = {.machine = k, .state = s, .root = t, .w = w};
    struct paper_sequence way = {.length = 0};
    return any_leaf(&q, answers, t, &way);
}
