/* What waits to be handed out: see waiting.h. */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

void *zeros(size_t bytes)
{
    void *p = memory(NULL, bytes);
    memset(p, 0, bytes);
    return p;
}

void list_add(struct list *l, uint32_t value)
{
    if (l->count == l->room) l->at = memory(l->at, (l->room = l->room ? 2 * l->room : 16) * sizeof *l->at);
    l->at[l->count++] = value;
}

void waiting_init(struct waiting *w, const struct tree *t)
{
    *w = (struct waiting){
        .t = t, .ready = zeros(t->count), .below = zeros(((size_t)t->count + 1) * sizeof *w->below)};
}

void waiting_free(struct waiting *w)
{
    free(w->ready);
    free(w->below);
    free(w->near_root.at);
}

/* ---- in the order of the search ---- */

static void count_ready(struct waiting *w, uint32_t i, uint32_t more)
{
    w->ready[i] = more == 1;
    w->count += more;
    for (uint64_t k = (uint64_t)i + 1; k <= w->t->count; k += k & -k) w->below[k] += more;
}

static uint32_t ready_before(const struct waiting *w, uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t k = i; k; k &= k - 1) sum += w->below[k];
    return sum;
}

/* Return the waiting execution that has n waiting executions before it. */
static uint32_t nth_ready(const struct waiting *w, uint32_t n)
{
    uint32_t at = 0, step = 1;
    while (step <= w->t->count / 2) step *= 2;
    for (; step; step /= 2)
        if (at + step <= w->t->count && w->below[at + step] <= n) n -= w->below[at += step];
    return at;
}

/* Go down from the root to the first node that has at least `wanted` waiting executions, but no child with that many. */
uint32_t waiting_take_batch(struct waiting *w, struct list *to, uint32_t wanted)
{
    uint32_t depth = 0, low = 0, high = w->count; /* what is below the node, by number */
    for (uint32_t n = low; n < high;) {
        uint32_t first = nth_ready(w, n), end = tree_end(w->t, first, depth + 1);
        uint32_t next = end < w->t->count ? ready_before(w, end) : w->count;
        if (next - n >= wanted && wanted > 1) {
            low = n;
            high = next;
            depth++;
        } else {
            n = next;
        }
    }
    for (uint32_t n = low + wanted; n-- > low;) list_add(to, nth_ready(w, n));
    for (size_t n = to->count - wanted; n < to->count; n++) count_ready(w, to->at[n], UINT32_MAX);
    return depth;
}

/* ---- by their distance from the root ---- */

static bool nearer(const struct waiting *w, uint32_t a, uint32_t b)
{
    uint32_t x = tree_root(w->t, a), y = tree_root(w->t, b);
    return x < y || (x == y && a < b);
}

void waiting_put(struct waiting *w, uint32_t i)
{
    struct list *l = &w->near_root;
    if (w->ready[i]) return;
    count_ready(w, i, 1);
    list_add(l, i);
    size_t k = l->count - 1;
    for (; k > 0 && nearer(w, i, l->at[(k - 1) / 2]); k = (k - 1) / 2) l->at[k] = l->at[(k - 1) / 2];
    l->at[k] = i;
}

static uint32_t pop(struct waiting *w)
{
    struct list *l = &w->near_root;
    uint32_t first = l->at[0], last = l->at[--l->count];
    size_t k = 0, child;
    while ((child = 2 * k + 1) < l->count) {
        if (child + 1 < l->count && nearer(w, l->at[child + 1], l->at[child])) child++;
        if (!nearer(w, l->at[child], last)) break;
        l->at[k] = l->at[child];
        k = child;
    }
    if (l->count) l->at[k] = last;
    return first;
}

void waiting_take_nearest(struct waiting *w, struct list *to)
{
    uint32_t i;
    while (!w->ready[i = pop(w)]) {
    }
    count_ready(w, i, UINT32_MAX);
    list_add(to, i);
}
