/* Happens-before, as C11 defines it: it decides whether two accesses are a data race. Code that needs to know
 * whether something that another thread did is ordered before what the running thread does now calls
 * mz_happens_before. No other code reads epochs of other threads. A memory model that orders accesses in
 * another way changes this function and race_order.c. */
#ifndef MZ_RUNTIME_MEMORY_RACE_ORDER_H
#define MZ_RUNTIME_MEMORY_RACE_ORDER_H

#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"

/* Does everything that the other thread did up to its epoch `epoch` happen before what the running thread
 * does now? Call it only while live: during replay the answer is not known. The cheap tests come first: the
 * creation of the running thread, the end of the other thread, and what a mutex told (mz_sync_knows). */
static inline bool mz_happens_before(int other, uint32_t epoch)
{
    const struct mz_thread *me = &rt.run.threads[rt.self];
    if (other == rt.self || (me->parent == other + 1 && epoch <= me->created_in)) return true;
    if (rt.run.threads[other].joined_by == rt.self + 1 || epoch <= me->knows[other]) return true;
    return epoch <= mz_sync_seen(rt.self, other);
}

#endif
