/* Functions of libc as this library uses them: a program may define functions of the same names itself, and
 * the exported ones here have another meaning. The build renames our own calls to these (rename.syms). */
#define _GNU_SOURCE
#include "kernel.h"

#include <sys/mman.h>

void *mz_raw_mmap(void *at, size_t size, int prot, int flags, int fd, long offset);
int mz_raw_munmap(void *at, size_t size);
int mz_raw_mprotect(void *at, size_t size, int prot);
int mz_raw_madvise(void *at, size_t size, int advice);
size_t mz_raw_strlen(const char *s);
int mz_raw_strcmp(const char *a, const char *b);
int mz_raw_strncmp(const char *a, const char *b, size_t n);

static int result(long r) { return mz_sys_failed(r) ? -1 : 0; }

void *mz_raw_mmap(void *at, size_t size, int prot, int flags, int fd, long offset)
{
    long r = mz_sys(SYS_mmap, at, size, prot, flags, fd, offset);
    return mz_sys_failed(r) ? MAP_FAILED : (void *)r;
}
int mz_raw_munmap(void *at, size_t size) { return result(mz_sys(SYS_munmap, at, size)); }
int mz_raw_mprotect(void *at, size_t size, int prot) { return result(mz_sys(SYS_mprotect, at, size, prot)); }
int mz_raw_madvise(void *at, size_t size, int advice)
{
    return result(mz_sys(SYS_madvise, at, size, advice));
}

size_t mz_raw_strlen(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

int mz_raw_strncmp(const char *a, const char *b, size_t n)
{
    for (; n; a++, b++, n--)
        if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

int mz_raw_strcmp(const char *a, const char *b) { return mz_raw_strncmp(a, b, ~(size_t)0); }
