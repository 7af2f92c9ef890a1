/* No reduction: from every node, everything that is enabled. With sleep sets (Godefroid 1996) no two complete
 * executions are equivalent, but a great many are begun and cut short. */
#include "reduction.h"

static struct mz_step enter(struct mz_exploration *x, uint32_t k)
{
    x->nodes[k].backtrack = x->nodes[k].enabled;
    return mz_default_step(x, k);
}

static void event(struct mz_exploration *x, mz_number n, uint32_t races)
{
    (void)n;
    x->race_count -= races;
}

static void end(struct mz_exploration *x) { (void)x; }

bool mz_all_asleep(const struct mz_exploration *x, uint32_t k, int thread)
{
    const struct mz_node *n = &x->nodes[k];
    if (!(n->asleep & mz_bit(thread))) return false;
    for (uint32_t i = 0; i < n->sleep_count; i++) {
        const struct mz_elem *e = &x->sleep[n->sleep_start + i];
        if (e->thread != thread) continue;
        if (mz_has_choices(e->op)) return false;
    }
    return true;
}

/* Shared by all reductions with backtrack sets: the next choice of the current thread, or the next thread of
 * backtrack that is neither done nor asleep. */
bool mz_next_in_backtrack(struct mz_exploration *x, uint32_t k)
{
    struct mz_node *n = &x->nodes[k];
    n->choices &= ~mz_sleep_choices(x, k, n->step.thread);
    if (n->choices && !x->barren) {
        n->step.choice = (uint8_t)__builtin_ctzll(n->choices);
        n->choices &= n->choices - 1;
        return true;
    }
    x->barren = false;
    n->done |= mz_bit(n->step.thread);
    for (uint64_t todo = n->backtrack & ~n->done; todo; todo &= todo - 1) {
        int t = __builtin_ctzll(todo);
        if (mz_all_asleep(x, k, t)) continue;
        n->step = (struct mz_step){(uint8_t)t, MZ_ANY};
        return true;
    }
    return false;
}

const struct mz_reduction mz_reduction_none = {"none", true, enter, event, NULL, end, mz_next_in_backtrack,
                                               NULL,   false};
