/* Checks the engine's wakeup trees against section 6 of the paper, see engine_trees.h.
 *
 * When execution E has been analysed, and the search has gone back to node k:
 *
 *   Definition 6.1    For each prefix E' of E up to node k, the tree at E' is a wakeup tree after <E', P>, where P is what
 *                     sleeps at E' together with the branch that is being explored there. (The engine does not keep that
 *                     branch in the tree.) The branch that was taken at node k belongs to the tree of node k again.
 *   Section 6.2 (3)   For every v that Algorithm 2 finds in E (lines 3 to 5), something in sleep(E') is in WI(v), or the
 *                     tree at E' has a leaf u with u ~ v. Below node k the trees are empty: there something asleep must
 *                     stand for v.
 *
 * The second condition is not checked for operations that an event disables (Algorithm 6, lines 8 to 15): the
 * engine reverses the race with the last event that disables an operation, as Algorithm 3 does, and finds the
 * others in later executions. The same holds for choices: if e' is a signal, the engine reverses the race
 * with the first waiter that the signal can wake there, and the signal's other choices follow when it has
 * happened. The comparison of the classes checks that everything is found in the end. */
#include "engine_trees.h"

#include <stdlib.h>
#include "engine/exploration.h"
#include "paper_tree.h"

struct mz_engine_trees {
    struct mz_machine *machine;
    struct paper_event events[PAPER_EVENTS + 1];
    struct mz_machine_state states[PAPER_EVENTS + 1];
    struct paper_sequence sleep[PAPER_EVENTS + 1]; /* at each node, before the races were analysed */
    struct paper_tree *trees[PAPER_EVENTS + 1];    /* after the races were analysed */
    int length;
    uint64_t races;
};

struct mz_engine_trees *mz_engine_trees_new(void)
{
    struct mz_engine_trees *t = calloc(1, sizeof *t);
    if (!t) abort();
    return t;
}

void mz_engine_trees_free(struct mz_engine_trees *t) { free(t); }

static void copy_sleep(const struct mz_exploration *x, int k, struct paper_sequence *to)
{
    const struct mz_node *n = &x->nodes[k];
    to->length = 0;
    for (uint32_t i = 0; i < n->sleep_count; i++) {
        const struct mz_elem *e = &x->sleep[n->sleep_start + i];
        paper_add(to, (paper_step){e->thread, e->choice});
    }
}

bool mz_engine_trees_before(struct mz_engine_trees *t, struct mz_machine *k, const struct mz_exploration *x)
{
    const struct mz_step *steps;
    uint32_t length = mz_explore_steps(x, &steps);
    if (length > PAPER_EVENTS) return false;
    t->machine = k;
    t->length = (int)length;
    mz_machine_start(k, &t->states[0]);
    for (int i = 0; i < t->length; i++) {
        paper_step p = {steps[i].thread, steps[i].choice};
        t->states[i + 1] = t->states[i];
        if (!paper_run_step(k, &t->states[i + 1], p, &t->events[i])) abort();
        copy_sleep(x, i, &t->sleep[i]);
    }
    return true;
}

void mz_engine_trees_count(const struct mz_exploration *x, uint64_t *near, uint64_t *far)
{
    for (uint32_t i = 0; i < x->trace.race_count; i++) {
        const struct mz_race *r = &x->trace.races[i];
        if (r->settled || x->trace.sections) continue;
        ++*(x->trace.count - r->first < MZ_RECENT ? near : far);
    }
}

/* Copies a list of the engine as children of a node. */
static struct paper_tree *copy_list(const struct mz_exploration *x, uint32_t list)
{
    struct paper_tree *first = NULL, **to = &first;
    for (uint32_t w = list; w; w = x->trace.wakeup.nodes[w].next, to = &(*to)->sibling) {
        const struct mz_wakeup_node *n = &x->trace.wakeup.nodes[w];
        *to = paper_tree_new((paper_step){n->elem.thread, n->elem.choice});
        (*to)->child = copy_list(x, n->child);
    }
    return first;
}

/* Copies the tree of node k, without the branch that is being explored. At the node where the next execution
 * branches off, the copy includes the branch that was taken. */
static struct paper_tree *copy_tree(const struct mz_exploration *x, int k, bool more)
{
    struct paper_tree *root = paper_tree_new((paper_step){0, 0});
    if (!more || (uint32_t)k > x->path.replay) return root;
    root->child = copy_list(x, x->nodes[k].wakeup);
    if ((uint32_t)k < x->path.replay) return root;
    struct paper_tree *taken = paper_tree_new((paper_step){x->nodes[k].step.thread, x->nodes[k].step.choice});
    taken->child = copy_list(x, x->nodes[k + 1].wakeup);
    taken->sibling = root->child;
    root->child = taken;
    return root;
}

/* Section 6.2 (3) for one v. */
static bool has_answer(struct mz_engine_trees *t, int e, const struct paper_sequence *v)
{
    for (int i = 0; i < t->sleep[e].length; i++)
        if (paper_is_weak_initial(t->machine, &t->states[e], t->sleep[e].steps[i], v)) return true;
    return paper_tree_has_leaf_for(t->machine, &t->states[e], t->trees[e], v);
}

/* The same with any choice of the last step. */
static bool is_answered(void *arg, int e, const struct paper_sequence *v)
{
    struct mz_engine_trees *t = arg;
    struct mz_machine_state s = t->states[e];
    struct paper_sequence other = *v;
    paper_step *last = &other.steps[other.length - 1];
    t->races++;
    for (int i = 0; i + 1 < v->length; i++)
        if (!paper_run_step(t->machine, &s, v->steps[i], NULL)) abort();
    unsigned choices = mz_machine_choices(t->machine, &s, last->thread);
    for (; choices; choices &= choices - 1) {
        last->choice = (uint8_t)__builtin_ctz(choices);
        if (has_answer(t, e, &other)) return true;
    }
    return false;
}

const char *mz_engine_trees_after(struct mz_engine_trees *t, const struct mz_exploration *x, bool more,
                                  uint64_t *races)
{
    struct paper_execution all = {t->machine, t->events, t->states, t->length};
    const char *wrong = NULL;
    t->races = 0;
    for (int k = 0; k < t->length; k++) {
        struct paper_sequence asleep = t->sleep[k];
        paper_add(&asleep, t->events[k].step);
        t->trees[k] = copy_tree(x, k, more);
        if (!paper_tree_is_good(t->machine, &t->states[k], &asleep, t->trees[k]))
            wrong = "the engine has a tree that is no wakeup tree (Definition 6.1)";
    }
    if (!wrong && !paper_each_race(&all, is_answered, t))
        wrong = "the engine has no leaf for a race that must be reversed (section 6.2)";
    for (int k = 0; k < t->length; k++) paper_tree_free(t->trees[k]);
    *races += t->races;
    return wrong;
}
