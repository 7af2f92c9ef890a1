/* C11 atomics and the __atomic and __sync builtins: the compiler turns each into a call of one of these.
 *
 * Each is one visible operation: posted, scheduled, performed here, committed. All are explored as
 * sequentially consistent; the memory order given by the program decides what synchronizes (sync.c). A weak
 * compare-exchange does not fail spuriously, as on x86-64. A 16-byte compare-exchange always counts as a
 * write for the reduction. Outside of an execution (constructors) they just do their work. */
#include "runtime.h"
#include "rounds.h"

typedef uint8_t a8;
typedef uint16_t a16;
typedef uint32_t a32;
typedef uint64_t a64;
typedef unsigned __int128 a128;

#define OUTSIDE mz_unlikely(!rt.active)

static __attribute__((noinline)) void happened_live(int op, uint64_t a, unsigned size, int order,
                                                    enum mz_access access, uint64_t old)
{
    /* The engine takes every 16-byte compare-exchange for a write; C11 does not. */
    if (mz_unlikely(rt.trial)) return;
    mz_commit_live(op == MZ_OP_RMW ? MZ_WRITES : access, old);
    uint32_t object = mz_unlikely(rt.section) ? mz_explore_object(rt.x, a) : mz_last_object();
    if (rt.path->live)
        mz_sync_atomic(object, op, order & 7, access);
    else if (access == MZ_WRITES && mz_is_release(order & 7))
        rt.run.threads[rt.self].epoch++; /* in a section that is repeated */
    if (!rt.path->live) return;
    mz_shadow_atomic(a, size, access);
}

/* The operation has been performed: on the repeated part of the path only the epoch is counted. */
static inline void happened(int op, const volatile void *a, unsigned size, int order, enum mz_access access,
                            uint64_t old)
{
    if (mz_likely(mz_commit_replayed())) {
        if (access == MZ_WRITES && mz_is_release(order & 7)) rt.run.threads[rt.self].epoch++;
    } else {
        happened_live(op, (uintptr_t)a, size, order, access, old);
    }
}

void mz_atomic_happened(int op, const volatile void *a, unsigned size, int order, enum mz_access access,
                        uint64_t old)
{
    happened(op, a, size, order, access, old);
}

/* The expected value is an ordinary variable. Mostly it is on the thread's stack, where no other thread has
 * ever looked: then the access is left out, and the search starts over should another thread look (lent.c).
 */
static inline void expects(void *variable, unsigned size, bool write, void *pc, const void *frame)
{
    if (!mz_lent_leave_out(variable) && rt.active) mz_access_range(variable, size, write, pc, frame);
}

#define LOAD(n)                                                                                              \
    MZ_EXPORT a##n __tsan_atomic##n##_load(const volatile a##n *a, int order);                               \
    a##n __tsan_atomic##n##_load(const volatile a##n *a, int order)                                          \
    {                                                                                                        \
        if (OUTSIDE) return *a;                                                                              \
        mz_spin((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                          \
        if (n <= 64) mz_simple((uint64_t)order, 0, 0);                                                       \
        mz_visible(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_READS, 0, MZ_PC());                                   \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n value = *a;                                                                                     \
        MZ_RECORD(MZ_OP_LOAD, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, MZ_FRAME());  \
        happened(MZ_OP_LOAD, a, n / 8, order, MZ_READS, 0);                                                  \
        return value;                                                                                        \
    }

#define STORE(n)                                                                                             \
    MZ_EXPORT void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order);                        \
    void __tsan_atomic##n##_store(volatile a##n *a, a##n value, int order)                                   \
    {                                                                                                        \
        if (OUTSIDE) {                                                                                       \
            *a = value;                                                                                      \
            return;                                                                                          \
        }                                                                                                    \
        mz_rounds_look((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                   \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_WRITES, 0, MZ_PC());                                 \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        a##n old = *a;                                                                                       \
        if (old != value) mz_changed();                                                                      \
        mz_keep_program(a, n / 8);                                                                           \
        *a = value;                                                                                          \
        MZ_RECORD(MZ_OP_STORE, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)value, 0, 0, MZ_FRAME()); \
        happened(MZ_OP_STORE, a, n / 8, order, MZ_WRITES, (uint64_t)old);                                    \
    }

#define RMW(n, name, result)                                                                                 \
    MZ_EXPORT a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order);                       \
    a##n __tsan_atomic##n##_##name(volatile a##n *a, a##n value, int order)                                  \
    {                                                                                                        \
        a##n old;                                                                                            \
        if (OUTSIDE) {                                                                                       \
            old = *a;                                                                                        \
            *a = (a##n)(result);                                                                             \
            return old;                                                                                      \
        }                                                                                                    \
        mz_spin((uintptr_t)a, MZ_PC(), MZ_FRAME());                                                          \
        if (n <= 64) mz_simple((uint64_t)order, (uint64_t)value, 0);                                         \
        mz_visible(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_WRITES, 0, MZ_PC());                                   \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        old = *a;                                                                                            \
        mz_keep_program(a, n / 8);                                                                           \
        *a = (a##n)(result);                                                                                 \
        if (*a != old) mz_changed();                                                                         \
        MZ_RECORD(MZ_OP_RMW, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE, (uint64_t)old, (uint64_t)*a, 0,       \
                  MZ_FRAME());                                                                               \
        happened(MZ_OP_RMW, a, n / 8, order, MZ_WRITES, (uint64_t)old);                                      \
        return old;                                                                                          \
    }

/* 16-byte values do not fit into what the engine keeps of an event: they count as always writing. */
#define CAS(n)                                                                                               \
    static a##n cas##n(volatile a##n *a, a##n expected, const void *from, a##n value, int order,             \
                       int failure, void *pc, const void *frame)                                             \
    {                                                                                                        \
        const uint8_t op = n == 128 ? MZ_OP_RMW : MZ_OP_CAS;                                                 \
        a##n old;                                                                                            \
        if (OUTSIDE) {                                                                                       \
            old = *a;                                                                                        \
            if (old == expected) *a = value;                                                                 \
            return old;                                                                                      \
        }                                                                                                    \
        mz_spin((uintptr_t)a, pc, frame);                                                                    \
        if (n <= 64) mz_simple((uint64_t)order << 8 | (unsigned)failure, (uint64_t)value, (uintptr_t)from);  \
        mz_visible(op, (uintptr_t)a, n / 8, MZ_WRITES, (uint64_t)expected, pc);                              \
        mz_memory_check_atomic(a, n / 8);                                                                    \
        old = *a;                                                                                            \
        bool won = old == expected;                                                                          \
        if (won && value != old) mz_changed();                                                               \
        if (won) mz_keep_program(a, n / 8);                                                                  \
        if (won) *a = value;                                                                                 \
        MZ_RECORD(MZ_OP_CAS, (uintptr_t)a, n / 8, MZ_RECORD_HAS_VALUE | (won ? 0 : MZ_RECORD_FAILED),        \
                  (uint64_t)old, (uint64_t)value, 0, frame);                                                 \
        happened(op, a, n / 8, won ? order : failure, won ? MZ_WRITES : MZ_READS, (uint64_t)old);            \
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
    MZ_RECORD(MZ_OP_FENCE, 0, 0, 0, 0, 0, 0, MZ_FRAME());
    mz_sync_fence(order & 7);
}

MZ_EXPORT void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* program.h: how a pending operation would access its object if it happened now. */
void mz_refresh(void *system, int thread)
{
    struct mz_pending *p = &rt.view.pending[thread];
    (void)system;
    switch (p->op) {
    case MZ_OP_TRYLOCK:
        p->access = (uint8_t)mz_mutex_trylock_access(p->key);
        return;
    case MZ_OP_SEM_TRY:
        p->access = (uint8_t)mz_semaphore_try_access(p->key);
        return;
    case MZ_OP_TRYRDLOCK:
    case MZ_OP_TRYWRLOCK:
        p->access = (uint8_t)mz_rwlock_try_access(p);
        return;
    case MZ_OP_ONCE:
        p->access = (uint8_t)mz_once_access(p->key);
        return;
    case MZ_OP_CAS:
        break;
    default:
        return;
    }
    uint64_t now = p->size == 1   ? *(volatile uint8_t *)p->key
                   : p->size == 2 ? *(volatile uint16_t *)p->key
                   : p->size == 4 ? *(volatile uint32_t *)p->key
                                  : *(volatile uint64_t *)p->key;
    p->access = now == p->expected ? MZ_WRITES : MZ_READS;
}
