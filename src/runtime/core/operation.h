/* Performing a visible operation: post it (mz_visible), and commit it (mz_commit) when it is the thread's
 * turn. For every file that performs visible operations. */
#ifndef MZ_RUNTIME_CORE_OPERATION_H
#define MZ_RUNTIME_CORE_OPERATION_H

#include "runtime/core/runtime.h"
#include "runtime/kernel/kernel.h"
#include "runtime/sync/sync.h"

/* Call before a thread posts a visible operation: signals may interrupt the thread here. */
static inline __attribute__((always_inline)) void mz_before(const void *pc)
{
    if (mz_unlikely(rt.uses.signals)) rt.up.signal_point(pc, __builtin_frame_address(0));
}

/* The memory orders of an atomic access, as in its pending operation (engine/program.h). */
struct mz_orders {
    uint8_t order, failure;
    bool direct;
};

/* Post the next visible operation of the running thread. Return when it is the thread's turn. */
static inline void mz_visible_ordered(uint8_t op, uint64_t key, uint8_t size, uint8_t access,
                                      uint64_t expected, struct mz_orders orders, const void *pc)
{
    struct mz_pending *p = &rt.view.pending[rt.self];
    mz_before(pc);
    p->order = orders.order;
    p->failure = orders.failure;
    p->direct = orders.direct;
    p->key = key;
    p->expected = expected;
    p->pc = (uintptr_t)pc;
    p->choices = 1;
    p->op = op;
    p->size = size;
    p->access = access;
    rt.view.enabled |= (uint64_t)1 << rt.self;
    rt.hooks++;
    if (mz_unlikely(rt.section)) {
        mz_section_check(op);
        return;
    }
    mz_dispatch();
}

/* The same for an operation on anything but memory: it has no memory order. */
static inline void mz_visible(uint8_t op, uint64_t key, uint8_t size, uint8_t access, uint64_t expected,
                              const void *pc)
{
    mz_visible_ordered(op, key, size, access, expected, (struct mz_orders){0, 0, false}, pc);
}

/* The memory order without the bits that are hints for the hardware. */
#define MZ_ORDER(order) ((uint8_t)((unsigned)(order)&7))

/* Post an atomic access that the runtime performs, with one memory order. */
static inline void mz_visible_atomic(uint8_t op, uint64_t key, uint8_t size, uint8_t access, int order,
                                     const void *pc)
{
    struct mz_orders orders = {MZ_ORDER(order), MZ_ORDER(order), false};
    mz_visible_ordered(op, key, size, access, 0, orders, pc);
}

/* Post an access that an instruction of the program performs right after the hook. */
static inline void mz_visible_direct(uint8_t op, uint64_t key, uint8_t size, uint8_t access, int order,
                                     const void *pc)
{
    struct mz_orders orders = {MZ_ORDER(order), MZ_ORDER(order), true};
    mz_visible_ordered(op, key, size, access, 0, orders, pc);
}

/* Is it an operation on a futex? (Condition variables have no size.) futex.c says what it accesses. */
static inline bool mz_is_futex(uint8_t op, uint8_t size) { return size && mz_op_in(MZ_OPS_WAITERS, op); }

/* On the repeated part of the path: check that the operation is the same as before, count the step, return
 * true. Return false if the operation is new. */
static inline bool mz_commit_replayed(void)
{
    if (mz_unlikely(rt.section)) return false;
    struct mz_path *path = rt.path;
    uint32_t k = path->depth;
    if (mz_unlikely(k >= path->replay)) return false;
    const struct mz_event *e = &path->events[k];
    const struct mz_pending *p = &rt.view.pending[rt.self];
    if (mz_unlikely(e->key != p->key || e->op != p->op)) mz_diverged(rt.self);
    path->depth = k + 1;
    rt.channel->live_length = k + 1;
    return true;
}

/* The running thread has changed something that other threads or its own future can see. */
static inline void mz_changed(void) { rt.run.threads[rt.self].changes++; }

/* The running thread has written to memory by this operation. `same`: the write left the old value; op.def
 * says whether that counts as a change. */
static inline void mz_written(uint8_t op, bool same)
{
    if (!same || !mz_op_in(MZ_OPS_REPEAT, op)) mz_changed();
}

/* The posted operation happens now. engine/program.h explains `access` and `old`. */
static inline void mz_commit(enum mz_access access, uint64_t old)
{
    if (access != MZ_READS) mz_changed();
    if (!mz_commit_replayed()) mz_commit_live(access, old, 0);
}

/* The same for an operation on a synchronization object: a new operation is checked against the
 * initialisation and the destruction of the object. The caller calls mz_changed if the operation is a
 * change. */
static inline void mz_commit_use(enum mz_access access, uint64_t old)
{
    if (!mz_commit_replayed()) mz_commit_use_live(access, old);
}

/* The number of the newest event's object; 0 on the repeated part of the path. */
static inline uint32_t mz_last_object(void)
{
    return rt.path->live ? rt.path->events[rt.path->depth - 1].object : 0;
}

static inline bool mz_is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

#endif
