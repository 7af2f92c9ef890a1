/* The heap: one arena per thread, from which blocks are cut one after the other and never reused within an
 * execution. So the address of a block depends only on the thread's own history: equivalent executions see
 * the same addresses. Contents of new blocks are always the same too. Starting over costs one word.
 *
 * Before main (constructors, libc's own start) blocks come from the boot arena, which is ordinary program
 * memory: the snapshot includes it. */
#include "runtime.h"

#include "../base/region.h"

#include <errno.h>
#include <sys/mman.h>

#define ARENA       ((size_t)1 << 30)
#define ARENA_SHIFT 1088u
#define BOOT        ((size_t)64 << 20)
#define LIVE        0x6d7a6c697665ull
#define FREED       0x6d7a66726565ull
#define FILL        0xa5
#define BIG         ((size_t)1 << 20)

struct block { /* just before the memory handed out */
    uint64_t size;
    uint64_t mark;
};

static char *arenas;
static char *boot, *boot_next;

static char *arena_start(int slot)
{
    return arenas + (size_t)slot * ARENA + (size_t)slot * ARENA_SHIFT % (64 * 4096) / 64 * 64;
}

void mz_heap_init(void)
{
    arenas = mz_region_reserve(ARENA * MZ_SLOTS);
    MZ_ASSERT(arenas != NULL);
    for (int s = 0; s < MZ_SLOTS; s++) rt.run.threads[s].heap = arena_start(s);
}

void mz_heap_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) rt.run.threads[s].heap = arena_start((int)s);
}

void mz_heap_arena(int slot, const char **low, const char **high)
{
    *low = arenas + (size_t)slot * ARENA;
    *high = *low + ARENA;
}

/* The part of the boot arena that was ever used, for the snapshot. */
size_t mz_heap_boot(char **start)
{
    *start = boot;
    return boot ? (size_t)(boot_next - boot) : 0;
}

static bool in_arenas(uint64_t a)
{
    return arenas && a >= (uintptr_t)arenas && a < (uintptr_t)arenas + ARENA * MZ_SLOTS;
}
static bool in_boot(uint64_t a) { return boot && a >= (uintptr_t)boot && a < (uintptr_t)boot + BOOT; }
bool mz_heap_contains(uint64_t address) { return in_arenas(address) || in_boot(address); }

static void *boot_alloc(size_t align, size_t size)
{
    if (!boot) boot = boot_next = mz_region_reserve(BOOT);
    if (!boot) return NULL;
    uintptr_t p = ((uintptr_t)boot_next + sizeof(struct block) + align - 1) & ~(align - 1);
    if (size > BOOT || p + size > (uintptr_t)boot + BOOT) return NULL;
    boot_next = (char *)p + size;
    ((struct block *)p)[-1] = (struct block){size, LIVE};
    return (void *)p;
}

static void fill(char *p, size_t size, int with)
{
    if (size > BIG) { /* whole pages come back as zero */
        char *page = (char *)(((uintptr_t)p + 4095) & ~(uintptr_t)4095),
             *end = (char *)((uintptr_t)(p + size) & ~(uintptr_t)4095);
        madvise(page, (size_t)(end - page), MADV_DONTNEED);
        mz_raw_memset(p, with, (size_t)(page - p));
        mz_raw_memset(end, with, (size_t)(p + size - end));
        return;
    }
    mz_raw_memset(p, with, size);
}

static void *alloc(size_t align, size_t size, int with)
{
    if (align < 16) align = 16;
    if (!rt.active) return boot_alloc(align, size);
    mz_changed();
    char **next = &rt.run.threads[rt.self].heap;
    uintptr_t p = ((uintptr_t)*next + sizeof(struct block) + align - 1) & ~(align - 1);
    uintptr_t end = (uintptr_t)arenas + (size_t)(rt.self + 1) * ARENA;
    if (size > ARENA || p + size > end) {
        errno = ENOMEM;
        return NULL;
    }
    *next = (char *)p + (size ? size : 1);
    ((struct block *)p)[-1] = (struct block){size, LIVE};
    fill((char *)p, size, with);
    return (void *)p;
}

static struct block *block_of(void *p, const char *what)
{
    struct block *b = (struct block *)p - 1;
    if (mz_heap_contains((uintptr_t)p) && (uintptr_t)p % 16 == 0) {
        if (b->mark == LIVE) return b;
        if (b->mark == FREED && rt.active)
            mz_finding_here(MZ_KIND_DOUBLE_FREE, "this block has already been freed", 0, (uintptr_t)p);
    }
    if (rt.active) mz_finding_here(MZ_KIND_INVALID_FREE, what, 0, (uintptr_t)p);
    return NULL;
}

MZ_EXPORT void *malloc(size_t size);
MZ_EXPORT void *calloc(size_t n, size_t size);
MZ_EXPORT void *realloc(void *p, size_t size);
MZ_EXPORT void *reallocarray(void *p, size_t n, size_t size);
MZ_EXPORT void free(void *p);
MZ_EXPORT int posix_memalign(void **p, size_t align, size_t size);
MZ_EXPORT void *aligned_alloc(size_t align, size_t size);
MZ_EXPORT void *memalign(size_t align, size_t size);
MZ_EXPORT void *valloc(size_t size);
MZ_EXPORT size_t malloc_usable_size(void *p);

void *malloc(size_t size) { return alloc(16, size, FILL); }

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return alloc(16, bytes, 0);
}

void free(void *p)
{
    if (!p) return;
    struct block *b = block_of(p, "free of something that malloc did not return");
    if (!b || !rt.active) return;
    mz_changed();
    /* Whoever still uses the block without being ordered before this races with it. */
    mz_shadow_freed((uintptr_t)p, b->size, (uintptr_t)MZ_PC(), MZ_FRAME());
    b->mark = FREED;
}

void *realloc(void *p, size_t size)
{
    if (!p) return malloc(size);
    struct block *b = block_of(p, "realloc of something that malloc did not return");
    void *q = malloc(size);
    if (!b || !q) return q;
    mz_raw_memcpy(q, p, b->size < size ? b->size : size);
    if (rt.active) b->mark = FREED;
    return q;
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    if (align < sizeof(void *) || (align & (align - 1))) return EINVAL;
    void *q = alloc(align, size, FILL);
    if (!q) return ENOMEM;
    *p = q;
    return 0;
}

void *aligned_alloc(size_t align, size_t size) { return alloc(align, size, FILL); }
void *memalign(size_t align, size_t size) { return alloc(align, size, FILL); }
void *valloc(size_t size) { return alloc(4096, size, FILL); }
size_t malloc_usable_size(void *p) { return p ? ((struct block *)p)[-1].size : 0; }
