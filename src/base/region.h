/* Growing arrays that never move.
 *
 * A region reserves address space once and lets the kernel supply pages when they are first touched. So a
 * pointer into it stays valid for the life of the region, growing costs nothing, and nothing here uses
 * malloc: the engine runs inside the tested program and must not share its heap.
 */
#ifndef MZ_BASE_REGION_H
#define MZ_BASE_REGION_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL when the address space is exhausted. The memory reads as zero. */
void *mz_region_reserve(size_t bytes);
void mz_region_free(void *region, size_t bytes);
/* From now on it is only read. */
void mz_region_freeze(void *region, size_t bytes);
/* Called after a region is reserved, and after it is released. The default does nothing; the runtime replaces it to know its
 * own memory (own.c). */
void mz_region_noted(void *region, size_t bytes, bool there);
/* Gives the memory of the first so many bytes back; they read as zero again. */
void mz_region_empty(void *region, size_t bytes);

#endif
