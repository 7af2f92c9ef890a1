/* The hooks of the compilers for plain accesses, called just before the access, and the fast path through the
 * shadow. See shadow.h. */
#include "runtime/core/operation.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/shadow.h"
#include "runtime/rewind/rewind.h"

static inline void plain(uint64_t address, unsigned size, bool write, uint64_t pc)
{
    struct mz_shadow_cell *c = mz_shadow_cell_of(address);
    uint8_t mask = (uint8_t)(((1u << size) - 1) << address % MZ_GRANULE);
    uint32_t epoch = rt.run.threads[rt.self].epoch;
    /* This thread wrote it before in this epoch, and no thread has read it since: nothing new. */
    if (mz_likely(c->execution == rt.execution && c->mask == mask && c->form == MZ_CELL_SIMPLE &&
                  c->writer == rt.self && c->write_epoch == epoch && c->reader == MZ_NOBODY_YET))
        return;
    /* This thread read it before in this epoch, and no other thread did. */
    if (!write && c->execution == rt.execution && c->mask == mask && c->form == MZ_CELL_SIMPLE &&
        c->reader == rt.self && c->read_epoch == epoch && !c->more)
        return;
    struct mz_access_now a = {address, size, write, false, write ? MZ_OP_WRITE : MZ_OP_READ, pc};
    mz_shadow_access(&a, c, mask);
}

void mz_shadow_range(uint64_t address, size_t size, bool write, uint64_t pc)
{
    while (size) {
        unsigned part = (unsigned)(MZ_GRANULE - address % MZ_GRANULE);
        if (part > size) part = (unsigned)size;
        plain(address, part, write, pc);
        address += part;
        size -= part;
    }
}

/* While a data race is replayed: record both accesses, with their call stacks. */
static __attribute__((noinline)) void record_access(uint64_t address, size_t size, bool write,
                                                    const void *frame)
{
    const struct mz_options_block *o = &rt.channel->options;
    if (!o->race_size || address >= o->race_address + o->race_size || o->race_address >= address + size)
        return;
    uint32_t flags = MZ_RECORD_RACING;
    uint64_t value = 0;
    if (!write && size <= 8) { /* a write has not happened yet: finding.c reads the new value later */
        flags |= MZ_RECORD_HAS_VALUE;
        mz_raw_memcpy(&value, (const void *)(uintptr_t)address, size);
    }
    mz_record(write ? MZ_OP_WRITE : MZ_OP_READ, address, (unsigned)size, flags, value, 0, 0, frame);
}

/* A write to the thread's own stack is part of its local state, except for the part that other threads use
 * (lent.c). */
static inline void count_change(const void *p, size_t size)
{
    const struct mz_slot *s = &rt.slots[rt.self];
    if (mz_likely((const char *)p >= s->stack_low && (const char *)p < s->private_high)) return;
    if (mz_unlikely((const char *)p >= s->private_high && (const char *)p < s->stack_high) &&
        !mz_lent_contains(p, size))
        return;
    mz_changed();
}

/* Called after the checks, so the memory exists. */
static inline void keep(const void *p, size_t size, bool write)
{
    if (mz_unlikely(rt.undo) && write && !mz_is_own_stack(p)) mz_keep_program(p, size);
}

/* Accesses the page. A write access to a new page of the heap costs one page fault; a read first would cost a
 * second one for the write. */
static inline void touch(uint64_t address, bool write)
{
    volatile char *p = (volatile char *)(uintptr_t)address;
    if (write && mz_heap_is_whole_page(address & ~(uint64_t)(MZ_SHADOW_PAGE - 1)))
        __atomic_fetch_or(p, 0, __ATOMIC_RELAXED); /* writes nothing new, but is a write access */
    else
        (void)*p;
}

/* Goes page by page, and touches each page first. So an invalid range crashes here at the end of its memory,
 * as in the program, and does not allocate terabytes of cells. */
static __attribute__((noinline)) void long_range(uint64_t address, size_t size, bool write, uint64_t pc)
{
    while (size) {
        size_t part = MZ_SHADOW_PAGE - address % MZ_SHADOW_PAGE;
        if (part > size) part = size;
        touch(address, write);
        if (part < MZ_SHADOW_PAGE || !mz_shadow_access_page(address, write, pc))
            mz_shadow_range(address, part, write, pc);
        keep((const void *)(uintptr_t)address, part, write);
        address += part;
        size -= part;
    }
}

/* Called after the access was checked. Counts the hook; a loop that only reads would never let other threads
 * run (spin.c). */
static inline void count_hook(const void *p, bool write, const void *pc, const void *frame)
{
    if (write)
        rt.hooks++;
    else if (mz_unlikely(--rt.reads_left == 0))
        mz_spin_reads(p, pc, frame);
}

/* Not while states are hashed: the checks overwrite what earlier calls have left on the stack, and without them more of it
 * would get into the frames of the runtime, which tell states apart. */
static inline bool leaves_out(const void *p, size_t size)
{
    return !rt.hashing && mz_lent_is_private(p, size);
}

static inline void hook(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (mz_unlikely(!rt.active)) return;
    if (write) count_change(p, size);
    if (mz_unlikely(rt.allow_races) && mz_visible_access(p, size, write, false, pc, frame)) {
        rt.hooks++;
        return;
    }
    if (leaves_out(p, size)) {
        count_hook(p, write, pc, frame);
        return;
    }
    if (mz_unlikely(rt.recording)) record_access((uintptr_t)p, size, write, frame);
    if (mz_unlikely(size > MZ_SHADOW_PAGE)) {
        long_range((uintptr_t)p, size, write, (uintptr_t)pc);
    } else {
        mz_shadow_range((uintptr_t)p, size, write, (uintptr_t)pc);
        keep(p, size, write);
    }
    count_hook(p, write, pc, frame);
}

void mz_access_range(const void *p, size_t size, bool write, void *pc, const void *frame)
{
    hook((void *)(uintptr_t)p, size, write, pc, frame);
}

static inline void hook_aligned(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (size > MZ_GRANULE || mz_unlikely(!rt.active || rt.recording || rt.allow_races)) {
        hook(p, size, write, pc, frame);
        return;
    }
    if (leaves_out(p, size)) {
        count_hook(p, write, pc, frame);
        return;
    }
    if (write) count_change(p, size);
    if (mz_unlikely((uintptr_t)p % MZ_GRANULE + size > MZ_GRANULE))
        mz_shadow_range((uintptr_t)p, size, write, (uintptr_t)pc);
    else
        plain((uintptr_t)p, (unsigned)size, write, (uintptr_t)pc);
    keep(p, size, write);
    count_hook(p, write, pc, frame);
}

/* With --data-races=allow, volatile accesses are always operations. */
static inline void hook_volatile(void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (mz_unlikely(rt.uses.signals) && rt.active) rt.up.signal_point_volatile(pc, frame, write);
    if (mz_likely(!rt.allow_races || !rt.active)) {
        hook(p, size, write, pc, frame);
        return;
    }
    rt.hooks++;
    if (write) count_change(p, size);
    mz_visible_access(p, size, write, true, pc, frame);
}

static inline void hook_both(void *p, size_t size, void *pc, const void *frame)
{
    if (mz_unlikely(rt.allow_races) && rt.active && mz_visible_access(p, size, true, false, pc, frame)) {
        count_change(p, size);
        return;
    }
    hook(p, size, false, pc, frame);
    hook(p, size, true, pc, frame);
}

/* The access hooks have their own section: state/function.c sees by it that a hook keeps no pointer to the
 * accessed memory. */
#define ACCESS_HOOK MZ_EXPORT __attribute__((section("mz_access_text")))
#define HOOKS(n)                                                                                             \
    ACCESS_HOOK void __tsan_read##n(void *p);                                                                \
    ACCESS_HOOK void __tsan_write##n(void *p);                                                               \
    ACCESS_HOOK void __tsan_unaligned_read##n(void *p);                                                      \
    ACCESS_HOOK void __tsan_unaligned_write##n(void *p);                                                     \
    ACCESS_HOOK void __tsan_volatile_read##n(void *p);                                                       \
    ACCESS_HOOK void __tsan_volatile_write##n(void *p);                                                      \
    ACCESS_HOOK void __tsan_unaligned_volatile_read##n(void *p);                                             \
    ACCESS_HOOK void __tsan_unaligned_volatile_write##n(void *p);                                            \
    ACCESS_HOOK void __tsan_read_write##n(void *p);                                                          \
    ACCESS_HOOK void __tsan_unaligned_read_write##n(void *p);                                                \
    void __tsan_read##n(void *p) { hook_aligned(p, n, false, MZ_PC(), MZ_FRAME()); }                         \
    void __tsan_write##n(void *p) { hook_aligned(p, n, true, MZ_PC(), MZ_FRAME()); }                         \
    void __tsan_unaligned_read##n(void *p) { hook(p, n, false, MZ_PC(), MZ_FRAME()); }                       \
    void __tsan_unaligned_write##n(void *p) { hook(p, n, true, MZ_PC(), MZ_FRAME()); }                       \
    void __tsan_volatile_read##n(void *p) { hook_volatile(p, n, false, MZ_PC(), MZ_FRAME()); }               \
    void __tsan_volatile_write##n(void *p) { hook_volatile(p, n, true, MZ_PC(), MZ_FRAME()); }               \
    void __tsan_unaligned_volatile_read##n(void *p) { hook_volatile(p, n, false, MZ_PC(), MZ_FRAME()); }     \
    void __tsan_unaligned_volatile_write##n(void *p) { hook_volatile(p, n, true, MZ_PC(), MZ_FRAME()); }     \
    void __tsan_read_write##n(void *p) { hook_both(p, n, MZ_PC(), MZ_FRAME()); }                             \
    void __tsan_unaligned_read_write##n(void *p) { hook_both(p, n, MZ_PC(), MZ_FRAME()); }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

ACCESS_HOOK void __tsan_read_range(void *p, size_t size);
ACCESS_HOOK void __tsan_write_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size) { hook(p, size, false, MZ_PC(), MZ_FRAME()); }
void __tsan_write_range(void *p, size_t size) { hook(p, size, true, MZ_PC(), MZ_FRAME()); }

MZ_EXPORT void __tsan_vptr_update(void **p, void *value);
MZ_EXPORT void __tsan_vptr_read(void **p);
void __tsan_vptr_update(void **p, void *value)
{
    if (*p != value) hook(p, sizeof *p, true, MZ_PC(), MZ_FRAME());
}
void __tsan_vptr_read(void **p) { hook(p, sizeof *p, false, MZ_PC(), MZ_FRAME()); }

MZ_EXPORT void __tsan_func_entry(void *caller);
MZ_EXPORT void __tsan_func_exit(void);
MZ_EXPORT void __tsan_ignore_thread_begin(void);
MZ_EXPORT void __tsan_ignore_thread_end(void);
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}
