/* Hooks that only our own plugins for compilers call (src/compiler): for what the pass tsan has no hook.
 *
 * An atomic instruction that the compiler does not know (inline assembly, some builtins): the hook before it is
 * one visible operation on its operand, which counts as a read-modify-write and changes nothing. The
 * instruction follows at once: no other thread runs between the hook and the instruction. So what memory
 * holds when the hook returns is what the instruction finds, and it is kept for going back there. */
#include "runtime.h"

typedef unsigned __int128 a128;

static a128 value_of(const volatile void *p, size_t size)
{
    a128 value = 0;
    if (size <= sizeof value) mz_raw_memcpy(&value, (const void *)(uintptr_t)p, size);
    return value;
}

static struct { /* of the instruction between the two hooks */
    a128 before;
} now;

static void begin(int op, int order, void *p, size_t size, const void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return;
    if (op == MZ_OP_RMW) mz_spin((uintptr_t)p, pc, frame);
    mz_simple(size, 0, 0);
    mz_visible((uint8_t)op, (uintptr_t)p, (uint8_t)size, MZ_WRITES, 0, pc);
    mz_memory_check_atomic(p, (unsigned)size);
    now.before = value_of(p, size);
    mz_atomic_happened(op, p, (unsigned)size, order, MZ_WRITES, (uint64_t)now.before);
    mz_keep_program(p, size);
}

MZ_EXPORT void __tsan_mz_atomic(void *p, size_t size);
MZ_EXPORT void __tsan_mz_atomic_begin(void *p, size_t size);
MZ_EXPORT void __tsan_mz_atomic_end(void *p, size_t size);

/* Before an instruction that no hook follows: it is taken to change something. */
void __tsan_mz_atomic(void *p, size_t size)
{
    begin(MZ_OP_RMW, __ATOMIC_SEQ_CST, p, size, MZ_PC(), MZ_FRAME());
    if (rt.active) mz_changed();
}

void __tsan_mz_atomic_begin(void *p, size_t size)
{
    begin(MZ_OP_RMW, __ATOMIC_SEQ_CST, p, size, MZ_PC(), MZ_FRAME());
}

void __tsan_mz_atomic_end(void *p, size_t size)
{
    if (mz_unlikely(!rt.active)) return;
    a128 after = value_of(p, size);
    if (after != now.before) mz_changed();
    MZ_RECORD(MZ_OP_RMW, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, (uint64_t)now.before,
              (uint64_t)after, 0, MZ_FRAME());
}

/* ---- a mov in inline assembly: atomic, if it is aligned ---- */

static bool is_aligned(const void *p, size_t size) { return (uintptr_t)p % size == 0; }

MZ_EXPORT void __tsan_mz_load(void *p, size_t size);
MZ_EXPORT void __tsan_mz_store_begin(void *p, size_t size);
MZ_EXPORT void __tsan_mz_store_end(void *p, size_t size);

void __tsan_mz_load(void *p, size_t size)
{
    if (mz_unlikely(!rt.active)) return;
    if (!is_aligned(p, size)) {
        mz_access_range(p, size, false, MZ_PC(), MZ_FRAME());
        return;
    }
    mz_spin((uintptr_t)p, MZ_PC(), MZ_FRAME());
    mz_simple(size, 0, 0);
    mz_visible(MZ_OP_LOAD, (uintptr_t)p, (uint8_t)size, MZ_READS, 0, MZ_PC());
    mz_memory_check_atomic(p, (unsigned)size);
    MZ_RECORD(MZ_OP_LOAD, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, (uint64_t)value_of(p, size), 0,
              0, MZ_FRAME());
    mz_atomic_happened(MZ_OP_LOAD, p, (unsigned)size, __ATOMIC_ACQUIRE, MZ_READS, 0);
}

void __tsan_mz_store_begin(void *p, size_t size)
{
    if (mz_unlikely(!rt.active)) return;
    if (is_aligned(p, size))
        begin(MZ_OP_STORE, __ATOMIC_RELEASE, p, size, MZ_PC(), MZ_FRAME());
    else
        mz_access_range(p, size, true, MZ_PC(), MZ_FRAME());
}

void __tsan_mz_store_end(void *p, size_t size)
{
    if (mz_unlikely(!rt.active) || !is_aligned(p, size)) return;
    a128 after = value_of(p, size);
    if (after != now.before) mz_changed();
    MZ_RECORD(MZ_OP_STORE, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, (uint64_t)after, 0, 0,
              MZ_FRAME());
}

/* ---- vectors of which some lanes are accessed ---- */

enum { MASKED_WRITES = 1, MASK_IS_BITS = 2 };

static bool is_set(const uint8_t *mask, size_t lane, size_t i, int flags)
{
    if (flags & MASK_IS_BITS) return mask[i / 8] >> i % 8 & 1;
    return mask[lane * i + lane - 1] >> 7;
}

MZ_EXPORT void __tsan_mz_masked(void *p, const void *mask, size_t lane, size_t count, int flags);
void __tsan_mz_masked(void *p, const void *mask, size_t lane, size_t count, int flags)
{
    if (mz_unlikely(!rt.active)) return;
    for (size_t i = 0; i < count; i++)
        if (is_set(mask, lane, i, flags))
            mz_access_range((char *)p + i * lane, lane, flags & MASKED_WRITES, MZ_PC(), MZ_FRAME());
}
