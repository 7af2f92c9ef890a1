/* The heap: one arena for each thread. Blocks are cut from the arena one after the other, and are not reused
 * within an execution. So the address of a block depends only on the thread's own history, and equivalent
 * executions see the same addresses. The contents of new blocks are always the same, too. Resetting an arena
 * costs one word.
 *
 * Around each block lies a red zone; the block's header is in the red zone before it. A map beside the arenas
 * says for every 16 bytes (a grain) how many of them, from the first on, may be accessed: 0 to 16, or FREED,
 * or HEADER for the grain of a header. Whole pages inside of large blocks have one entry in `pages` instead.
 * The maps are valid below the arena's next free byte; entries above it belong to other executions.
 *
 * allocate.c has malloc and its family.
 *
 * --heap=reuse: freed blocks are used again, last in first out, with one list for each size class. Then the
 * order of malloc and free decides which thread gets which address. So both are visible operations if the
 * program's own code calls them. (Calls from libc get fresh blocks: libc may hold a lock of its own.) free
 * synchronizes with the malloc that returns the same block (C11, 7.22.3).
 *
 * Before main (constructors, libc's own start), blocks come from the boot arena. It is ordinary program
 * memory: the snapshot includes it. */
#include "base/region.h"
#include "runtime/kernel/kernel.h"
#include "runtime/memory/arena.h"

static char *arena_start(int slot)
{
    return he.arenas + (size_t)slot * ARENA + (size_t)slot * ARENA_SHIFT % (64 * 4096) / 64 * 64;
}

void mz_heap_init(void)
{
    he.arenas = mz_region_reserve(ARENA * MZ_SLOTS);
    he.grains = mz_region_reserve(ARENA * MZ_SLOTS / GRAIN);
    he.pages = mz_region_reserve(ARENA * MZ_SLOTS / PAGE);
    he.reuse.nodes = mz_region_reserve(FREE_NODES * sizeof *he.reuse.nodes);
    he.mirrors = mz_region_reserve(ARENA * MZ_SLOTS);
    MZ_ASSERT(he.arenas && he.grains && he.pages && he.reuse.nodes && he.mirrors);
    for (int s = 0; s < MZ_SLOTS; s++) rt.run.threads[s].heap = arena_start(s);
}

void mz_heap_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        rt.run.threads[s].heap = arena_start((int)s);
        he.last[s] = NULL;
    }
    he.live_blocks = 0;
    if (!rt.channel->options.heap_reuse) return;
    for (int c = 0; c < MZ_HEAP_CLASSES; c++) he.reuse.head[c] = 0;
    he.reuse.count = 0;
}

/* At the start of an execution all arenas are empty, and their mirrors are zero. Memory beyond the end of an
 * arena does not matter: if it is compared later, the zeros of the mirror may be restored there, but nothing
 * reads them. */
void mz_heap_mirror(void)
{
    for (uint32_t s = 0; s < MZ_SLOTS; s++) {
        char *start = arena_start((int)s);
        if (he.mirrored[s] > start)
            mz_raw_memset(he.mirrors + (start - he.arenas), 0, (size_t)(he.mirrored[s] - start));
        he.mirrored[s] = he.compared[s] = start;
    }
}

/* The undo log has been rolled back: the kernel may discard pages above the end of an arena without reporting
 * them as written. */
void mz_heap_cut(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (he.compared[s] > rt.run.threads[s].heap) he.compared[s] = rt.run.threads[s].heap;
}

size_t mz_heap_size(void)
{
    size_t size = 0;
    for (uint32_t s = 0; s < rt.slots_known; s++)
        size += (size_t)(rt.run.threads[s].heap - arena_start((int)s));
    return size;
}

static void compare_part(char *from, char *to, void (*compare)(void *now, void *mirror, size_t size))
{
    if (from < to) compare(from, he.mirrors + (from - he.arenas), (size_t)(to - from));
}

/* From this size on, asking the kernel which pages were written is cheaper than comparing all pages. */
#define LARGE ((size_t)256 << 10)

static bool watched(void)
{
    if (!he.watched) he.watched = mz_written_watch(he.arenas, ARENA * MZ_SLOTS) ? 1 : 2;
    return he.watched == 1;
}

/* Compares the pages below `known` that were written since the last time, and protects all pages up to `end`
 * again. Returns false if the kernel cannot tell. */
static bool compare_written(char *start, char *known, char *end,
                            void (*compare)(void *now, void *mirror, size_t size))
{
    struct mz_written pages[64];
    uint64_t from = (uintptr_t)start & ~(PAGE - 1), to = ((uintptr_t)end + PAGE - 1) & ~(PAGE - 1);
    while (from < to) {
        int n = mz_written_next(&from, to, pages, 64);
        if (n < 0) return false;
        for (int i = 0; i < n; i++) {
            char *first = (char *)pages[i].start, *last = (char *)pages[i].end;
            compare_part(first > start ? first : start, last < known ? last : known, compare);
        }
    }
    return true;
}

/* Compares all arenas with their mirrors. The part of an arena that is new since the last time is compared
 * completely: its mirror belongs to another past, and it may have pages without contents (written.c). */
void mz_heap_compare(void (*compare)(void *now, void *mirror, size_t size))
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        char *start = arena_start((int)s), *end = rt.run.threads[s].heap;
        char *known = he.compared[s] < end ? he.compared[s] : end;
        if (end > he.mirrored[s]) he.mirrored[s] = end;
        bool some =
            (size_t)(end - start) >= LARGE && watched() && compare_written(start, known, end, compare);
        compare_part(some ? known : start, end, compare);
        he.compared[s] = end;
    }
}

/* Compares the contents of all live blocks with their mirrors. The mirror of a block that was allocated since
 * the last time gets the contents of a new block first. Large blocks are left out. */
void mz_heap_compare_blocks(void (*compare)(void *now, void *mirror, size_t size))
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        for (struct mz_block *b = he.last[s]; b; b = mz_heap_previous(b)) {
            char *p = (char *)(b + 1), *mirror = he.mirrors + (p - he.arenas);
            size_t size = ((size_t)b->size + 7) & ~(size_t)7;
            if (b->mark != LIVE || b->size > BIG || b->history & FOREIGN) continue;
            if (p >= he.mirrored[s]) {
                mz_raw_memcpy(mirror, p, size);
                mz_raw_memset(mirror, (uint8_t)b->history, b->size);
            }
            compare(p, mirror, size);
        }
        he.mirrored[s] = rt.run.threads[s].heap;
    }
}

void mz_heap_arena(int slot, const char **low, const char **high)
{
    *low = he.arenas + (size_t)slot * ARENA;
    *high = *low + ARENA;
}

/* Returns the size and the start of the used part of the boot arena, for the snapshot. */
size_t mz_heap_boot(char **start)
{
    *start = he.boot;
    return he.boot ? (size_t)(he.boot_next - he.boot) : 0;
}

bool mz_heap_contains(uint64_t address) { return in_arenas(address) || in_boot(address); }

/* ---- what may be accessed ---- */

int mz_heap_slot(uint64_t address) { return (int)((address - (uintptr_t)he.arenas) / ARENA); }

/* The bytes must lie within one grain. */
enum mz_place_state mz_heap_state(uint64_t address, size_t size)
{
    if (!in_arenas(address)) return MZ_PLACE_ELSEWHERE;
    if (mz_unlikely(address >= (uintptr_t)end_of(mz_heap_slot(address)))) return MZ_PLACE_OUTSIDE;
    uint8_t page = *page_of(address), grain = *grain_of(address);
    if (page) return page == PAGE_LIVE ? MZ_PLACE_LIVE : MZ_PLACE_FREED;
    if (mz_likely(grain <= GRAIN)) return address % GRAIN + size <= grain ? MZ_PLACE_LIVE : MZ_PLACE_OUTSIDE;
    return grain == FREED ? MZ_PLACE_FREED : MZ_PLACE_OUTSIDE;
}

/* Does all of the page belong to one large block that is alive? */
bool mz_heap_is_whole_page(uint64_t page)
{
    return in_arenas(page) && page < (uintptr_t)end_of(mz_heap_slot(page)) && *page_of(page) == PAGE_LIVE;
}

/* ---- blocks ---- */

static struct mz_block *block_before(int slot, uint64_t address)
{
    struct mz_block *b = he.last[slot];
    while (b && (uintptr_t)(b + 1) > address) b = mz_heap_previous(b);
    return b;
}

/* Returns the block that contains the address, or else the nearest block, by the distance from its ends. */
const struct mz_block *mz_heap_nearest(uint64_t address)
{
    if (!in_arenas(address)) return NULL;
    int slot = mz_heap_slot(address);
    const struct mz_block *before = block_before(slot, address), *after = NULL;
    for (const struct mz_block *b = he.last[slot]; b && b != before; b = mz_heap_previous(b)) after = b;
    if (!before || !after) return before ? before : after;
    uint64_t end = (uintptr_t)(before + 1) + before->size, start = (uintptr_t)(after + 1);
    return address >= end && start - address <= address - end ? after : before;
}

const struct mz_block *mz_heap_last(int slot) { return he.last[slot]; }
struct mz_block *mz_heap_previous(const struct mz_block *b)
{
    return b->back ? (struct mz_block *)((uintptr_t)b - (uintptr_t)b->back * GRAIN) : NULL;
}
bool mz_heap_is_live(const struct mz_block *b) { return b->mark == LIVE; }
uint64_t mz_heap_live_blocks(void) { return he.live_blocks; }
