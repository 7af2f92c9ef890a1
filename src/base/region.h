/* Growing arrays that never move.
 *
 * A region reserves address space once, and the kernel supplies pages when they are first touched. So a pointer into
 * a region stays valid for the life of the region, and growing costs nothing. Nothing here uses malloc: the engine
 * runs inside the tested program and must not share its heap. */
#ifndef MZ_BASE_REGION_H
#define MZ_BASE_REGION_H

#include <stdbool.h>
#include <stddef.h>

/* Reserve a region that reads as zero. Return NULL when the address space is exhausted. */
void *mz_region_reserve(size_t bytes);
void mz_region_free(void *region, size_t bytes);
/* Make the region read-only. */
void mz_region_freeze(void *region, size_t bytes);
/* A callback: a region was reserved (`there`) or released. The default does nothing. The runtime replaces it, so
 * that it knows its own memory (runtime/core/own.c). */
void mz_region_noted(void *region, size_t bytes, bool there);
/* Give the memory of the first `bytes` bytes back to the kernel; they read as zero again. */
void mz_region_empty(void *region, size_t bytes);

#endif
