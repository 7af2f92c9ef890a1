/* A bound on loops that never have to end.
 *
 *     while (!atomic_load(&done)) { lock(&m); x = 1; unlock(&m); lock(&m); x = 0; unlock(&m); }
 *
 * The loop waits, and other threads can see what it writes, so spin.c must not leave out any round. If the
 * scheduler never runs the other thread, the execution has no end: it reaches the step limit, and a stateless
 * search would stop there without any result. Two threads that each wait with trylock for a lock that the other holds
 * have such loops, too; there the search makes executions longer by one round at a time, and comes to the step limit
 * only after as many executions. So the search starts over with a bound when an execution reaches the step limit, or is
 * much longer than the first one: a thread that reaches the same local state (local.c) for the fourth time in an
 * execution stops for the rest of that execution.
 *
 * Invariants:
 *   I1  There is no bound before an execution has been that long: all other programs are searched completely.
 *   I2  The point where a thread stops depends only on its own past. So the search is a complete search of
 *       the program with shorter loops, and every finding in it is a finding of the real program.
 *   I3  counters.bounded counts the stops. While it is not 0, the verdict is at best *incomplete*.
 *   I4  A thread stops where it holds no lock, since other threads may need the lock. A thread that always holds a lock
 *       stops after twice as many rounds.
 *   I5  The visits are rolled back with the execution (mz_keep); the bound stays, and is sent to the other
 *       workers.
 *
 * Two local states with the same hash would only make the bound smaller. */
#include "base/region.h"
#include "event/packet.h"
#include "runtime/loops/loops.h"
#include "runtime/loops/room.h"
#include "runtime/rewind/rewind.h"

#define LONG   2000u /* events */
#define GROWN  16u   /* times the first execution */
#define VISITS 128u  /* the newest local states that are remembered for each thread */

struct visit {
    uint64_t state;
    uint64_t times;
};

struct rounds {
    uint32_t count, next;
    struct visit visits[VISITS];
};
#define all_rounds mz_loops_room.rounds

/* An execution has reached the step limit. Returns true if the search starts over with a bound. */
bool mz_rounds_step_limit(void)
{
    mz_spin_note();
    if (rt.rounds_bounded || rt.stateful || rt.once) return false;
    mz_rounds_set(true);
    mz_explore_restart(rt.x);
    return true;
}

/* An execution has ended. If it has many more events than the first execution, start over with a bound. */
void mz_rounds_ended(uint32_t events)
{
    uint32_t *first = &mz_loops_room.first_length;
    if (!*first) *first = events;
    if (mz_likely(events < LONG || events / GROWN < *first)) return;
    if (rt.rounds_bounded || rt.stateful || rt.once || rt.stop) return;
    mz_rounds_set(true);
    mz_explore_restart(rt.x);
}

void mz_rounds_set(bool bounded)
{
    rt.rounds_bounded = bounded;
    if (bounded && !all_rounds) all_rounds = mz_region_reserve(MZ_SLOTS * sizeof *all_rounds);
    MZ_ASSERT(!bounded || all_rounds != NULL);
}

void mz_rounds_reset(void)
{
    if (!rt.rounds_bounded) return;
    for (uint32_t s = 0; s < rt.slots_known; s++) all_rounds[s].count = all_rounds[s].next = 0;
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

/* The running thread reaches a local state. Returns true if the thread must stop there. */
bool mz_rounds_visit(uint64_t state)
{
    struct visit *v = visit(&all_rounds[rt.self], state);
    mz_keep(v, sizeof *v);
    v->times++;
    bool holds = rt.run.threads[rt.self].held_count;
    if (v->times <= (holds ? 2 * MZ_ROUNDS : MZ_ROUNDS)) return false;
    rt.channel->counters.bounded++;
    return true;
}
