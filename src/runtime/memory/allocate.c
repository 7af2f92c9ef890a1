/* malloc and its family. They cut blocks from the running thread's arena (heap.c explains the heap), mark
 * which bytes may be accessed, and inform the race check and the state. The program and libc call these
 * functions. */
#include "base/region.h"
#include "runtime/core/operation.h"
#include "runtime/memory/arena.h"
#include "runtime/rewind/rewind.h"
#include "runtime/state/state.h"

#include <errno.h>
#include <sys/mman.h>

/* ---- what may be accessed ---- */

/* Marks the grains from `from` to `to`. Both are addresses of the first byte of a grain. */
static void mark(uintptr_t from, uintptr_t to, uint8_t value)
{
    if (from < to) mz_raw_memset(grain_of(from), value, (to - from) / GRAIN);
}

/* Keeps the marks of a block, which are about to change. */
static void keep_marks(uintptr_t p, size_t size)
{
    if (size > BIG) mz_keep(page_of(p), size / PAGE + 2);
    mz_keep(grain_of(p), (size <= BIG ? size : PAGE) / GRAIN + 1);
    if (size > BIG) mz_keep(grain_of((p + size) & ~(PAGE - 1)), PAGE / GRAIN);
}

/* Marks all grains of a block as alive or freed. Whole pages inside of a large block have a mark in `pages`
 * instead. */
static void mark_block(uintptr_t p, size_t size, bool alive)
{
    uintptr_t first = p, end = p + size / GRAIN * GRAIN;
    if (size > BIG) {
        uintptr_t behind = (p + size) & ~(PAGE - 1);
        first = round_up(p, PAGE);
        mz_raw_memset(page_of(first), alive ? PAGE_LIVE : PAGE_FREED, (behind - first) / PAGE);
        mark(p, first, alive ? GRAIN : FREED);
        first = behind;
    }
    mark(first, end, alive ? GRAIN : FREED);
    if (size % GRAIN) *grain_of(end) = alive ? (uint8_t)(size % GRAIN) : FREED;
}

/* ---- blocks ---- */

/* Returns the header of the block that begins at p; NULL if no block begins there. */
static struct mz_block *block_at(uint64_t p)
{
    if (p % GRAIN || !in_arenas(p - GRAIN) || p > (uintptr_t)end_of(mz_heap_slot(p))) return NULL;
    if (*page_of(p - GRAIN) != DETAIL || *grain_of(p - GRAIN) != HEADER) return NULL;
    return (struct mz_block *)p - 1;
}

static void *boot_alloc(size_t align, size_t size)
{
    if (!he.boot) he.boot = he.boot_next = mz_region_reserve(BOOT);
    if (!he.boot) return NULL;
    uintptr_t p = ((uintptr_t)he.boot_next + sizeof(struct mz_block) + align - 1) & ~(align - 1);
    if (size > BOOT || p + size > (uintptr_t)he.boot + BOOT) return NULL;
    he.boot_next = (char *)p + size;
    ((struct mz_block *)p)[-1] = (struct mz_block){.size = (uint32_t)size, .mark = LIVE};
    return (void *)p;
}

static void fill(char *p, size_t size, int with)
{
    if (size > BIG) { /* the kernel gives whole pages back as zeros */
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

/* Takes memory for a new block from the running thread's arena. Nothing in it may be accessed yet. Returns
 * NULL if the arena is full. */
static struct mz_block *cut(size_t align, size_t room)
{
    char **next = &rt.run.threads[rt.self].heap;
    uintptr_t from = (uintptr_t)*next, p = round_up(from + sizeof(struct mz_block), align);
    uintptr_t limit = (uintptr_t)he.arenas + (size_t)(rt.self + 1) * ARENA;
    if (room > ARENA / 2 || align > ARENA / 2 || p + room + red_zone(room) + GRAIN > limit) return NULL;
    uintptr_t end = p + round_up(room, GRAIN) + red_zone(room);
    for (uintptr_t page = from & ~(PAGE - 1); page < end; page += PAGE) *page_of(page) = DETAIL;
    mark(from, p - GRAIN, 0);
    *grain_of(p - GRAIN) = HEADER;
    mark(round_up(p + room, GRAIN), end, 0);
    *next = (char *)end;
    mz_keep(&he.last[rt.self], sizeof he.last[rt.self]);
    struct mz_block *b = (struct mz_block *)p - 1;
    b->back = he.last[rt.self] ? (uint32_t)(((uintptr_t)b - (uintptr_t)he.last[rt.self]) / GRAIN) : 0;
    return he.last[rt.self] = b;
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

/* Each block synchronizes by an object of its own. One object for the whole list would order everything, and
 * would hide data races. */
static uint32_t sync_object(const struct mz_block *b) { return mz_explore_object(rt.x, (uintptr_t)b); }

static struct mz_block *take_again(size_t size, void *pc)
{
    uint32_t *head = &he.reuse.head[class_of(size)];
    mz_visible(MZ_OP_MALLOC, (uintptr_t)head, 0, MZ_WRITES, 0, pc);
    mz_commit(MZ_WRITES, 0);
    if (!*head) return NULL;
    struct mz_block *b = he.reuse.nodes[*head].block;
    *head = he.reuse.nodes[*head].next;
    if (rt.path->live) mz_sync_acquire_object(sync_object(b));
    mz_shadow_forget((uintptr_t)(b + 1), class_room(b->size));
    return b;
}

static void give_back(struct mz_block *b)
{
    MZ_ASSERT(he.reuse.count + 1 < FREE_NODES);
    uint32_t *head = &he.reuse.head[class_of(b->size)], n = ++he.reuse.count;
    mz_sync_release(rt.path->live ? sync_object(b) : 0);
    he.reuse.nodes[n].block = b;
    he.reuse.nodes[n].next = *head;
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
    mz_keep(&he.live_blocks, sizeof he.live_blocks);
    he.live_blocks++;
    mark_block((uintptr_t)(b + 1), size, true);
    mark(round_up((uintptr_t)(b + 1) + size, GRAIN), round_up((uintptr_t)(b + 1) + room, GRAIN), 0);
    fill((char *)(b + 1), size, with);
    if (mz_unlikely(rt.recording)) mz_history_allocated(b, again, frame);
    if (mz_unlikely(rt.hashing)) mz_state_allocated(b + 1, size, with);
    return b + 1;
}

/* Returns the header of the block at p. Reports a finding if p is not a block that may be freed; `what` is
 * the text for an invalid free. */
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
        mz_visible(MZ_OP_FREE, (uintptr_t)&he.reuse.head[class_of(b->size)], 0, MZ_WRITES, 0, pc);
        mz_commit(MZ_WRITES, 0);
        b = block_of(p, "another thread has freed this block"); /* while this thread waited to be scheduled */
    }
    if (mz_unlikely(rt.recording)) mz_history_freed(b, again, frame);
    /* An access to the block that is not ordered before this free is a data race. */
    mz_shadow_freed((uintptr_t)p, b->size, again ? MZ_OP_FREE : MZ_OP_DEALLOCATE, (uintptr_t)pc);
    mz_keep(b, sizeof *b);
    if (!in_arenas((uintptr_t)p)) mz_keep_program(b, sizeof *b);
    if (mz_unlikely(rt.hashing) && in_arenas((uintptr_t)p)) mz_state_freed(p, b->size, (int)b->history);
    b->mark = GONE;
    if (!in_arenas((uintptr_t)p)) return;
    mz_keep(&he.live_blocks, sizeof he.live_blocks);
    he.live_blocks--;
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
