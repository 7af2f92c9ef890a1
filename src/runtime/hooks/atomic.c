/* C11 atomics and the __atomic and __sync builtins: the compiler turns each into a call of one of these
 * functions.
 *
 * Each call is one visible operation. It posts itself with its memory order and waits for its turn
 * (mz_visible_ordered), reads and writes its cell (cell.h), and commits (happened). The engine decides which
 * value a read gets. Without a memory model it is the newest value, so all atomics are explored as
 * sequentially consistent. The memory order decides what synchronizes (race_order.c). A weak compare-exchange
 * does not fail spuriously, as on x86-64. Outside of an execution (in constructors) the functions only do
 * their work. */
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/cell.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/state.h"
#include "runtime/sync/sync.h"

typedef uint8_t a8;
typedef uint16_t a16;
typedef uint32_t a32;
typedef uint64_t a64;
typedef mz_uint128 a128;

#define OUTSIDE mz_unlikely(!rt.active)

static __attribute__((noinline)) void happened_live(uint8_t op, uint64_t a, unsigned size, int order,
                                                    enum mz_access access, uint64_t old, uint64_t new)
{
    if (mz_unlikely(rt.trial)) return;
    /* For the engine every 16-byte compare-exchange is a write; for C11 it is not. */
    mz_commit_live(op == MZ_OP_RMW ? MZ_WRITES : access, old, new);
    uint32_t object = mz_unlikely(rt.section) ? mz_explore_object(rt.x, a) : mz_last_object();
    if (rt.path->live)
        mz_sync_atomic(object, op, order & 7, access);
    else if (access == MZ_WRITES && mz_is_release(order & 7))
        rt.run.threads[rt.self].epoch++; /* in an atomic section on the repeated part of the path */
    if (!rt.path->live) return;
    /* The engine knows the memory order that took effect, except for a failed 16-byte compare-exchange. */
    MZ_ASSERT(rt.section || size > 8 || rt.path->events[rt.path->depth - 1].order == (order & 7));
    mz_shadow_atomic(a, size, access);
}

/* The operation has been performed: commit it. On the repeated part of the path only the epoch is counted. */
static inline void happened(uint8_t op, const volatile void *a, unsigned size, int order,
                            enum mz_access access, uint64_t old, uint64_t new)
{
    if (mz_likely(mz_commit_replayed())) {
        if (access == MZ_WRITES && mz_is_release(order & 7)) rt.run.threads[rt.self].epoch++;
    } else {
        happened_live(op, (uintptr_t)a, size, order, access, old, new);
    }
}

void mz_atomic_happened(uint8_t op, const volatile void *a, unsigned size, int order, enum mz_access access,
                        uint64_t old, uint64_t new)
{
    happened(op, a, size, order, access, old, new);
}

/* An access to the variable with the expected value, which is an ordinary variable. Mostly it is on the
 * thread's stack. */
static inline void expects(void *variable, unsigned size, bool write, void *pc, const void *frame)
{
    if (rt.active && !mz_lent_is_private(variable, size)) mz_access_range(variable, size, write, pc, frame);
}

#define LOAD(n)                                                                                              \
    MZ_EXPORT a##n __tsan_atomic##n##_load(const volatile a##n *a, int order);                               \
    a##n __tsan_atomic##n##_load(const volatile a##n *a, int order)                                          \
    {                                                                                                        \
        if (OUTSIDE) return mz_cell_read##n(a);                                                              \
        mz_spin((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                          \
        if (n <= 64) mz_simple((uint64_t)order, 0, 0);                                                       \
        mz_visible_atomic(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_READS, order, MZ_PC());                        \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n value = mz_cell_read##n(a);                                                                     \
        MZ_RECORD(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, MZ_FRAME());  \
        happened(MZ_OP_LOAD, a, n / 8, order, MZ_READS, (uint64_t)value, (uint64_t)value);                   \
        return value;                                                                                        \
    }

#define STORE(n)                                                                                             \
    MZ_EXPORT void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order);                        \
    void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order)                                   \
    {                                                                                                        \
        if (OUTSIDE) {                                                                                       \
            mz_cell_write##n(a, value);                                                                      \
            return;                                                                                          \
        }                                                                                                    \
        mz_rounds_look((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                   \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible_atomic(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_WRITES, order, MZ_PC());                      \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n old = (a##n)mz_cell_newest(a, n / 8);                                                           \
        mz_written(MZ_OP_STORE, old == value);                                                               \
        mz_cell_write##n(a, value);                                                                          \
        MZ_RECORD(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, MZ_FRAME()); \
        happened(MZ_OP_STORE, a, n / 8, order, MZ_WRITES, (uint64_t)old, (uint64_t)value);                   \
    }

#define RMW(n, name, result)                                                                                 \
    MZ_EXPORT a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order);                       \
    a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order)                                  \
    {                                                                                                        \
        a##n old, new;                                                                                       \
        if (OUTSIDE) {                                                                                       \
            old = mz_cell_read##n(a);                                                                        \
            mz_cell_write##n(a, (a##n)(result));                                                             \
            return old;                                                                                      \
        }                                                                                                    \
        mz_spin((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                          \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible_atomic(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_WRITES, order, MZ_PC());                        \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        old = mz_cell_read##n(a);                                                                            \
        new = (a##n)(result);                                                                                \
        mz_cell_write##n(a, new);                                                                            \
        mz_written(MZ_OP_RMW, new == old);                                                                   \
        MZ_RECORD(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)old, (uint64_t) new, 0,     \
                  MZ_FRAME());                                                                               \
        happened(MZ_OP_RMW, a, n / 8, order, MZ_WRITES, (uint64_t)old, (uint64_t) new);                      \
        return old;                                                                                          \
    }

/* The engine's events have no room for 16-byte values: a 16-byte compare-exchange counts as a write. */
#define CAS(n)                                                                                               \
    static a##n cas##n(volatile a##n *a, a##n expected, const void *from, a##n value, int order,             \
                       int failure, void *pc, const void *frame)                                             \
    {                                                                                                        \
        const uint8_t op = n == 128 ? MZ_OP_RMW : MZ_OP_CAS;                                                 \
        a##n old;                                                                                            \
        if (OUTSIDE) {                                                                                       \
            old = mz_cell_read##n(a);                                                                        \
            if (old == expected) mz_cell_write##n(a, value);                                                 \
            return old;                                                                                      \
        }                                                                                                    \
        mz_spin((uintptr_t)a, pc, frame);                                                                    \
        if (n <= 64) mz_simple((uint64_t)order << 8 | (unsigned)failure, (uint64_t)value, (uintptr_t)from);  \
        const struct mz_orders orders = {MZ_ORDER(order), MZ_ORDER(failure), false};                         \
        mz_visible_ordered(op, (uintptr_t)a, n / 8, MZ_WRITES, (uint64_t)expected, orders, pc);              \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        old = mz_cell_read##n(a);                                                                            \
        bool won = old == expected;                                                                          \
        if (won) mz_written(op, value == old);                                                               \
        if (won) mz_cell_write##n(a, value);                                                                 \
        MZ_RECORD(MZ_OP_CAS, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE | (won ? 0 : MZ_RECORD_FAILED),        \
                  (uint64_t)old, (uint64_t)value, 0, frame);                                                 \
        happened(op, a, n / 8, won ? order : failure, won ? MZ_WRITES : MZ_READS, (uint64_t)old,             \
                 (uint64_t)(won ? value : old));                                                             \
        return old;                                                                                          \
    }                                                                                                        \
    MZ_EXPORT int __tsan_atomic##n##_compare_exchange_strong(volatile a##n *a, a##n *expected, a##n value,   \
                                                             int order, int failure);                        \
    int __tsan_atomic##n##_compare_exchange_strong(volatile a##n *a, a##n *expected, a##n value, int order,  \
                                                   int failure)                                              \
    {                                                                                                        \
        expects(expected, n / 8, false, MZ_PC(), MZ_FRAME());                                                \
        a##n want = *expected, old = cas##n(a, want, expected, value, order, failure, MZ_PC(), MZ_FRAME());  \
        if (old == want) return 1;                                                                           \
        expects(expected, n / 8, true, MZ_PC(), MZ_FRAME());                                                 \
        *expected = old;                                                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    MZ_EXPORT int __tsan_atomic##n##_compare_exchange_weak(volatile a##n *a, a##n *expected, a##n value,     \
                                                           int order, int failure);                          \
    int __tsan_atomic##n##_compare_exchange_weak(volatile a##n *a, a##n *expected, a##n value, int order,    \
                                                 int failure)                                                \
    {                                                                                                        \
        expects(expected, n / 8, false, MZ_PC(), MZ_FRAME());                                                \
        a##n want = *expected, old = cas##n(a, want, expected, value, order, failure, MZ_PC(), MZ_FRAME());  \
        if (old == want) return 1;                                                                           \
        expects(expected, n / 8, true, MZ_PC(), MZ_FRAME());                                                 \
        *expected = old;                                                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    MZ_EXPORT a##n __tsan_atomic##n##_compare_exchange_val(volatile a##n *a, a##n expected, a##n value,      \
                                                           int order, int failure);                          \
    a##n __tsan_atomic##n##_compare_exchange_val(volatile a##n *a, a##n expected, a##n value, int order,     \
                                                 int failure)                                                \
    {                                                                                                        \
        return cas##n(a, expected, NULL, value, order, failure, MZ_PC(), MZ_FRAME());                        \
    }

#define ALL(n)                                                                                               \
    LOAD(n)                                                                                                  \
    STORE(n)                                                                                                 \
    RMW(n, exchange, value)                                                                                  \
    RMW(n, fetch_add, old + value)                                                                           \
    RMW(n, fetch_sub, old - value)                                                                           \
    RMW(n, fetch_and, old &value)                                                                            \
    RMW(n, fetch_or, old | value)                                                                            \
    RMW(n, fetch_xor, old ^ value)                                                                           \
    RMW(n, fetch_nand, ~(old & value))                                                                       \
    CAS(n)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
ALL(8)
ALL(16)
ALL(32)
ALL(64)
ALL(128)
#pragma GCC diagnostic pop

MZ_EXPORT void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    if (OUTSIDE) return;
    if (mz_unlikely(rt.fences_are_events) && !rt.section) {
        mz_rounds_look(0, MZ_PC(), MZ_FRAME());
        mz_simple((uint64_t)order, 0, 0);
        mz_visible_atomic(MZ_OP_FENCED, 0, 0, MZ_READS, order, MZ_PC());
        mz_commit(MZ_READS, 0);
    }
    MZ_RECORD(rt.fences_are_events ? MZ_OP_FENCED : MZ_OP_FENCE, 0, 0, 0, 0, 0, 0, MZ_FRAME());
    mz_sync_fence(order & 7);
}

MZ_EXPORT void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* Would the CAS write or only read its object now, if it read the newest value? */
enum mz_access mz_cas_access(const struct mz_pending *p)
{
    return mz_cell_newest((const volatile void *)p->key, p->size) == p->expected ? MZ_WRITES : MZ_READS;
}
