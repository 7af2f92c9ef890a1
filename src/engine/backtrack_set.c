/* Nodes with backtrack sets: which branch comes next, and which branches are left. For reductions with
 * uses_backtrack_sets. estimate.c and worker_split.c also ask which branches such a node has left. */
#include "engine/reduction.h"

struct mz_step mz_enter_alone(struct mz_exploration *x, uint32_t k)
{
    struct mz_step step = mz_default_step_of(x, k, x->nodes[k].persistent);
    if (step.thread != MZ_NOBODY) x->nodes[k].backtrack = x->nodes[k].current = mz_bit(step.thread);
    x->nodes[k].marked = 0;
    x->nodes[k + 1].wakeup = 0;
    return step;
}

/* `current` is the persistent set that is being computed at node k. If a race asks for a thread that is not enabled there, or
 * that is marked, the set can not become persistent. Then its threads are marked, and a new set begins with a thread that
 * has not been explored yet. Every thread of an earlier set is marked, not only proc(t_i) as in the paper: what the others
 * of that set led to may have asked for proc(t_i). If no thread is left, all enabled threads are explored. So in the end
 * the last `current` is persistent and explored, or everything is explored. */
void mz_want_marked(struct mz_exploration *x, uint32_t k, uint64_t wanted)
{
    struct mz_node *n = &x->nodes[k];
    uint64_t fresh = wanted & ~n->marked, left = n->persistent & ~n->backtrack;
    if (wanted & n->current) return;
    if (!fresh) {
        n->marked |= n->current;
        n->current = 0;
        fresh = left;
    }
    n->current |= fresh & -fresh;
    n->backtrack |= fresh & -fresh;
}

uint64_t mz_persistent_initials(struct mz_exploration *x, const struct mz_race *race)
{
    uint64_t set = mz_last_is_initial(&x->trace, race) ? mz_bit(race->last.thread) : 0;
    const uint32_t *clock = mz_clock_at(&x->trace, mz_clock_of_last(&x->trace, race));
    for (uint64_t t = x->nodes[race->first - 1].enabled; t; t &= t - 1) {
        int q = __builtin_ctzll(t);
        mz_number f = mz_first_event_after(&x->trace, q, race->first);
        if (f && clock[q] >= f && f != race->second && mz_is_initial(&x->trace, race, q)) set |= mz_bit(q);
    }
    return set;
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
    for (uint64_t todo = n->backtrack & ~n->done; todo;) {
        int t = mz_pick_thread(x, k, todo, n->step.thread);
        todo &= ~mz_bit(t);
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
