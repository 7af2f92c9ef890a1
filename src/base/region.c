#include "region.h"

#include <sys/mman.h>

void *mz_region_reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void mz_region_free(void *region, size_t bytes)
{
    if (region) munmap(region, bytes);
}

void mz_region_empty(void *region, size_t bytes) { madvise(region, bytes, MADV_DONTNEED); }
