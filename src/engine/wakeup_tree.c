/* Wakeup trees (2017, section 6): for each node of the path, the branches still to be explored, each with the
 * steps that must come first so that no sleep set will block it.
 *
 * The branch under exploration is not kept: nothing that is inserted at a node can be equivalent to something
 * below its current branch, because its first step conflicts with it. A node of the path has the list of the
 * branches after the current one; when the search takes a branch, its children become the list of the next
 * node of the path. Trees live in a pool with a free list; mz_explore_full sees to it that there is room for
 * what is inserted next. */
#include "exploration.h"

static uint32_t new_node(struct mz_exploration *x, struct mz_elem elem)
{
    uint32_t w = x->wakeup_free;
    if (w)
        x->wakeup_free = x->wakeup[w].next;
    else
        w = x->wakeup_count++;
    x->wakeup[w] = (struct mz_wakeup_node){.elem = elem, .order = ++x->wakeup_order};
    if (++x->counters.wakeup_nodes > x->counters.wakeup_nodes_peak)
        x->counters.wakeup_nodes_peak = x->counters.wakeup_nodes;
    return w;
}

static void free_node(struct mz_exploration *x, uint32_t w)
{
    x->wakeup[w].next = x->wakeup_free;
    x->wakeup_free = w;
    x->counters.wakeup_nodes--;
}

/* Take the first branch off the list; returns the list of its children. */
uint32_t mz_wakeup_pop(struct mz_exploration *x, uint32_t *list, struct mz_elem *first)
{
    uint32_t w = *list;
    uint32_t children = x->wakeup[w].child;
    *first = x->wakeup[w].elem;
    *list = x->wakeup[w].next;
    free_node(x, w);
    return children;
}

/* Not by recursion: a branch can be as long as an execution. The children take the place of their parent. */
void mz_wakeup_clear(struct mz_exploration *x, uint32_t *list)
{
    while (*list) {
        struct mz_elem ignored;
        uint32_t children = mz_wakeup_pop(x, list, &ignored), last = children;
        if (!children) continue;
        while (x->wakeup[last].next) last = x->wakeup[last].next;
        x->wakeup[last].next = *list;
        *list = children;
    }
}

/* The first branch of the list that can come first in something equivalent to v and what may follow (Lemma
 * 4.6), or 0 and where the list ends. Its step is taken out of v; the cover goes down to what it covers. */
static uint32_t compatible(struct mz_exploration *x, uint32_t **list, struct mz_sequence *v,
                           enum mz_cover *cover)
{
    uint32_t w, at;
    for (; (w = **list); *list = &x->wakeup[w].next) {
        enum mz_cover c = mz_sequence_weak_initial(x, v, &x->wakeup[w].elem, &at);
        if (c == MZ_COVERED && !v->whole) {
            mz_sequence_complete(x, v);
            c = mz_sequence_weak_initial(x, v, &x->wakeup[w].elem, &at);
        }
        if (c == MZ_UNCOVERED) continue;
        if (at != MZ_END) mz_sequence_take(v, at);
        if (c < *cover) *cover = c;
        return w;
    }
    return 0;
}

/* insert(v, tree): walk down the first branch that is compatible with v; if that ends in a leaf, v is
 * covered; otherwise what is left of v becomes a new branch, after all others. v is used up.
 *
 * The new branch is only what is needed of v. A prefix of something equivalent to v is all that section 6.2
 * asks for as long as the tree stays a wakeup tree (Definition 6.1): the new leaf u is u ~ v because it was
 * compared with all of v and then is such a prefix (it holds all that happens before what it holds); and
 * neither an element of the sleep set nor a branch before it is in WI(u), because it holds what shows for
 * each of them that it is not in WI(v), and e', which conflicts with the current branch. So at the leaf the
 * sleep set is empty, and the execution goes on freely.
 *
 * Settled: the leaf, old or new, consists of steps of the core. Then it is a prefix of every v with this
 * core, so u ~ v (property 3) for all of them; and it stays a leaf as long as the race is on the path,
 * because branches are taken from this list only when the first event of the race is taken back. */
enum mz_cover mz_wakeup_insert(struct mz_exploration *x, uint32_t *list, struct mz_sequence *v)
{
    enum mz_cover cover = MZ_SETTLED;
    for (uint32_t w; (w = compatible(x, &list, v, &cover)); list = &x->wakeup[w].child)
        if (!x->wakeup[v->leaf = w].child) return cover; /* a leaf */
    mz_sequence_close(x, v);
    for (uint32_t i = 0; i < v->keep; i++) {
        if (v->elems[i].thread == MZ_NOBODY || !v->needed[i]) continue;
        if (i >= v->core) cover = MZ_COVERED;
        v->leaf = *list = new_node(x, v->elems[i]);
        list = &x->wakeup[*list].child;
    }
    if (mz_unlikely(x->tree_log)) mz_tree_log_new_leaf(x, v->leaf);
    return cover;
}

enum mz_cover mz_wakeup_covers(struct mz_exploration *x, uint32_t tree, struct mz_sequence *v)
{
    enum mz_cover cover = MZ_SETTLED;
    uint32_t *list = &tree;
    for (uint32_t w; (w = compatible(x, &list, v, &cover)); list = &x->wakeup[w].child)
        if (!x->wakeup[w].child) return x->wakeup[w].whose == MZ_SLEEPER ? MZ_UNCOVERED : cover;
    return MZ_UNCOVERED;
}

uint32_t mz_wakeup_append(struct mz_exploration *x, uint32_t *list, struct mz_elem elem)
{
    while (*list) list = &x->wakeup[*list].next;
    return *list = new_node(x, elem);
}

uint32_t mz_wakeup_learn(struct mz_exploration *x, uint32_t *list, struct mz_elem elem, uint32_t order,
                         enum mz_whose whose)
{
    while (*list && x->wakeup[*list].order < order) list = &x->wakeup[*list].next;
    if (!*list || x->wakeup[*list].order != order) {
        uint32_t w = new_node(x, elem);
        x->wakeup[w].order = order;
        x->wakeup[w].whose = (uint8_t)whose;
        x->wakeup[w].next = *list;
        *list = w;
    } else if (x->wakeup[*list].whose == MZ_SLEEPER) {
        x->wakeup[*list].whose = (uint8_t)whose;
    }
    return *list;
}

void mz_wakeup_give(struct mz_exploration *x, uint32_t list, uint32_t first)
{
    uint32_t *stack = x->share.trail_stack, depth = 0, w = list, order = first;
    while (w || depth) {
        if (!w) {
            order = x->wakeup[stack[--depth]].order + 1;
            w = x->wakeup[stack[depth]].next;
            continue;
        }
        x->wakeup[w].order = order;
        if (x->wakeup[w].whose == MZ_MINE) x->wakeup[w].whose = MZ_OTHERS;
        stack[depth++] = w;
        w = x->wakeup[w].child;
        order = 0;
    }
}
