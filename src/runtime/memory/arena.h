/* The arenas of the heap and the maps beside them. Private to heap.c and allocate.c. */
#ifndef MZ_RUNTIME_MEMORY_ARENA_H
#define MZ_RUNTIME_MEMORY_ARENA_H

#include "runtime/memory/heap.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/room.h"

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
#define FOREIGN     0x100u         /* in `history`: code without hooks allocated it */
#define FREE_NODES  (1u << 22)

enum { FREED = 0xfd, HEADER = 0xff };   /* of a grain */
enum { DETAIL, PAGE_LIVE, PAGE_FREED }; /* of a page; DETAIL: see its grains */

#define he mz_memory_room.heap

static inline bool in_arenas(uint64_t a) { return a - (uintptr_t)he.arenas < ARENA * MZ_SLOTS; }
static inline bool in_boot(uint64_t a) { return he.boot && a - (uintptr_t)he.boot < BOOT; }
static inline uint8_t *grain_of(uint64_t address)
{
    return he.grains + (address - (uintptr_t)he.arenas) / GRAIN;
}
static inline uint8_t *page_of(uint64_t address)
{
    return he.pages + (address - (uintptr_t)he.arenas) / PAGE;
}
static inline char *end_of(int slot) { return rt.run.threads[slot].heap; }
static inline size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

#endif
