/* A bound on loops that never have to end.
 *
 *     while (!atomic_load(&done)) { lock(&m); x = 1; unlock(&m); lock(&m); x = 0; unlock(&m); }
 *
 * The loop waits, and others can see what it writes, so spin.c must not leave out any round. If the scheduler never
 * runs the other thread, the execution has no end: it reaches the step limit, and a search without states would
 * stop there with nothing seen. Instead the search starts over with a bound: a thread that comes to the same local
 * state (as spin.c defines it) for the fourth time in an execution stops for the rest of that execution.
 *
 * Invariants:
 *   I1  Without an execution that reached the step limit there is no bound: all other programs are searched whole.
 *   I2  Where a thread stops depends on its own past only. So the search is a whole search of the program with
 *       shorter loops, and every finding in it is one of the real program.
 *   I3  counters.bounded counts the stops. While it is not 0, the verdict is at best *incomplete*.
 *   I4  A thread stops where it holds no lock, since others may need it; if it never holds none, after twice as many
 *       rounds.
 *   I5  The visits are taken back with the execution (mz_keep); the bound stays, and goes to the other workers.
 *
 * Two local states with the same hash would only make the bound smaller. */
#include "rounds.h"

#include "../base/region.h"
#include "../event/message.h"

#define VISITS 128u /* local states of a thread that are remembered: the last ones */

struct visit {
    uint64_t state;
    uint64_t times;
};

static struct rounds {
    uint32_t count, next;
    struct visit visits[VISITS];
} * rounds;

bool mz_rounds_bounded; /* see I1 */

/* An execution has reached the step limit. True if the search starts over with a bound. */
bool mz_rounds_step_limit(void)
{
    mz_spin_note();
    if (mz_rounds_bounded || rt.stateful || rt.once) return false;
    mz_rounds_set(true);
    mz_explore_restart(rt.x);
    return true;
}

void mz_rounds_set(bool bounded)
{
    mz_rounds_bounded = bounded;
    if (bounded && !rounds) rounds = mz_region_reserve(MZ_SLOTS * sizeof *rounds);
    MZ_ASSERT(!bounded || rounds != NULL);
}

void mz_rounds_reset(void)
{
    if (!mz_rounds_bounded) return;
    for (uint32_t s = 0; s < rt.slots_known; s++) rounds[s].count = rounds[s].next = 0;
}

static struct visit *visit(struct rounds *r, uint64_t state)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->visits[i].state == state) return &r->visits[i];
    mz_keep(r, offsetof(struct rounds, visits));
    struct visit *v = &r->visits[r->next];
    r->next = (r->next + 1) % VISITS;
    if (r->count < VISITS) r->count++;
    mz_keep(v, sizeof *v);
    *v = (struct visit){state, 0};
    return v;
}

/* The running thread comes to a local state. True if it must stop there. */
bool mz_rounds_visit(uint64_t state)
{
    struct visit *v = visit(&rounds[rt.self], state);
    mz_keep(v, sizeof *v);
    v->times++;
    bool holds = rt.run.threads[rt.self].held_count;
    if (v->times <= (holds ? 2 * MZ_ROUNDS : MZ_ROUNDS)) return false;
    rt.channel->counters.bounded++;
    return true;
}
