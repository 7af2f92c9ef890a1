/* Sleep sets (2017, section 2; Algorithm 1, lines 10 and 12): steps whose exploration from here would only
 * repeat what has been explored. Elements carry the object and access they had when they were explored; as
 * an element leaves the set with the first conflicting event, they are the same now. */
#include "engine/exploration.h"

void mz_sleep_inherit(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *from = &x->nodes[k], *to = &x->nodes[k + 1];
    struct mz_elem e = mz_elem_of(&x->trace.events[k]);
    to->sleep_start = from->sleep_start + from->sleep_count;
    to->sleep_count = 0;
    MZ_ASSERT(to->sleep_start + from->sleep_count < x->sleep_capacity);
    to->asleep = 0;
    for (uint32_t i = 0; i < from->sleep_count; i++) {
        struct mz_elem *q = &x->sleep[from->sleep_start + i];
        if (q->thread == e.thread || mz_conflict(&x->trace, q, &e)) continue;
        x->sleep[to->sleep_start + to->sleep_count++] = *q;
        to->asleep |= mz_bit(q->thread);
    }
    to->inherited = to->sleep_count;
}

void mz_sleep_none(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    n->sleep_start = n->sleep_count = n->inherited = 0;
    n->asleep = 0;
}

void mz_sleep_add(struct mz_exploration *x, uint32_t k, struct mz_elem e)
{
    struct mz_node *n = &x->nodes[k];
    MZ_ASSERT(n->sleep_start + n->sleep_count < x->sleep_capacity);
    x->sleep[n->sleep_start + n->sleep_count++] = e;
    n->asleep |= mz_bit(e.thread);
}

uint64_t mz_sleep_whole(const struct mz_exploration *x, uint32_t k)
{
    uint64_t whole = 0;
    for (uint64_t t = x->nodes[k].asleep; t; t &= t - 1) {
        int thread = __builtin_ctzll(t);
        if (!(x->view->pending[thread].choices & ~mz_sleep_choices(x, k, thread))) whole |= t & -t;
    }
    return whole;
}

void mz_sleep_keep(struct mz_exploration *x, uint32_t k, uint64_t threads)
{
    struct mz_node *n = &x->nodes[k];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->sleep_count; i++) {
        struct mz_elem e = x->sleep[n->sleep_start + i];
        if (threads & mz_bit(e.thread)) x->sleep[n->sleep_start + kept++] = e;
    }
    n->sleep_count = n->inherited = kept;
    n->asleep &= threads;
}

/* Choices of the thread that are asleep at node k. */
uint64_t mz_sleep_choices(const struct mz_exploration *x, uint32_t k, int thread)
{
    const struct mz_node *n = &x->nodes[k];
    uint64_t choices = 0;
    if (!(n->asleep & mz_bit(thread))) return 0;
    for (uint32_t i = 0; i < n->sleep_count; i++)
        if (x->sleep[n->sleep_start + i].thread == thread)
            choices |= mz_bit(x->sleep[n->sleep_start + i].choice);
    return choices;
}

static enum mz_cover best_cover(const struct mz_exploration *x, uint32_t k, struct mz_sequence *v)
{
    const struct mz_node *n = &x->nodes[k];
    enum mz_cover best = MZ_UNCOVERED;
    for (uint32_t i = 0, at; i < n->sleep_count && best != MZ_SETTLED; i++) {
        enum mz_cover c = mz_sequence_weak_initial(&x->trace, v, &x->sleep[n->sleep_start + i], &at);
        if (c > best) best = c;
    }
    return best;
}

/* Do sleep(E') and WI(v) have a common element? Then an execution that starts like v has been explored. */
enum mz_cover mz_sleep_covers(struct mz_exploration *x, uint32_t k, struct mz_sequence *v)
{
    enum mz_cover cover = best_cover(x, k, v);
    if (cover != MZ_COVERED) return cover;
    mz_sequence_complete(&x->trace, v);
    return best_cover(x, k, v);
}
