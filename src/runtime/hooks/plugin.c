/* Hooks that only our own compiler plug-ins call (src/compiler), for accesses to which the compiler's tsan
 * pass adds no hook.
 *
 * An atomic instruction that the compiler does not know (inline assembly, some builtins) has a hook before
 * it. The hook is one visible operation on the operand: it counts as a read-modify-write and changes nothing
 * itself. The instruction follows at once: no other thread runs between the hook and the instruction. So the
 * instruction finds in memory the value that the hook has seen and logged. The hook ends before the
 * instruction writes, so the engine does not learn the new value, and the instruction can read only the
 * newest value (pending.direct, memory/cell.h). */
#include "runtime/core/operation.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/room.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/cell.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/state.h"

#define now mz_hooks_room.plugin

static void begin(uint8_t op, int order, void *p, size_t size, const void *pc, const void *frame)
{
    if (mz_unlikely(rt.imagining)) mz_await_refuse();
    if (mz_unlikely(!rt.active)) return;
    if (op == MZ_OP_RMW) mz_spin((uintptr_t)p, pc, frame);
    mz_simple(size, 0, 0);
    mz_visible_direct(op, (uintptr_t)p, (uint8_t)size, MZ_WRITES, order, pc);
    mz_memory_check_atomic(p, (unsigned)size);
    now.before = mz_cell_newest(p, size);
    mz_atomic_happened(op, p, (unsigned)size, order, MZ_WRITES, (uint64_t)now.before, (uint64_t)now.before);
    mz_keep_program(p, size);
}

MZ_EXPORT void __tsan_mz_atomic(void *p, size_t size);
MZ_EXPORT void __tsan_mz_atomic_begin(void *p, size_t size);
MZ_EXPORT void __tsan_mz_atomic_end(void *p, size_t size);

/* Before an instruction without a second hook. The instruction counts as a change. */
void mz_atomic_instruction(void *p, size_t size, void *pc, const void *frame)
{
    begin(MZ_OP_RMW, __ATOMIC_SEQ_CST, p, size, pc, frame);
    if (rt.active) mz_changed();
}
void __tsan_mz_atomic(void *p, size_t size) { mz_atomic_instruction(p, size, MZ_PC(), MZ_FRAME()); }

void __tsan_mz_atomic_begin(void *p, size_t size)
{
    begin(MZ_OP_RMW, __ATOMIC_SEQ_CST, p, size, MZ_PC(), MZ_FRAME());
}

void __tsan_mz_atomic_end(void *p, size_t size)
{
    if (mz_unlikely(!rt.active)) return;
    mz_uint128 after = mz_cell_newest(p, size);
    mz_written(MZ_OP_RMW, after == now.before);
    MZ_RECORD(MZ_OP_RMW, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, (uint64_t)now.before,
              (uint64_t)after, 0, MZ_FRAME());
}

/* ---- a mov in inline assembly: atomic if its operand is aligned ---- */

static bool is_aligned(const void *p, size_t size) { return (uintptr_t)p % size == 0; }

MZ_EXPORT void __tsan_mz_load(void *p, size_t size);
MZ_EXPORT void __tsan_mz_store_begin(void *p, size_t size);
MZ_EXPORT void __tsan_mz_store_end(void *p, size_t size);

void __tsan_mz_load(void *p, size_t size)
{
    if (mz_unlikely(rt.imagining)) mz_await_refuse();
    if (mz_unlikely(!rt.active)) return;
    if (!is_aligned(p, size)) {
        mz_access_range(p, size, false, MZ_PC(), MZ_FRAME());
        return;
    }
    mz_spin((uintptr_t)p, MZ_PC(), MZ_FRAME());
    mz_simple(size, 0, 0);
    mz_visible_direct(MZ_OP_LOAD, (uintptr_t)p, (uint8_t)size, MZ_READS, __ATOMIC_ACQUIRE, MZ_PC());
    mz_memory_check_atomic(p, (unsigned)size);
    uint64_t value = (uint64_t)mz_cell_newest(p, size);
    MZ_RECORD(MZ_OP_LOAD, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, value, 0, 0, MZ_FRAME());
    mz_atomic_happened(MZ_OP_LOAD, p, (unsigned)size, __ATOMIC_ACQUIRE, MZ_READS, value, value);
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
    mz_uint128 after = mz_cell_newest(p, size);
    mz_written(MZ_OP_STORE, after == now.before);
    MZ_RECORD(MZ_OP_STORE, (uintptr_t)p, (unsigned)size, MZ_RECORD_HAS_VALUE, (uint64_t)after, 0, 0,
              MZ_FRAME());
}

/* ---- masked accesses to vectors: only the lanes in the mask ---- */

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
