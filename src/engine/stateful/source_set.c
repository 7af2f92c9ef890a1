/* Persistent sets, and so source sets, from what is known to happen later: 2023, Fig. 2.
 *
 * Let t be explored from state s, and A the future of the state that t leads to. A thread that conflicts with
 * the step of t somewhere in A may come first in another execution, so it belongs to the set too. If it is
 * not enabled in s, the paper gives up and takes all enabled threads. But such a thread cannot do anything
 * before something else happens:
 *
 *   it has not been started, or waits to be woken or to join   a step that starts or wakes it (MZ_OP_WOKEN in A)
 *   it waits for a mutex that a thread holds                    a step of that thread
 *   it waits for something else                                 an event on that object (in A)
 *
 * So it is enough to take the threads that can do this; if they are not enabled either, repeat this for them.
 * A thread that no thread can enable will never run. */
#include "engine/stateful/stateful.h"

uint64_t mz_conflicting(const struct mz_exploration *x, const struct mz_elem *e,
                        const struct mz_elem *entries, uint32_t count)
{
    uint64_t threads = 0;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].op != MZ_OP_WOKEN && entries[i].thread != e->thread &&
            mz_conflict(&x->trace, e, &entries[i]))
            threads |= mz_bit(entries[i].thread);
    return threads;
}

void mz_add_stirrers(uint64_t *stirrers, const struct mz_elem *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].op == MZ_OP_WOKEN) stirrers[entries[i].object] |= mz_bit(entries[i].thread);
}

/* The threads with events on the object that may enable a thread that waits for it. */
static uint64_t users(const struct mz_trace *tr, uint32_t object, const struct mz_elem *entries,
                      uint32_t count)
{
    struct mz_elem wait = {.object = object, .access = MZ_READS};
    uint64_t threads = 0;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].op != MZ_OP_WOKEN && mz_conflict(tr, &wait, &entries[i]))
            threads |= mz_bit(entries[i].thread);
    return threads;
}

uint64_t mz_needed(const struct mz_exploration *x, uint32_t k, uint64_t threads, const uint64_t *stirrers,
                   const struct mz_elem *entries, uint32_t count)
{
    const struct mz_mark *m = &x->stateful->marks[k];
    uint64_t enabled = x->nodes[k].enabled, seen = 0, todo;
    while ((todo = threads & ~seen & ~enabled)) {
        int p = __builtin_ctzll(todo);
        seen |= mz_bit(p);
        if (!(m->alive & mz_bit(p)) || m->sleeping & mz_bit(p))
            threads |= stirrers[p];
        else if (m->holder[p] != MZ_NOBODY)
            threads |= mz_bit(m->holder[p]);
        else
            threads |= users(&x->trace, m->blocked_on[p], entries, count) & ~mz_bit(p);
    }
    return threads & enabled;
}

/* The largest subset of `set` that contains the current sets of all its members. */
static uint64_t closed(const struct mz_mark *m, uint64_t set)
{
    for (uint64_t before = 0; before != set;) {
        before = set;
        for (uint64_t t = set; t; t &= t - 1)
            if (m->current[__builtin_ctzll(t)] & ~before) set &= ~(t & -t);
    }
    return set;
}

uint64_t mz_update_back(struct mz_exploration *x, uint32_t k)
{
    const struct mz_node *n = &x->nodes[k];
    const struct mz_mark *m = &x->stateful->marks[k];
    uint64_t all = n->done;
    if (closed(m, n->done)) return n->done;
    for (uint64_t t = n->done; t; t &= t - 1) all |= m->current[__builtin_ctzll(t)];
    return all & n->enabled;
}
