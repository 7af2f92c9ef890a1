/* Wakeup trees (2017, section 6): for each node of the path, the branches still to be explored, each with the
 * steps that must come first so that no sleep set will block it.
 *
 * The tree does not hold the branch under exploration: nothing that is inserted at a node can be equivalent
 * to something below its current branch, because it conflicts with the first step of that branch. A node of
 * the path has the list of the branches after the current one; when the search takes a branch, its children
 * become the list of the next node of the path. Trees live in a pool with a free list; mz_explore_full makes
 * sure that there is room for the next insertion. */
#include "trace/trace.h"
#include "base/region.h"

static uint32_t new_node(struct mz_trace *tr, struct mz_elem elem)
{
    uint32_t w = tr->wakeup.first_free;
    if (w)
        tr->wakeup.first_free = tr->wakeup.nodes[w].next;
    else
        w = tr->wakeup.count++;
    tr->wakeup.nodes[w] = (struct mz_wakeup_node){.elem = elem, .order = ++tr->wakeup.order};
    if (++tr->wakeup.live > tr->wakeup.peak) tr->wakeup.peak = tr->wakeup.live;
    return w;
}

static void free_node(struct mz_trace *tr, uint32_t w)
{
    tr->wakeup.nodes[w].next = tr->wakeup.first_free;
    tr->wakeup.first_free = w;
    tr->wakeup.live--;
}

/* Take the first branch off the list; returns the list of its children. */
uint32_t mz_wakeup_pop(struct mz_trace *tr, uint32_t *list, struct mz_elem *first)
{
    uint32_t w = *list;
    uint32_t children = tr->wakeup.nodes[w].child;
    *first = tr->wakeup.nodes[w].elem;
    *list = tr->wakeup.nodes[w].next;
    free_node(tr, w);
    return children;
}

/* No recursion: a branch can be as long as an execution. The children of a removed node take its place in the list. */
void mz_wakeup_clear(struct mz_trace *tr, uint32_t *list)
{
    while (*list) {
        struct mz_elem ignored;
        uint32_t children = mz_wakeup_pop(tr, list, &ignored), last = children;
        if (!children) continue;
        while (tr->wakeup.nodes[last].next) last = tr->wakeup.nodes[last].next;
        tr->wakeup.nodes[last].next = *list;
        *list = children;
    }
}

/* Find the first branch of the list whose step is in WI(v): it can come first in something equivalent to v and
 * a continuation of v (Lemma 4.6). Take its step out of v, and lower *cover to what the branch covers. Return 0
 * if there is none: *list is then the end of the list. */
static uint32_t compatible(struct mz_trace *tr, uint32_t **list, struct mz_sequence *v, enum mz_cover *cover)
{
    uint32_t w, at;
    for (; (w = **list); *list = &tr->wakeup.nodes[w].next) {
        enum mz_cover c = mz_sequence_weak_initial(tr, v, &tr->wakeup.nodes[w].elem, &at);
        if (c == MZ_COVERED && !v->whole) {
            mz_sequence_complete(tr, v);
            c = mz_sequence_weak_initial(tr, v, &tr->wakeup.nodes[w].elem, &at);
        }
        if (c == MZ_UNCOVERED) continue;
        if (at != MZ_END) mz_sequence_take(v, at);
        if (c < *cover) *cover = c;
        return w;
    }
    return 0;
}

/* insert(v, tree): walk down the first branch that is compatible with v. If the walk ends in a leaf, v is
 * covered; otherwise the rest of v becomes a new branch, after all others. v is used up.
 *
 * The new branch holds only the needed elements of v. Section 6.2 asks only for a prefix of something
 * equivalent to v, as long as the tree stays a wakeup tree (Definition 6.1). Let u be the new leaf. First, u
 * ~ v: u was compared with all of v, and is such a prefix (with each event it holds everything that happens
 * before it). Second, neither an element of the sleep set nor a branch before u is in WI(u): for each of them
 * u holds the element that shows that it is not in WI(v), and u holds e', which conflicts with the current
 * branch. So at the leaf the sleep set is empty, and the execution goes on freely.
 *
 * Settled: the leaf, old or new, consists of steps of the core. Then it is a prefix of every v with this
 * core, so u ~ v (property 3) for all of them. And it stays a leaf as long as the race is on the path,
 * because branches are taken from this list only when the first event of the race is taken back. */
enum mz_cover mz_wakeup_insert(struct mz_trace *tr, uint32_t *list, struct mz_sequence *v)
{
    enum mz_cover cover = MZ_SETTLED;
    v->leaf_is_new = false;
    for (uint32_t w; (w = compatible(tr, &list, v, &cover)); list = &tr->wakeup.nodes[w].child)
        if (!tr->wakeup.nodes[v->leaf = w].child) return cover; /* a leaf */
    mz_sequence_close(tr, v);
    for (uint32_t i = 0; i < v->keep; i++) {
        if (v->elems[i].thread == MZ_NOBODY || !v->needed[i]) continue;
        if (i >= v->core) cover = MZ_COVERED;
        v->leaf = *list = new_node(tr, v->elems[i]);
        list = &tr->wakeup.nodes[*list].child;
    }
    v->leaf_is_new = true;
    return cover;
}

enum mz_cover mz_wakeup_covers(struct mz_trace *tr, uint32_t tree, struct mz_sequence *v)
{
    enum mz_cover cover = MZ_SETTLED;
    uint32_t *list = &tree;
    for (uint32_t w; (w = compatible(tr, &list, v, &cover)); list = &tr->wakeup.nodes[w].child)
        if (!tr->wakeup.nodes[w].child) return tr->wakeup.nodes[w].whose == MZ_SLEEPER ? MZ_UNCOVERED : cover;
    return MZ_UNCOVERED;
}

uint32_t mz_wakeup_append(struct mz_trace *tr, uint32_t *list, struct mz_elem elem)
{
    while (*list) list = &tr->wakeup.nodes[*list].next;
    return *list = new_node(tr, elem);
}

uint32_t mz_wakeup_learn(struct mz_trace *tr, uint32_t *list, struct mz_elem elem, uint32_t order,
                         enum mz_whose whose)
{
    while (*list && tr->wakeup.nodes[*list].order < order) list = &tr->wakeup.nodes[*list].next;
    if (!*list || tr->wakeup.nodes[*list].order != order) {
        uint32_t w = new_node(tr, elem);
        tr->wakeup.nodes[w].order = order;
        tr->wakeup.nodes[w].whose = (uint8_t)whose;
        tr->wakeup.nodes[w].next = *list;
        *list = w;
    } else if (tr->wakeup.nodes[*list].whose == MZ_SLEEPER) {
        tr->wakeup.nodes[*list].whose = (uint8_t)whose;
    }
    return *list;
}

void mz_wakeup_give(struct mz_trace *tr, uint32_t list, uint32_t first)
{
    uint32_t *stack = tr->wakeup.stack, depth = 0, w = list, order = first;
    while (w || depth) {
        if (!w) {
            order = tr->wakeup.nodes[stack[--depth]].order + 1;
            w = tr->wakeup.nodes[stack[depth]].next;
            continue;
        }
        tr->wakeup.nodes[w].order = order;
        if (tr->wakeup.nodes[w].whose == MZ_MINE) tr->wakeup.nodes[w].whose = MZ_OTHERS;
        stack[depth++] = w;
        w = tr->wakeup.nodes[w].child;
        order = 0;
    }
}

uint32_t mz_wakeup_branches(const struct mz_trace *tr, uint32_t list)
{
    uint32_t count = 0;
    for (uint32_t w = list; w; w = tr->wakeup.nodes[w].next) count++;
    return count;
}

void mz_wakeup_drop_all(struct mz_trace *tr)
{
    mz_region_empty(tr->wakeup.nodes, (size_t)tr->wakeup.count * sizeof *tr->wakeup.nodes);
    tr->wakeup.count = 1;
    tr->wakeup.first_free = tr->wakeup.live = 0;
}
