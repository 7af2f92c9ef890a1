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

#define OUTSIDE       mz_unlikely(!rt.active)
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* A condition of mz_await must not write. */
#define NOT_IN_CONDITION                                                                                     \
    if (mz_unlikely(rt.imagining)) mz_await_refuse()

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

/* Each operation is a function that knows the place in the program, and a hook that calls it. Our functions of
 * libatomic call it, too. */
#define HERE MZ_PC(), MZ_FRAME()

#define LOAD(n)                                                                                              \
    static ALWAYS_INLINE a##n load##n(const volatile a##n *a, int order, void *pc, const void *frame)        \
    {                                                                                                        \
        if (OUTSIDE) return mz_unlikely(rt.imagining) ? (a##n)mz_await_read(a, n / 8) : mz_cell_read##n(a);  \
        mz_spin((uintptr_t)a, pc, frame);                                                                    \
        if (n <= 64) mz_simple((uint64_t)order, 0, 0);                                                       \
        mz_visible_atomic(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_READS, order, pc);                             \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n value = mz_cell_read##n(a);                                                                     \
        MZ_RECORD(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, frame);       \
        happened(MZ_OP_LOAD, a, n / 8, order, MZ_READS, (uint64_t)value, (uint64_t)value);                   \
        return value;                                                                                        \
    }                                                                                                        \
    MZ_EXPORT a##n __tsan_atomic##n##_load(const volatile a##n *a, int order);                               \
    a##n __tsan_atomic##n##_load(const volatile a##n *a, int order) { return load##n(a, order, HERE); }

#define STORE(n)                                                                                             \
    static ALWAYS_INLINE void store##n(volatile a##n *a, a##n value, int order, void *pc, const void *frame) \
    {                                                                                                        \
        if (OUTSIDE) {                                                                                       \
            NOT_IN_CONDITION;                                                                                \
            mz_cell_write##n(a, value);                                                                      \
            return;                                                                                          \
        }                                                                                                    \
        mz_rounds_look((uintptr_t)a, pc, frame);                                                             \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible_atomic(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_WRITES, order, pc);                           \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n old = (a##n)mz_cell_newest(a, n / 8);                                                           \
        mz_written(MZ_OP_STORE, old == value);                                                               \
        mz_cell_write##n(a, value);                                                                          \
        MZ_RECORD(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, frame);      \
        happened(MZ_OP_STORE, a, n / 8, order, MZ_WRITES, (uint64_t)old, (uint64_t)value);                   \
    }                                                                                                        \
    MZ_EXPORT void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order);                        \
    void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order)                                   \
    {                                                                                                        \
        store##n(a, value, order, HERE);                                                                     \
    }

#define RMW(n, name, result)                                                                                 \
    static ALWAYS_INLINE a##n name##n(volatile a##n *a, a##n value, int order, void *pc, const void *frame)  \
    {                                                                                                        \
        a##n old, new;                                                                                       \
        if (OUTSIDE) {                                                                                       \
            NOT_IN_CONDITION;                                                                                \
            old = mz_cell_read##n(a);                                                                        \
            mz_cell_write##n(a, (a##n)(result));                                                             \
            return old;                                                                                      \
        }                                                                                                    \
        mz_spin((uintptr_t)a, pc, frame);                                                                    \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible_atomic(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_WRITES, order, pc);                             \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        old = mz_cell_read##n(a);                                                                            \
        new = (a##n)(result);                                                                                \
        mz_cell_write##n(a, new);                                                                            \
        mz_written(MZ_OP_RMW, new == old);                                                                   \
        MZ_RECORD(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)old, (uint64_t) new, 0,     \
                  frame);                                                                                    \
        happened(MZ_OP_RMW, a, n / 8, order, MZ_WRITES, (uint64_t)old, (uint64_t) new);                      \
        return old;                                                                                          \
    }                                                                                                        \
    MZ_EXPORT a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order);                       \
    a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order)                                  \
    {                                                                                                        \
        return name##n(a, value, order, HERE);                                                               \
    }

/* The engine's events have no room for 16-byte values: a 16-byte compare-exchange counts as a write. */
#define CAS(n)                                                                                               \
    static a##n cas##n(volatile a##n *a, a##n expected, const void *from, a##n value, int order,             \
                       int failure, void *pc, const void *frame)                                             \
    {                                                                                                        \
        const uint8_t op = n == 128 ? MZ_OP_RMW : MZ_OP_CAS;                                                 \
        a##n old;                                                                                            \
        if (OUTSIDE) {                                                                                       \
            NOT_IN_CONDITION;                                                                                \
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
    static ALWAYS_INLINE int compare_exchange##n(volatile a##n *a, a##n *expected, a##n value, int order,    \
                                                 int failure, void *pc, const void *frame)                   \
    {                                                                                                        \
        expects(expected, n / 8, false, pc, frame);                                                          \
        a##n want = *expected, old = cas##n(a, want, expected, value, order, failure, pc, frame);            \
        if (old == want) return 1;                                                                           \
        expects(expected, n / 8, true, pc, frame);                                                           \
        *expected = old;                                                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    MZ_EXPORT int __tsan_atomic##n##_compare_exchange_strong(volatile a##n *a, a##n *expected, a##n value,   \
                                                             int order, int failure);                        \
    int __tsan_atomic##n##_compare_exchange_strong(volatile a##n *a, a##n *expected, a##n value, int order,  \
                                                   int failure)                                              \
    {                                                                                                        \
        return compare_exchange##n(a, expected, value, order, failure, HERE);                                \
    }                                                                                                        \
    MZ_EXPORT int __tsan_atomic##n##_compare_exchange_weak(volatile a##n *a, a##n *expected, a##n value,     \
                                                           int order, int failure);                          \
    int __tsan_atomic##n##_compare_exchange_weak(volatile a##n *a, a##n *expected, a##n value, int order,    \
                                                 int failure)                                                \
    {                                                                                                        \
        return compare_exchange##n(a, expected, value, order, failure, HERE);                                \
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

/* ---- libatomic: clang calls these functions for atomics of 16 bytes and for atomics that are not aligned ---- */

#define AS(bytes, n, name)                                                                                   \
    MZ_EXPORT __typeof__(__tsan_atomic##n##_##name) mz_libatomic_##name##_##bytes __asm__(                   \
        "__atomic_" #name "_" #bytes) __attribute__((alias("__tsan_atomic" #n "_" #name)));
#define COMPARE_EXCHANGE(bytes, n)                                                                           \
    MZ_EXPORT __typeof__(__tsan_atomic##n##_compare_exchange_strong)                                         \
        mz_libatomic_compare_exchange_##bytes __asm__("__atomic_compare_exchange_" #bytes)                   \
            __attribute__((alias("__tsan_atomic" #n "_compare_exchange_strong")));
#define ALL_AS(bytes, n)                                                                                     \
    AS(bytes, n, load)                                                                                       \
    AS(bytes, n, store)                                                                                      \
    AS(bytes, n, exchange)                                                                                   \
    AS(bytes, n, fetch_add)                                                                                  \
    AS(bytes, n, fetch_sub)                                                                                  \
    AS(bytes, n, fetch_and)                                                                                  \
    AS(bytes, n, fetch_or)                                                                                   \
    AS(bytes, n, fetch_xor)                                                                                  \
    AS(bytes, n, fetch_nand)                                                                                 \
    COMPARE_EXCHANGE(bytes, n)

#define RMW_AS(bytes, n, name, fetch, result)                                                                \
    MZ_EXPORT a##n mz_libatomic_##name##_##bytes(volatile a##n *a, a##n value,                               \
                                                 int order) __asm__("__atomic_" #name "_" #bytes);           \
    a##n mz_libatomic_##name##_##bytes(volatile a##n *a, a##n value, int order)                              \
    {                                                                                                        \
        a##n old = fetch##n(a, value, order, HERE);                                                          \
        (void)old;                                                                                           \
        return (a##n)(result);                                                                               \
    }
#define FETCHES(bytes, n)                                                                                    \
    RMW_AS(bytes, n, add_fetch, fetch_add, old + value)                                                      \
    RMW_AS(bytes, n, sub_fetch, fetch_sub, old - value)                                                      \
    RMW_AS(bytes, n, and_fetch, fetch_and, old &value)                                                       \
    RMW_AS(bytes, n, or_fetch, fetch_or, old | value)                                                        \
    RMW_AS(bytes, n, xor_fetch, fetch_xor, old ^ value)                                                      \
    RMW_AS(bytes, n, nand_fetch, fetch_nand, ~(old & value))

FETCHES(1, 8)
FETCHES(2, 16)
FETCHES(4, 32)
FETCHES(8, 64)
FETCHES(16, 128)

#define TEST_AND_SET(bytes)                                                                                  \
    MZ_EXPORT bool mz_libatomic_test_and_set_##bytes(volatile a8 *a,                                         \
                                                     int order) __asm__("__atomic_test_and_set_" #bytes);    \
    bool mz_libatomic_test_and_set_##bytes(volatile a8 *a, int order) { return exchange8(a, 1, order, HERE); }
TEST_AND_SET(1)
TEST_AND_SET(2)
TEST_AND_SET(4)
TEST_AND_SET(8)
TEST_AND_SET(16)

MZ_EXPORT bool atomic_flag_test_and_set(volatile void *a);
MZ_EXPORT bool atomic_flag_test_and_set_explicit(volatile void *a, int order);
MZ_EXPORT void atomic_flag_clear(volatile void *a);
MZ_EXPORT void atomic_flag_clear_explicit(volatile void *a, int order);
bool atomic_flag_test_and_set(volatile void *a) { return exchange8(a, 1, __ATOMIC_SEQ_CST, HERE); }
bool atomic_flag_test_and_set_explicit(volatile void *a, int order) { return exchange8(a, 1, order, HERE); }
void atomic_flag_clear(volatile void *a) { store8(a, 0, __ATOMIC_SEQ_CST, HERE); }
void atomic_flag_clear_explicit(volatile void *a, int order) { store8(a, 0, order, HERE); }

ALL_AS(1, 8)
ALL_AS(2, 16)
ALL_AS(4, 32)
ALL_AS(8, 64)
ALL_AS(16, 128)

/* Objects of other sizes: the operation is an atomic section. */
static void section(bool begins, void *pc, const void *frame)
{
    NOT_IN_CONDITION;
    if (OUTSIDE) return;
    if (begins)
        mz_section_begin(pc, frame);
    else
        mz_section_end();
}

static void copy(void *to, const void *from, size_t size, void *pc, const void *frame)
{
    if (!OUTSIDE) {
        mz_access_range(from, size, false, pc, frame);
        mz_access_range(to, size, true, pc, frame);
    }
    mz_raw_memmove(to, from, size);
}

#define EACH_SIZE(size, CASE)                                                                                \
    switch (size) {                                                                                          \
        CASE(1, 8)                                                                                           \
        CASE(2, 16)                                                                                          \
        CASE(4, 32)                                                                                          \
        CASE(8, 64)                                                                                          \
        CASE(16, 128)                                                                                        \
    default:                                                                                                 \
        break;                                                                                               \
    }

MZ_EXPORT void mz_libatomic_load(size_t size, const void *a, void *to, int order) __asm__("__atomic_load");
MZ_EXPORT void mz_libatomic_store(size_t size, void *a, void *value, int order) __asm__("__atomic_store");
MZ_EXPORT void mz_libatomic_exchange(size_t size, void *a, void *value, void *to,
                                     int order) __asm__("__atomic_exchange");
MZ_EXPORT bool mz_libatomic_compare_exchange(size_t size, void *a, void *expected, void *value, int order,
                                             int failure) __asm__("__atomic_compare_exchange");

void mz_libatomic_load(size_t size, const void *a, void *to, int order)
{
#define CASE(bytes, n)                                                                                       \
    case bytes: {                                                                                            \
        a##n value = load##n(a, order, HERE);                                                                \
        expects(to, bytes, true, HERE);                                                                      \
        mz_raw_memcpy(to, &value, bytes);                                                                    \
        return;                                                                                              \
    }
    EACH_SIZE(size, CASE)
#undef CASE
    section(true, HERE);
    copy(to, a, size, HERE);
    section(false, HERE);
}

void mz_libatomic_store(size_t size, void *a, void *value, int order)
{
#define CASE(bytes, n)                                                                                       \
    case bytes: {                                                                                            \
        a##n v;                                                                                              \
        expects(value, bytes, false, HERE);                                                                  \
        mz_raw_memcpy(&v, value, bytes);                                                                     \
        store##n(a, v, order, HERE);                                                                         \
        return;                                                                                              \
    }
    EACH_SIZE(size, CASE)
#undef CASE
    section(true, HERE);
    copy(a, value, size, HERE);
    section(false, HERE);
}

void mz_libatomic_exchange(size_t size, void *a, void *value, void *to, int order)
{
#define CASE(bytes, n)                                                                                       \
    case bytes: {                                                                                            \
        a##n v;                                                                                              \
        expects(value, bytes, false, HERE);                                                                  \
        mz_raw_memcpy(&v, value, bytes);                                                                     \
        v = exchange##n(a, v, order, HERE);                                                                  \
        expects(to, bytes, true, HERE);                                                                      \
        mz_raw_memcpy(to, &v, bytes);                                                                        \
        return;                                                                                              \
    }
    EACH_SIZE(size, CASE)
#undef CASE
    section(true, HERE);
    copy(to, a, size, HERE);
    copy(a, value, size, HERE);
    section(false, HERE);
}

bool mz_libatomic_compare_exchange(size_t size, void *a, void *expected, void *value, int order, int failure)
{
#define CASE(bytes, n)                                                                                       \
    case bytes: {                                                                                            \
        a##n v;                                                                                              \
        expects(value, bytes, false, HERE);                                                                  \
        mz_raw_memcpy(&v, value, bytes);                                                                     \
        return compare_exchange##n(a, expected, v, order, failure, HERE);                                    \
    }
    EACH_SIZE(size, CASE)
#undef CASE
    section(true, HERE);
    if (!OUTSIDE) mz_access_range(expected, size, false, HERE);
    bool won = !mz_raw_memcmp(a, expected, size);
    if (won)
        copy(a, value, size, HERE);
    else
        copy(expected, a, size, HERE);
    section(false, HERE);
    return won;
}

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
