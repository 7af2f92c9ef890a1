/* Mappings of the program (mmap, munmap, mremap, mprotect, brk): the same in every execution, undone at its
 * end. For kernel.c.
 *
 * Each thread has its own range of addresses. A new mapping takes the next free addresses of the range;
 * addresses are not reused within an execution. So an address depends only on the thread's own history, as in
 * heap.c. The rest of the range is reserved without access, so that nothing else is mapped there. A new
 * execution makes the used part of the range inaccessible again. The loader's mappings (dlopen) come from
 * these ranges too.
 *
 * Outside of the ranges, a program can change the protection of its own memory, and map at free addresses.
 * This file remembers both and undoes them. Mappings that constructors made before main belong to the
 * snapshot. */
#define _GNU_SOURCE
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

#include <sys/mman.h>

#define PAGE  ((uint64_t)4096)
#define RANGE ((uint64_t)16 << 30)

#define ma mz_kernel_room.maps

static uint64_t range_start(uint64_t slot) { return ma.base + slot * RANGE; }
static uint64_t up(uint64_t n) { return (n + PAGE - 1) & ~(PAGE - 1); }

static bool in_ranges(uint64_t start, uint64_t size)
{
    return mz_maps_contains(start) && size <= RANGE && mz_maps_contains(start + size - 1);
}

static long nothing_at(uint64_t start, uint64_t end)
{
    return mz_sys(SYS_mmap, start, end - start, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void mz_maps_init(void)
{
    long base =
        mz_sys(SYS_mmap, 0, RANGE * MZ_SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mz_sys_failed(base)) mz_unsupported("a limit of address space this low", "raise it (ulimit -v)");
    ma.base = rt.maps_start = (uint64_t)base;
    rt.maps_size = RANGE * MZ_SLOTS;
    for (uint64_t s = 0; s < MZ_SLOTS; s++) ma.next[s] = range_start(s);
}

static void brk_reset(void)
{
    if (!ma.brk_user) return;
    mz_sys(SYS_brk, ma.brk_first);
    if (ma.brk_first % PAGE && (uint64_t)mz_sys(SYS_brk, up(ma.brk_first)) == up(ma.brk_first)) {
        mz_raw_memset((void *)ma.brk_first, 0, up(ma.brk_first) - ma.brk_first);
        mz_sys(SYS_brk, ma.brk_first);
    }
    ma.brk_user = 0;
}

void mz_maps_reset(void)
{
    if (!ma.used) return;
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        if (ma.next[s] > range_start(s)) nothing_at(range_start(s), ma.next[s]);
        ma.next[s] = range_start(s);
    }
    for (uint32_t i = 0; i < ma.outside_count; i++)
        mz_sys(SYS_munmap, ma.outside[i].start, ma.outside[i].end - ma.outside[i].start);
    for (uint32_t i = 0; i < ma.guarded_count; i++)
        mz_sys(SYS_mprotect, ma.guarded[i].start, ma.guarded[i].end - ma.guarded[i].start,
               PROT_READ | PROT_WRITE);
    ma.outside_count = ma.guarded_count = 0;
    brk_reset();
    ma.used = false;
}

static void remember(struct mz_map_span *list, uint32_t *count, const struct mz_call *call, uint64_t start,
                     uint64_t size)
{
    if (*count == MZ_MAP_CHANGES)
        mz_kernel_refuse(call, "more than 1024 changes of mappings in one execution", "use malloc");
    list[(*count)++] = (struct mz_map_span){start, start + up(size)};
    ma.used = true;
}

/* Is it memory whose protection the program may change? It is writable at first. */
static bool own_memory(uint64_t start, uint64_t size)
{
    uint64_t last = start + size - 1;
    if (mz_snapshot_contains(start, size)) return true;
    if (mz_heap_contains(start) && mz_heap_contains(last)) return true;
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (mz_fiber_stack_contains((int)s, start) && mz_fiber_stack_contains((int)s, last)) return true;
    return false;
}

static bool was_outside(uint64_t start, uint64_t size)
{
    for (uint32_t i = 0; i < ma.outside_count; i++)
        if (start >= ma.outside[i].start && start + size <= ma.outside[i].end) return true;
    return false;
}

/* ---- mmap ---- */

static long map(const struct mz_call *call, uint64_t at, uint64_t flags)
{
    return mz_sys(SYS_mmap, at, call->a[1], call->a[2], flags, call->a[4], call->a[5]);
}

static long map_fixed(const struct mz_call *call)
{
    uint64_t at = call->a[0], size = call->a[1], flags = call->a[3] | MAP_FIXED;
    bool replace = !(call->a[3] & MAP_FIXED_NOREPLACE);
    flags &= ~(uint64_t)MAP_FIXED_NOREPLACE;
    if (in_ranges(at, size)) {
        uint64_t slot = (at - ma.base) / RANGE;
        if (!replace && at < ma.next[slot]) return -EEXIST;
        long r = map(call, at, flags);
        if (!mz_sys_failed(r) && at + up(size) > ma.next[slot]) ma.next[slot] = at + up(size) + PAGE;
        return r;
    }
    if (was_outside(at, up(size))) return map(call, at, flags);
    long r = map(call, at, (flags & ~(uint64_t)MAP_FIXED) | MAP_FIXED_NOREPLACE);
    if (!mz_sys_failed(r)) remember(ma.outside, &ma.outside_count, call, at, size);
    if (r == -EEXIST && replace)
        mz_kernel_refuse(call, "mmap over memory that the program did not map",
                         "let mmap choose the address");
    return r;
}

/* Return the next free address of the running thread's range, or 0 if `size` bytes do not fit. */
static uint64_t cut(uint64_t size)
{
    uint64_t at = ma.next[rt.self], end = range_start(rt.self) + RANGE;
    return size > RANGE || at + up(size) + PAGE > end ? 0 : at;
}

static void notice(const struct mz_call *call)
{
    bool file = !(call->a[3] & MAP_ANONYMOUS);
    if (file && (call->a[3] & MAP_TYPE) != MAP_PRIVATE && call->a[2] & PROT_WRITE)
        mz_unseen(
            "a file is mapped shared and writable: what is written there stays from one execution to the "
            "next");
    if (file && call->a[2] & PROT_EXEC) rt.modules_changed = true;
}

long mz_maps_mmap(struct mz_call *call)
{
    uint64_t size = call->a[1], at;
    if (!size) return -EINVAL;
    if (call->a[3] & (MAP_32BIT | MAP_GROWSDOWN))
        mz_kernel_refuse(call, "mmap with MAP_32BIT or MAP_GROWSDOWN", "leave the flag out");
    ma.used = true;
    notice(call);
    if (call->a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) return map_fixed(call);
    if (!(at = cut(size))) return -ENOMEM;
    long r = map(call, at, call->a[3] | MAP_FIXED);
    if (!mz_sys_failed(r)) ma.next[rt.self] = at + up(size) + PAGE;
    return r;
}

long mz_maps_munmap(struct mz_call *call)
{
    uint64_t at = call->a[0], size = call->a[1];
    if (at % PAGE || !size) return -EINVAL;
    if (in_ranges(at, size)) {
        /* A use of the memory that does not happen before the munmap races with it. */
        mz_shadow_freed(at, size, MZ_OP_WRITE, (uintptr_t)MZ_PC());
        long r = nothing_at(at, at + up(size));
        return mz_sys_failed(r) ? r : 0;
    }
    if (!was_outside(at, up(size)))
        mz_kernel_refuse(call, "munmap of memory that the program did not map in this execution",
                         "leave it mapped");
    return mz_sys(SYS_munmap, at, size);
}

long mz_maps_mremap(struct mz_call *call)
{
    uint64_t at = call->a[0], old = up(call->a[1]), size = up(call->a[2]), to;
    if (!in_ranges(at, old ? old : 1) || call->a[3] & ~(uint64_t)MREMAP_MAYMOVE)
        mz_kernel_refuse(call, "mremap of this kind", "map new memory and copy");
    if (size && size <= old) {
        if (size < old) nothing_at(at + size, at + old);
        return (long)at;
    }
    if (!(call->a[3] & MREMAP_MAYMOVE) || !(to = cut(size))) return -ENOMEM;
    long r = mz_sys(SYS_mremap, at, old, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (mz_sys_failed(r)) return r;
    nothing_at(at, at + old);
    ma.next[rt.self] = to + size + PAGE;
    return r;
}

long mz_maps_mprotect(struct mz_call *call)
{
    uint64_t at = call->a[0], size = call->a[1];
    if (!size) return 0;
    if (!in_ranges(at, size) && !was_outside(at, up(size))) {
        if (!own_memory(at, size))
            mz_kernel_refuse(call, "mprotect of memory that is not the program's data", "leave it out");
        mz_snapshot_touch((void *)at, up(size));
        remember(ma.guarded, &ma.guarded_count, call, at, size);
    }
    return mz_sys(SYS_mprotect, at, size, call->a[2]);
}

long mz_maps_madvise(struct mz_call *call)
{
    mz_snapshot_touch((void *)call->a[0], call->a[1]);
    return mz_sys(SYS_madvise, call->a[0], call->a[1], call->a[2]);
}

long mz_maps_brk(struct mz_call *call)
{
    long now = mz_sys(SYS_brk, 0);
    if (!call->a[0] || (long)call->a[0] == now) return now;
    if (!ma.brk_user) ma.brk_first = (uint64_t)now;
    if (ma.brk_user && ma.brk_user != rt.self + 1)
        mz_kernel_refuse(call, "brk or sbrk from two threads", "use malloc");
    ma.brk_user = (uint8_t)(rt.self + 1);
    ma.used = true;
    return mz_sys(SYS_brk, call->a[0]);
}

/* ---- before main ---- */

void mz_maps_early(void (*add)(uintptr_t start, uintptr_t end))
{
    for (uint32_t i = 0; i < ma.early_count; i++)
        if (ma.early[i].start < ma.early[i].end) add(ma.early[i].start, ma.early[i].end);
}

static void early_map(long r, size_t size, int prot, int flags)
{
    if (mz_sys_failed(r) || ma.early_count == MZ_MAP_CHANGES || !(prot & PROT_WRITE)) return;
    if ((flags & MAP_TYPE) == MAP_PRIVATE || flags & MAP_ANONYMOUS)
        ma.early[ma.early_count++] = (struct mz_map_span){(uint64_t)r, (uint64_t)r + up(size)};
}

/* Take the range out of the early mappings. A hole in the middle of a mapping is ignored. */
static void early_unmap(uint64_t at, uint64_t size)
{
    uint64_t end = at + up(size);
    for (uint32_t i = 0; i < ma.early_count; i++) {
        struct mz_map_span *e = &ma.early[i];
        if (at <= e->start && end > e->start) e->start = end < e->end ? end : e->end;
        if (at < e->end && end >= e->end) e->end = at;
    }
}

static long finish(long r)
{
    if (!mz_sys_failed(r)) return r;
    errno = (int)-r;
    return -1;
}

MZ_EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    struct mz_call call = {
        .number = SYS_mmap,
        .a = {(uintptr_t)at, size, (uint64_t)prot, (uint64_t)flags, (uint64_t)fd, (uint64_t)offset}};
    if (rt.active) return (void *)finish(mz_kernel_call(&call));
    long r = mz_sys(SYS_mmap, at, size, prot, flags, fd, offset);
    early_map(r, size, prot, flags);
    return (void *)finish(r);
}

MZ_EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return mmap(at, size, prot, flags, fd, offset);
}

MZ_EXPORT int munmap(void *at, size_t size)
{
    struct mz_call call = {.number = SYS_munmap, .a = {(uintptr_t)at, size}};
    if (rt.active) return (int)finish(mz_kernel_call(&call));
    early_unmap((uintptr_t)at, size);
    return (int)finish(mz_sys(SYS_munmap, at, size));
}
