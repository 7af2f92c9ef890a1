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

/* Lemma 4.6: can p come first in something equivalent to v (and what may follow)? If p is in v, it is taken
 * out of it. Elements taken out have thread MZ_NOBODY. */
static enum mz_cover take_weak_initial(const struct mz_elem *p, struct mz_elem *v, uint32_t count,
                                       uint32_t core)
{
    for (uint32_t i = 0; i < count; i++) {
        if (v[i].thread == p->thread) {
            if (v[i].choice != p->choice && v[i].choice != MZ_ANY && p->choice != MZ_ANY) return MZ_UNCOVERED;
            v[i].thread = MZ_NOBODY;
            v[i].object = 0;
            return i < core ? MZ_SETTLED : MZ_COVERED;
        }
        if (mz_conflict(&v[i], p)) return MZ_UNCOVERED;
    }
    return MZ_COVERED;
}

/* The first branch of the list that is compatible with v, or 0 and where the list ends. */
static uint32_t compatible(struct mz_exploration *x, uint32_t **list, struct mz_elem *v, uint32_t count,
                           uint32_t core, enum mz_cover *cover)
{
    uint32_t w;
    for (; (w = **list); *list = &x->wakeup[w].next)
        if ((*cover = take_weak_initial(&x->wakeup[w].elem, v, count, core)) != MZ_UNCOVERED) return w;
    return 0;
}

/* insert(v, tree): walk down the first branch that is compatible with v; if that ends in a leaf, v is
 * covered; otherwise what is left of v becomes a new branch, after all others. v is used up.
 *
 * The answer is about the first step of the branch that stands for v: if it is an initial of the core of v,
 * it stands for every sequence with that core (see reduction_optimal.c). */
enum mz_cover mz_wakeup_insert(struct mz_exploration *x, uint32_t *list, struct mz_elem *v, uint32_t count,
                               uint32_t core)
{
    enum mz_cover cover = MZ_SETTLED, below;
    uint32_t w = compatible(x, &list, v, count, core, &cover);
    while (w) {
        if (!x->wakeup[w].child) return cover; /* a leaf */
        list = &x->wakeup[w].child;
        w = compatible(x, &list, v, count, core, &below);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (v[i].thread == MZ_NOBODY) continue;
        *list = new_node(x, v[i]);
        list = &x->wakeup[*list].child;
    }
    return cover;
}
