/* Wakeup trees (2017, section 6): for each node of the path, the branches still to be explored, each with the
 * steps that must come first so that no sleep set will block it.
 *
 * The branch under exploration is not kept: nothing that is inserted at a node can be equivalent to something
 * below its current branch, because its first step conflicts with it. A node of the path has the list of the
 * branches after the current one; when the search takes a branch, its children become the list of the next
 * node of the path. Trees live in a pool with a free list. */
#include "exploration.h"

struct mz_wakeup_node {
    struct mz_elem elem;
    uint32_t child, next; /* first child, next sibling; 0: none */
};

static uint32_t new_node(struct mz_exploration *x, struct mz_elem elem)
{
    uint32_t w = x->wakeup_free;
    if (w)
        x->wakeup_free = x->wakeup[w].next;
    else
        w = x->wakeup_count++;
    x->wakeup[w] = (struct mz_wakeup_node){elem, 0, 0};
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

void mz_wakeup_clear(struct mz_exploration *x, uint32_t *list)
{
    while (*list) {
        struct mz_elem ignored;
        uint32_t children = mz_wakeup_pop(x, list, &ignored);
        mz_wakeup_clear(x, &children);
    }
}

/* The first branch of the list that can come first in something equivalent to v and what may follow (Lemma
 * 4.6), or 0 and where the list ends. Its step is taken out of v. */
static uint32_t compatible(struct mz_exploration *x, uint32_t **list, struct mz_sequence *v)
{
    uint32_t w, at;
    for (; (w = **list); *list = &x->wakeup[w].next) {
        if (mz_sequence_weak_initial(v, &x->wakeup[w].elem, &at) == MZ_UNCOVERED) continue;
        if (at != MZ_END) mz_sequence_take(v, at);
        return w;
    }
    return 0;
}

/* insert(v, tree): walk down the first branch that is compatible with v; if that ends in a leaf, v is
 * covered; otherwise what is left of v becomes a new branch, after all others. v is used up. */
void mz_wakeup_insert(struct mz_exploration *x, uint32_t *list, struct mz_sequence *v)
{
    for (uint32_t w; (w = compatible(x, &list, v)); list = &x->wakeup[w].child)
        if (!x->wakeup[w].child) return; /* a leaf */
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->elems[i].thread == MZ_NOBODY) continue;
        *list = new_node(x, v->elems[i]);
        list = &x->wakeup[*list].child;
    }
}
