#include "base/region.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

__attribute__((weak)) void mz_region_noted(void *region, size_t bytes, bool there)
{
    (void)region, (void)bytes, (void)there;
}

/* The kernel places mappings side by side: an inaccessible page after each region keeps them apart. */
void *mz_region_reserve(size_t bytes)
{
    size_t size = whole_pages(bytes);
    char *p =
        mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    mprotect(p + size, PAGE, PROT_NONE);
    mz_region_noted(p, size, true);
    return p;
}

void mz_region_free(void *region, size_t bytes)
{
    if (!region) return;
    munmap(region, whole_pages(bytes) + PAGE);
    mz_region_noted(region, whole_pages(bytes), false);
}

void mz_region_empty(void *region, size_t bytes) { madvise(region, bytes, MADV_DONTNEED); }

void mz_region_freeze(void *region, size_t bytes) { mprotect(region, whole_pages(bytes), PROT_READ); }
