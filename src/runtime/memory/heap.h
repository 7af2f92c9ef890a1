/* Blocks of the heap, for the files that inspect them: bounds.c, leaks.c, record.c. Private to
 * src/runtime. */
#ifndef MZ_RUNTIME_MEMORY_HEAP_H
#define MZ_RUNTIME_MEMORY_HEAP_H

#include "runtime/core/runtime.h"

struct mz_block { /* header, just before the memory handed out */
    uint32_t size;
    uint32_t mark;
    /* Distance to the header of the previous block of the arena, in units of 16 bytes; 0: none. */
    uint32_t back;
    uint32_t history; /* in a replay: its number in the channel plus one */
};

enum mz_place_state { MZ_PLACE_ELSEWHERE, MZ_PLACE_LIVE, MZ_PLACE_FREED, MZ_PLACE_OUTSIDE };

/* The bytes must lie within 16 aligned bytes. */
enum mz_place_state mz_heap_state(uint64_t address, size_t size);
bool mz_heap_is_whole_page(uint64_t page);
/* Returns the block that contains the address, or else the nearest block; NULL: none. */
const struct mz_block *mz_heap_nearest(uint64_t address);

/* All blocks of an arena, the latest first. */
const struct mz_block *mz_heap_last(int slot);
struct mz_block *mz_heap_previous(const struct mz_block *b);
bool mz_heap_is_live(const struct mz_block *b);
uint64_t mz_heap_live_blocks(void);

/* record.c: the allocation and the free of each block, for reports. again: a visible operation of
 * --heap=reuse. */
void mz_history_allocated(struct mz_block *b, bool again, const void *frame);
void mz_history_freed(struct mz_block *b, bool again, const void *frame);
struct mz_block_history *mz_history_of(const struct mz_block *b); /* NULL: none was kept */

#endif
