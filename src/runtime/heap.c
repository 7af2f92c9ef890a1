/* The heap: one arena per thread, from which blocks are cut one after the other and never reused within an
 * execution. So the address of a block depends only on the thread's own history: equivalent executions see
 * the same addresses. Contents of new blocks are always the same too. Starting over costs one word.
 *
 * Around each block lies a red zone, in front of it with the block's header. A map beside the arenas says for
 * every 16 bytes (a grain) how many of them, from the first on, may be accessed: 0 to 16, or FREED, or HEADER
 * for the grain that holds a header. Whole pages inside of large blocks have one entry in `pages` instead.
 * The maps are valid below the arena's next free byte; what lies above belongs to other executions.
 *
 * --heap=reuse: freed blocks are used again, last in first out, one list for each class of sizes. Then the
 * order of malloc and free decides who gets which address, so both are visible operations, if the program's
 * own code calls them (libc may call them while it holds a lock of its own: it gets fresh blocks). free
 * synchronizes with the malloc that hands out the same block (C11, 7.22.3).
 *
 * Before main (constructors, libc's own start) blocks come from the boot arena, which is ordinary program
 * memory: the snapshot includes it. */
#include "audit.h"
#include "heap.h"

#include "../base/region.h"

#include <errno.h>
#include <sys/mman.h>

#define ARENA       ((size_t)1 << 30)
#define ARENA_SHIFT 1088u
#define BOOT        ((size_t)64 << 20)
#define LIVE        0x6d7a6c76u
#define GONE        0x6d7a6672u
#define FILL        0xa5
#define BIG         ((size_t)1 << 20)
#define GRAIN       ((size_t)16)
#define PAGE        ((size_t)4096)
#define RED         ((size_t)16)   /* least red zone behind a block ... */
#define RED_MOST    ((size_t)1024) /* ... and the largest */
#define FOREIGN     0x100u         /* in `history`: not the program's code allocated it */
#define CLASSES     128
#define FREE_NODES  (1u << 22)

enum { FREED = 0xfd, HEADER = 0xff };   /* of a grain */
enum { DETAIL, PAGE_LIVE, PAGE_FREED }; /* of a page: DETAIL is to look at its grains */

static char *arenas;
static char *boot, *boot_next;
static uint8_t *grains, *pages;
static char *mirrors;                   /* of the arenas, for undo.c ... */
static char *mirrored[MZ_SLOTS];        /* ... which are in use up to here */
static struct mz_block *last[MZ_SLOTS]; /* header of the latest block of each arena */
static uint64_t live_blocks;

static struct { /* --heap=reuse */
    uint32_t head[CLASSES];
    struct {
        struct mz_block *block;
        uint32_t next;
    } * nodes;
    uint32_t count;
} reuse;

static char *arena_start(int slot)
{
    return arenas + (size_t)slot * ARENA + (size_t)slot * ARENA_SHIFT % (64 * 4096) / 64 * 64;
}

void mz_heap_init(void)
{
    arenas = mz_region_reserve(ARENA * MZ_SLOTS);
    grains = mz_region_reserve(ARENA * MZ_SLOTS / GRAIN);
    pages = mz_region_reserve(ARENA * MZ_SLOTS / PAGE);
    reuse.nodes = mz_region_reserve(FREE_NODES * sizeof *reuse.nodes);
    mirrors = mz_region_reserve(ARENA * MZ_SLOTS);
    MZ_ASSERT(arenas && grains && pages && reuse.nodes && mirrors);
    for (int s = 0; s < MZ_SLOTS; s++) rt.run.threads[s].heap = arena_start(s);
}

void mz_heap_reset(void)
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        rt.run.threads[s].heap = arena_start((int)s);
        last[s] = NULL;
    }
    live_blocks = 0;
    if (!rt.channel->options.heap_reuse) return;
    for (int c = 0; c < CLASSES; c++) reuse.head[c] = 0;
    reuse.count = 0;
}

/* At the start all arenas are empty, and their mirrors zero. What lies beyond their ends is of no interest;
 * when it is compared one day, it is put back to what it never was, where nobody looks. */
void mz_heap_mirror(void)
{
    for (uint32_t s = 0; s < MZ_SLOTS; s++) {
        char *start = arena_start((int)s);
        if (mirrored[s] > start) mz_raw_memset(mirrors + (start - arenas), 0, (size_t)(mirrored[s] - start));
        mirrored[s] = start;
    }
}

size_t mz_heap_size(void)
{
    size_t size = 0;
    for (uint32_t s = 0; s < rt.slots_known; s++)
        size += (size_t)(rt.run.threads[s].heap - arena_start((int)s));
    return size;
}

void mz_heap_compare(void (*compare)(void *now, void *mirror, size_t size))
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        char *start = arena_start((int)s);
        if (rt.run.threads[s].heap > mirrored[s]) mirrored[s] = rt.run.threads[s].heap;
        compare(start, mirrors + (start - arenas), (size_t)(rt.run.threads[s].heap - start));
    }
}

/* The contents of all blocks in use. One that was handed out since the last time has a mirror that is filled like
 * it; large ones are left out. */
void mz_heap_compare_blocks(void (*compare)(void *now, void *mirror, size_t size))
{
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        for (struct mz_block *b = last[s]; b; b = mz_heap_previous(b)) {
            char *p = (char *)(b + 1), *mirror = mirrors + (p - arenas);
            size_t size = ((size_t)b->size + 7) & ~(size_t)7;
            if (b->mark != LIVE || b->size > BIG || b->history & FOREIGN) continue;
            if (p >= mirrored[s]) {
                mz_raw_memcpy(mirror, p, size);
                mz_raw_memset(mirror, (uint8_t)b->history, b->size);
            }
            compare(p, mirror, size);
        }
        mirrored[s] = rt.run.threads[s].heap;
    }
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

static bool in_arenas(uint64_t a) { return a - (uintptr_t)arenas < ARENA * MZ_SLOTS; }
static bool in_boot(uint64_t a) { return boot && a - (uintptr_t)boot < BOOT; }
bool mz_heap_contains(uint64_t address) { return in_arenas(address) || in_boot(address); }

/* ---- what may be accessed ---- */

int mz_heap_slot(uint64_t address) { return (int)((address - (uintptr_t)arenas) / ARENA); }
static uint8_t *grain_of(uint64_t address) { return grains + (address - (uintptr_t)arenas) / GRAIN; }
static uint8_t *page_of(uint64_t address) { return pages + (address - (uintptr_t)arenas) / PAGE; }
static char *end_of(int slot) { return rt.run.threads[slot].heap; }
static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

/* size: within one grain. */
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

/* Marks the grains from `from` to `to`, both at the beginning of one. */
static void mark(uintptr_t from, uintptr_t to, uint8_t value)
{
    if (from < to) mz_raw_memset(grain_of(from), value, (to - from) / GRAIN);
}

/* What the maps say of a block is about to be changed. */
static void keep_marks(uintptr_t p, size_t size)
{
    if (size > BIG) mz_keep(page_of(p), size / PAGE + 2);
    mz_keep(grain_of(p), (size <= BIG ? size : PAGE) / GRAIN + 1);
    if (size > BIG) mz_keep(grain_of((p + size) & ~(PAGE - 1)), PAGE / GRAIN);
}

/* The grains of a block: whole pages of a large one only in `pages`. */
static void mark_block(uintptr_t p, size_t size, bool alive)
{
    uintptr_t first = p, end = p + size / GRAIN * GRAIN, behind = end;
    if (size > BIG) {
        first = round_up(p, PAGE), behind = (p + size) & ~(PAGE - 1);
        mz_raw_memset(page_of(first), alive ? PAGE_LIVE : PAGE_FREED, (behind - first) / PAGE);
        mark(p, first, alive ? GRAIN : FREED);
        first = behind;
    }
    mark(first, end, alive ? GRAIN : FREED);
    if (size % GRAIN) *grain_of(end) = alive ? (uint8_t)(size % GRAIN) : FREED;
}

/* ---- blocks ---- */

/* The header of the block that begins at p; NULL if none does. */
static struct mz_block *block_at(uint64_t p)
{
    if (p % GRAIN || !in_arenas(p - GRAIN) || p > (uintptr_t)end_of(mz_heap_slot(p))) return NULL;
    if (*page_of(p - GRAIN) != DETAIL || *grain_of(p - GRAIN) != HEADER) return NULL;
    return (struct mz_block *)p - 1;
}

static struct mz_block *block_before(int slot, uint64_t address)
{
    struct mz_block *b = last[slot];
    while (b && (uintptr_t)(b + 1) > address) b = mz_heap_previous(b);
    return b;
}

/* The block that the address belongs to or that is nearest: the distances are counted from its ends. */
const struct mz_block *mz_heap_nearest(uint64_t address)
{
    if (!in_arenas(address)) return NULL;
    int slot = mz_heap_slot(address);
    const struct mz_block *before = block_before(slot, address), *after = NULL;
    for (const struct mz_block *b = last[slot]; b && b != before; b = mz_heap_previous(b)) after = b;
    if (!before || !after) return before ? before : after;
    uint64_t end = (uintptr_t)(before + 1) + before->size, start = (uintptr_t)(after + 1);
    return address >= end && start - address <= address - end ? after : before;
}

const struct mz_block *mz_heap_last(int slot) { return last[slot]; }
struct mz_block *mz_heap_previous(const struct mz_block *b)
{
    return b->back ? (struct mz_block *)((uintptr_t)b - (uintptr_t)b->back * GRAIN) : NULL;
}
bool mz_heap_is_live(const struct mz_block *b) { return b->mark == LIVE; }
uint64_t mz_heap_live_blocks(void) { return live_blocks; }

static void *boot_alloc(size_t align, size_t size)
{
    if (!boot) boot = boot_next = mz_region_reserve(BOOT);
    if (!boot) return NULL;
    uintptr_t p = ((uintptr_t)boot_next + sizeof(struct mz_block) + align - 1) & ~(align - 1);
    if (size > BOOT || p + size > (uintptr_t)boot + BOOT) return NULL;
    boot_next = (char *)p + size;
    ((struct mz_block *)p)[-1] = (struct mz_block){.size = (uint32_t)size, .mark = LIVE};
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

static size_t red_zone(size_t size)
{
    size_t red = size / 8;
    return red < RED ? RED : red > RED_MOST ? RED_MOST : round_up(red, GRAIN);
}

/* Room for a new block of the running thread's arena, with nothing in it that may be accessed. */
static struct mz_block *cut(size_t align, size_t room)
{
    char **next = &rt.run.threads[rt.self].heap;
    uintptr_t from = (uintptr_t)*next, p = round_up(from + sizeof(struct mz_block), align);
    uintptr_t limit = (uintptr_t)arenas + (size_t)(rt.self + 1) * ARENA;
    if (room > ARENA / 2 || align > ARENA / 2 || p + room + red_zone(room) + GRAIN > limit) return NULL;
    uintptr_t end = p + round_up(room, GRAIN) + red_zone(room);
    for (uintptr_t page = from & ~(PAGE - 1); page < end; page += PAGE) *page_of(page) = DETAIL;
    mark(from, p - GRAIN, 0);
    *grain_of(p - GRAIN) = HEADER;
    mark(round_up(p + room, GRAIN), end, 0);
    *next = (char *)end;
    mz_keep(&last[rt.self], sizeof last[rt.self]);
    struct mz_block *b = (struct mz_block *)p - 1;
    b->back = last[rt.self] ? (uint32_t)(((uintptr_t)b - (uintptr_t)last[rt.self]) / GRAIN) : 0;
    return last[rt.self] = b;
}

/* ---- --heap=reuse ---- */

static unsigned class_of(size_t size)
{
    if (size <= 1024) return (unsigned)(size ? (size - 1) / GRAIN : 0);
    return 64 + (unsigned)(64 - __builtin_clzll(size - 1)) - 11;
}

static size_t class_room(size_t size)
{
    if (size <= 1024) return round_up(size ? size : 1, GRAIN);
    return (size_t)1 << (64 - __builtin_clzll(size - 1));
}

/* Synchronizing is per block: a list that orders everything would hide races. */
static uint32_t sync_object(const struct mz_block *b) { return mz_explore_object(rt.x, (uintptr_t)b); }

static struct mz_block *take_again(size_t size, void *pc)
{
    uint32_t *head = &reuse.head[class_of(size)];
    mz_visible(MZ_OP_MALLOC, (uintptr_t)head, 0, MZ_WRITES, 0, pc);
    mz_commit(MZ_WRITES, 0);
    if (!*head) return NULL;
    struct mz_block *b = reuse.nodes[*head].block;
    *head = reuse.nodes[*head].next;
    if (rt.path->live) mz_sync_acquire_object(sync_object(b));
    mz_shadow_forget((uintptr_t)(b + 1), class_room(b->size));
    return b;
}

static void give_back(struct mz_block *b)
{
    MZ_ASSERT(reuse.count + 1 < FREE_NODES);
    uint32_t *head = &reuse.head[class_of(b->size)], n = ++reuse.count;
    mz_sync_release(rt.path->live ? sync_object(b) : 0);
    reuse.nodes[n].block = b;
    reuse.nodes[n].next = *head;
    *head = n;
}

static bool reuses(size_t align, size_t size, void *pc)
{
    return rt.channel->options.heap_reuse && align <= GRAIN && size <= BIG &&
           mz_is_instrumented((uintptr_t)pc);
}

/* ---- malloc and its family ---- */

static void *alloc(size_t align, size_t size, int with, void *pc, const void *frame)
{
    if (align < GRAIN) align = GRAIN;
    if (!rt.active) return boot_alloc(align, size);
    mz_changed();
    bool again = reuses(align, size, pc);
    size_t room = rt.channel->options.heap_reuse && size <= BIG ? class_room(size) : size;
    struct mz_block *b = again ? take_again(size, pc) : NULL;
    if (!b) b = cut(align, room);
    if (!b) {
        errno = ENOMEM;
        return NULL;
    }
    b->size = (uint32_t)size;
    b->mark = LIVE;
    b->history = rt.recording ? 0 : (uint8_t)with;
    if (mz_unlikely(rt.auditing) && !mz_is_instrumented((uintptr_t)pc)) b->history |= FOREIGN;
    mz_keep(&live_blocks, sizeof live_blocks);
    live_blocks++;
    mark_block((uintptr_t)(b + 1), size, true);
    mark(round_up((uintptr_t)(b + 1) + size, GRAIN), round_up((uintptr_t)(b + 1) + room, GRAIN), 0);
    fill((char *)(b + 1), size, with);
    if (mz_unlikely(rt.recording)) mz_history_allocated(b, again, frame);
    if (mz_unlikely(rt.hashing)) mz_state_allocated(b + 1, size, with);
    return b + 1;
}

/* The header of a block that may be freed. */
static struct mz_block *block_of(void *p, const char *what)
{
    struct mz_block *b = in_boot((uintptr_t)p) && (uintptr_t)p % GRAIN == 0 ? (struct mz_block *)p - 1
                                                                            : block_at((uintptr_t)p);
    if (b && b->mark == LIVE) return b;
    if (!rt.active) return NULL;
    if (b && b->mark == GONE)
        mz_finding_block(MZ_KIND_DOUBLE_FREE, "this block has already been freed", (uintptr_t)p);
    if (b && in_arenas((uintptr_t)p))
        mz_finding_block(MZ_KIND_OUT_OF_BOUNDS, "the bytes in front of this block have been overwritten",
                         (uintptr_t)p);
    mz_finding_block(MZ_KIND_INVALID_FREE, what, (uintptr_t)p);
}

static void release(void *p, struct mz_block *b, void *pc, const void *frame)
{
    mz_changed();
    bool again = in_arenas((uintptr_t)p) && reuses(GRAIN, b->size, pc);
    if (again) {
        mz_visible(MZ_OP_FREE, (uintptr_t)&reuse.head[class_of(b->size)], 0, MZ_WRITES, 0, pc);
        mz_commit(MZ_WRITES, 0);
        b = block_of(p, "another thread has freed this block"); /* while this one waited for its turn */
    }
    if (mz_unlikely(rt.recording)) mz_history_freed(b, again, frame);
    /* Whoever still uses the block without being ordered before this races with it. */
    mz_shadow_freed((uintptr_t)p, b->size, again ? MZ_OP_FREE : MZ_OP_DEALLOCATE, (uintptr_t)pc);
    mz_keep(b, sizeof *b);
    if (!in_arenas((uintptr_t)p)) mz_keep_program(b, sizeof *b);
    if (mz_unlikely(rt.hashing) && in_arenas((uintptr_t)p)) mz_state_freed(p, b->size, (int)b->history);
    b->mark = GONE;
    if (!in_arenas((uintptr_t)p)) return;
    mz_keep(&live_blocks, sizeof live_blocks);
    live_blocks--;
    keep_marks((uintptr_t)p, b->size);
    mark_block((uintptr_t)p, b->size, false);
    if (again) give_back(b);
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
MZ_EXPORT void *pvalloc(size_t size);
MZ_EXPORT size_t malloc_usable_size(void *p);

#define HERE MZ_PC(), MZ_FRAME()

void *malloc(size_t size) { return alloc(GRAIN, size, FILL, HERE); }

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) bytes = ARENA;
    return alloc(GRAIN, bytes, 0, HERE);
}

void free(void *p)
{
    if (!p) return;
    struct mz_block *b = block_of(p, "free of something that malloc did not return");
    if (b && rt.active) release(p, b, HERE);
}

static void *resize(void *p, size_t size, void *pc, const void *frame)
{
    if (!p) return alloc(GRAIN, size, FILL, pc, frame);
    struct mz_block *b = block_of(p, "realloc of something that malloc did not return");
    void *q = size ? alloc(GRAIN, size, FILL, pc, frame) : NULL;
    if (size && !q) return NULL;
    if (b && q) mz_keep_program(q, b->size < size ? b->size : size);
    if (b && q) mz_raw_memcpy(q, p, b->size < size ? b->size : size);
    if (b && rt.active) release(p, b, pc, frame);
    return q;
}

void *realloc(void *p, size_t size) { return resize(p, size, HERE); }

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(p, bytes, HERE);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    if (align < sizeof(void *) || (align & (align - 1))) return EINVAL;
    void *q = alloc(align, size, FILL, HERE);
    if (!q) return ENOMEM;
    MZ_WRITES_TO(p);
    *p = q;
    return 0;
}

static void *aligned(size_t align, size_t size, void *pc, const void *frame)
{
    if (align && !(align & (align - 1))) return alloc(align, size, FILL, pc, frame);
    errno = EINVAL;
    return NULL;
}

void *aligned_alloc(size_t align, size_t size) { return aligned(align, size, HERE); }
void *memalign(size_t align, size_t size) { return aligned(align, size, HERE); }
void *valloc(size_t size) { return alloc(PAGE, size, FILL, HERE); }
void *pvalloc(size_t size) { return alloc(PAGE, round_up(size, PAGE), FILL, HERE); }
size_t malloc_usable_size(void *p) { return p ? ((struct mz_block *)p)[-1].size : 0; }
