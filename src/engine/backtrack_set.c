/* Nodes with backtrack sets: which branch comes next, and which branches are left. For reductions with
 * uses_backtrack_sets. estimate.c and worker_split.c also ask which branches such a node has left. */
#include "engine/reduction.h"

struct mz_step mz_enter_alone(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_default_step_of(x, k, x->nodes[k].persistent);
    if (step.thread != MZ_NOBODY) x->nodes[k].backtrack = mz_bit(step.thread);
    x->nodes[k + 1].wakeup = 0;
    return step;
}

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
        n->step = (struct mz_step){.thread = (uint8_t)t, .choice = MZ_ANY};
        return true;
    }
    return false;
}

uint64_t mz_threads_left(const struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    uint64_t left = n->backtrack & ~n->done & ~mz_bit(n->step.thread);
    for (uint64_t t = left; t; t &= t - 1)
        if (mz_all_asleep(x, k, __builtin_ctzll(t))) left &= ~(t & -t);
    return left;
}

uint64_t mz_choices_left(const struct mz_exploration *x, uint32_t k)
{
    return x->nodes[k].choices & ~mz_sleep_choices(x, k, x->nodes[k].step.thread);
}
