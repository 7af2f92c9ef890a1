/* The balancer's tree: see balance_internal.h for what it is, and the head of balance.c for why. */
#include "dist/balance/balance_internal.h"

#include <stdlib.h>
#include <string.h>

void *mz_grow(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p) abort();
    return p;
}

/* ---- nodes ---- */

static uint32_t new_node(struct mz_balance *b)
{
    uint32_t i = b->first_free;
    if (i != MZ_NONE) {
        b->first_free = b->nodes[i].parent;
    } else {
        if (b->count == b->capacity) {
            b->capacity = b->capacity ? 2 * b->capacity : 64;
            b->nodes = mz_grow(b->nodes, b->capacity * sizeof *b->nodes);
        }
        i = b->count++;
    }
    b->nodes[i] =
        (struct mz_tree_node){.parent = MZ_NONE, .depth = MZ_NONE, .asleep_count = MZ_NONE, .used = true};
    return i;
}

static void free_node(struct mz_balance *b, uint32_t i)
{
    struct mz_tree_node *n = &b->nodes[i];
    free(n->branches);
    free(n->asleep);
    b->bytes -= n->capacity * sizeof *n->branches;
    if (n->asleep) b->bytes -= n->asleep_count * sizeof *n->asleep;
    *n = (struct mz_tree_node){.parent = b->first_free};
    b->first_free = i;
}

/* The list of the depth of the node (B5). */
static uint32_t *list_of(struct mz_balance *b, uint32_t i)
{
    uint32_t k = b->nodes[i].depth + 1;
    return &b->lists[k < b->trace.capacity ? k : b->trace.capacity];
}

static void list(struct mz_balance *b, uint32_t i)
{
    uint32_t *first = list_of(b, i), k = (uint32_t)(first - b->lists);
    struct mz_tree_node *n = &b->nodes[i];
    n->next = *first ? *first - 1 : i;
    n->previous = *first ? b->nodes[n->next].previous : i;
    b->nodes[n->previous].next = b->nodes[n->next].previous = i;
    if (!*first) *first = i + 1;
    if (k < b->shallowest) b->shallowest = k;
    b->listed++;
}

static void unlist(struct mz_balance *b, uint32_t i)
{
    uint32_t *first = list_of(b, i);
    const struct mz_tree_node *n = &b->nodes[i];
    if (*first == i + 1) *first = n->next == i ? 0 : n->next + 1;
    b->nodes[n->previous].next = n->next;
    b->nodes[n->next].previous = n->previous;
    b->listed--;
}

void mz_tree_clear(struct mz_balance *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (!b->nodes[i].used) continue;
        *list_of(b, i) = 0;
        free_node(b, i);
    }
    b->count = b->listed = 0;
    b->first_free = MZ_NONE;
}

void mz_tree_begin(struct mz_balance *b)
{
    mz_tree_clear(b);
    mz_tree_branch(b, new_node(b), (struct mz_elem){0}, MZ_BRANCH_WAITING);
}

uint32_t mz_tree_node(struct mz_balance *b, struct mz_spot p)
{
    uint32_t i = new_node(b);
    struct mz_tree_node *n = &b->nodes[i];
    n->parent = p.node;
    n->branch = p.branch;
    n->depth = b->nodes[p.node].depth + 1;
    mz_branch_at(b, p)->node = i;
    return i;
}

/* ---- what is asleep (B2) ---- */

static void make_room_for_asleep(struct mz_balance *b, uint32_t wanted)
{
    if (wanted <= b->asleep_room) return;
    b->asleep_room = 2 * wanted;
    b->asleep = mz_grow(b->asleep, b->asleep_room * sizeof *b->asleep);
}

/* Go from a node down its branch: keep the sleepers in b->asleep that are independent of the branch, add the branches
 * before it that are; return their number. */
static uint32_t pass(struct mz_balance *b, const struct mz_tree_node *n, uint32_t branch, uint32_t count)
{
    const struct mz_elem *e = &n->branches[branch].elem;
    uint32_t left = 0;
    make_room_for_asleep(b, count + branch);
    for (uint32_t j = 0; j < count + branch; j++) {
        struct mz_elem q = j < count ? b->asleep[j] : n->branches[j - count].elem;
        if (q.choice == MZ_ANY) continue; /* a thread without a known step cannot be asleep */
        if (q.thread != e->thread && !mz_conflict(&b->trace, &q, e)) b->asleep[left++] = q;
    }
    return left;
}

/* Return the node, with its sleep set computed. Start from the nearest node above whose sleep set is known,
 * or from the root. */
static const struct mz_tree_node *with_asleep(struct mz_balance *b, uint32_t node)
{
    struct mz_tree_node *n = &b->nodes[node];
    if (n->asleep_count != MZ_NONE) return n;
    uint32_t length = 0, i = node, count = 0;
    while (b->sleep_sets && b->nodes[i].asleep_count == MZ_NONE && b->nodes[i].depth + 1 > 1) {
        b->walk[length++] = (struct mz_spot){b->nodes[i].parent, b->nodes[i].branch};
        i = b->nodes[i].parent;
    }
    if (b->nodes[i].asleep_count != MZ_NONE) {
        count = b->nodes[i].asleep_count;
        make_room_for_asleep(b, count);
        if (count) memcpy(b->asleep, b->nodes[i].asleep, count * sizeof *b->asleep);
    }
    while (length-- > 0) count = pass(b, &b->nodes[b->walk[length].node], b->walk[length].branch, count);
    n->asleep_count = count;
    if (!count) return n;
    n->asleep = mz_grow(NULL, count * sizeof *n->asleep);
    memcpy(n->asleep, b->asleep, count * sizeof *n->asleep);
    b->bytes += count * sizeof *n->asleep;
    return n;
}

/* ---- branches ---- */

/* Keep B3 when a branch of node i becomes DONE, or (more) stops being DONE. Go up as long as the branch that
 * leads to the node changes, too. */
static void count_undone(struct mz_balance *b, uint32_t i, bool more)
{
    for (;;) {
        struct mz_tree_node *n = &b->nodes[i];
        n->undone += more ? 1u : -1u;
        if (n->parent == MZ_NONE || n->undone != (more ? 1 : 0)) return;
        struct mz_branch *up = &b->nodes[n->parent].branches[n->branch];
        if ((up->state == MZ_BRANCH_DONE) != more) return; /* it need not change */
        up->state = more ? MZ_BRANCH_OPEN : MZ_BRANCH_DONE;
        i = n->parent;
    }
}

void mz_tree_state(struct mz_balance *b, struct mz_spot p, enum mz_branch_state state)
{
    struct mz_branch *branch = mz_branch_at(b, p);
    int waits = (state == MZ_BRANCH_WAITING) - (branch->state == MZ_BRANCH_WAITING);
    bool was_done = branch->state == MZ_BRANCH_DONE;
    b->nodes[p.node].waiting += (uint32_t)waits;
    if (waits > 0 && b->nodes[p.node].waiting == 1) list(b, p.node);
    if (waits < 0 && b->nodes[p.node].waiting == 0) unlist(b, p.node);
    for (uint32_t i = p.node; waits && i != MZ_NONE; i = b->nodes[i].parent)
        b->nodes[i].below += (uint32_t)waits;
    branch->state = (uint8_t)state;
    if (was_done != (state == MZ_BRANCH_DONE)) count_undone(b, p.node, was_done);
}

void mz_tree_reserve(struct mz_balance *b, uint32_t i, uint32_t more)
{
    struct mz_tree_node *n = &b->nodes[i];
    if (n->capacity - n->count >= more) return;
    b->bytes += (n->count + more - n->capacity) * sizeof *n->branches;
    n->capacity = n->count + more;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): free_node() has set branches to NULL */
    n->branches = mz_grow(n->branches, n->capacity * sizeof *n->branches);
}

uint32_t mz_tree_branch(struct mz_balance *b, uint32_t i, struct mz_elem elem, enum mz_branch_state state)
{
    struct mz_tree_node *n = &b->nodes[i];
    if (n->count == n->capacity) mz_tree_reserve(b, i, n->count ? n->count : 1);
    n->threads |= mz_bit(elem.thread);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    n->branches[n->count] = (struct mz_branch){
        .elem = elem, .state = MZ_BRANCH_DONE, .part = true, .worker = MZ_NONE, .node = MZ_NONE};
    mz_tree_state(b, (struct mz_spot){i, n->count++}, state);
    return n->count - 1;
}

void mz_tree_branch_behind(struct mz_balance *b, struct mz_spot p, struct mz_elem elem)
{
    uint32_t last = mz_tree_branch(b, p.node, elem, MZ_BRANCH_WAITING);
    struct mz_branch *branches = b->nodes[p.node].branches, new = branches[last];
    for (uint32_t j = last; j > p.branch + 1; j--) {
        MZ_ASSERT(branches[j - 1].node == MZ_NONE && branches[j - 1].state == MZ_BRANCH_WAITING);
        branches[j] = branches[j - 1];
    }
    branches[p.branch + 1] = new;
}

bool mz_tree_asleep(struct mz_balance *b, uint32_t node, uint8_t thread)
{
    const struct mz_tree_node *n = with_asleep(b, node);
    bool asleep = false;
    for (uint32_t k = 0; k < n->asleep_count; k++) {
        if (n->asleep[k].thread != thread) continue;
        if (mz_has_choices(n->asleep[k].op)) return false;
        asleep = true;
    }
    return asleep;
}

static void drop_below(struct mz_balance *b, uint32_t top)
{
    uint32_t i = top, up;
    for (;;) { /* go down to a node without child nodes, and free it */
        struct mz_tree_node *n = &b->nodes[i];
        uint32_t j = 0;
        while (j < n->count && n->branches[j].node == MZ_NONE) j++;
        if (j < n->count) {
            i = n->branches[j].node;
            n->branches[j].node = MZ_NONE;
            continue;
        }
        up = n->parent;
        free_node(b, i);
        if (i == top) return;
        i = up;
    }
}

/* B3: drop the nodes that come before every branch that is not DONE. */
void mz_tree_prune(struct mz_balance *b)
{
    for (uint32_t i = 0; i != MZ_NONE;) {
        struct mz_tree_node *n = &b->nodes[i];
        for (; n->pruned < n->count && n->branches[n->pruned].state == MZ_BRANCH_DONE; n->pruned++) {
            uint32_t node = n->branches[n->pruned].node;
            n->branches[n->pruned].node = MZ_NONE;
            if (node != MZ_NONE) drop_below(b, node);
        }
        i = n->pruned < n->count ? n->branches[n->pruned].node : MZ_NONE;
    }
}

/* ---- wakeup trees ---- */

struct rest {
    uint32_t list, node;
};

void mz_tree_add(struct mz_balance *b, uint32_t node, uint32_t *list)
{
    size_t count = 1, room = 1;
    struct rest *todo = mz_grow(NULL, sizeof *todo);
    todo[0] = (struct rest){*list, node};
    while (count > 0) {
        struct rest r = todo[--count];
        mz_tree_reserve(b, r.node, mz_wakeup_branches(&b->trace, r.list));
        for (uint32_t w = r.list; w; w = b->trace.wakeup.nodes[w].next) {
            uint32_t child = b->trace.wakeup.nodes[w].child;
            enum mz_branch_state state = child ? MZ_BRANCH_OPEN : MZ_BRANCH_WAITING;
            struct mz_spot p = {r.node, mz_tree_branch(b, r.node, b->trace.wakeup.nodes[w].elem, state)};
            mz_branch_at(b, p)->part = !child;
            if (!child) continue;
            if (count == room) todo = mz_grow(todo, (room *= 2) * sizeof *todo);
            todo[count++] = (struct rest){child, mz_tree_node(b, p)};
        }
    }
    free(todo);
    mz_wakeup_clear(&b->trace, list);
}

/* The first branch of the node, from branch `from` on, that v can start with, or MZ_NONE. Its step is taken
 * out of v. */
static uint32_t compatible(struct mz_balance *b, uint32_t i, uint32_t from)
{
    struct mz_sequence *v = &b->trace.sequence;
    const struct mz_tree_node *n = &b->nodes[i];
    for (uint32_t j = from, at; j < n->count; j++) {
        if (mz_sequence_weak_initial(&b->trace, v, &n->branches[j].elem, &at) == MZ_UNCOVERED) continue;
        if (at != MZ_END) mz_sequence_take(v, at);
        return j;
    }
    return MZ_NONE;
}

/* Append the needed rest of v to node i as a new branch. */
static uint32_t append(struct mz_balance *b, uint32_t i, uint32_t length)
{
    struct mz_sequence *v = &b->trace.sequence;
    struct mz_spot p = {MZ_NONE, 0};
    mz_sequence_close(&b->trace, v);
    for (uint32_t e = 0; e < v->keep; e++) {
        if (v->elems[e].thread == MZ_NOBODY || !v->needed[e]) continue;
        if (p.node != MZ_NONE) {
            mz_branch_at(b, p)->part = false;
            mz_tree_state(b, p, MZ_BRANCH_OPEN);
            i = mz_tree_node(b, p);
        }
        p = (struct mz_spot){i, mz_tree_branch(b, i, v->elems[e], MZ_BRANCH_WAITING)};
        b->path[length++] = p;
    }
    MZ_ASSERT(p.node != MZ_NONE);
    b->counts.inserted++;
    return length;
}

uint32_t mz_tree_insert(struct mz_balance *b, struct mz_spot from)
{
    struct mz_sequence *v = &b->trace.sequence;
    const struct mz_tree_node *n = with_asleep(b, from.node);
    uint32_t length = 0, j, at, i = from.node, first = from.branch + 1;
    /* For each step that is asleep below this branch (B1), mark the element of v that keeps the step from coming
     * first as needed. The worker has seen that none of these steps covers v. */
    for (j = 0; j < n->asleep_count; j++) mz_sequence_weak_initial(&b->trace, v, &n->asleep[j], &at);
    for (j = 0; j < from.branch; j++) mz_sequence_weak_initial(&b->trace, v, &n->branches[j].elem, &at);
    while ((j = compatible(b, i, first)) != MZ_NONE) {
        struct mz_spot p = {i, j};
        b->path[length++] = p;
        if (mz_branch_at(b, p)->part) return length;
        i = mz_branch_at(b, p)->node;
        MZ_ASSERT(i != MZ_NONE);
        first = 0;
    }
    return append(b, i, length);
}
