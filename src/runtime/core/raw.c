/* Functions of libc for use by this library. It cannot call them by their own names: the program may define
 * functions of the same names, and the functions that this library exports are hooks. The build renames this
 * library's calls (RAW in hooks/libc.def), so all files use them. */
#define _GNU_SOURCE
#include "runtime/core/room.h"
#include "runtime/kernel/kernel.h"

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

/* ---- memory: libc's functions; before mz_raw_init, loops of our own ---- */

#define raw mz_core_room.raw

void mz_raw_init(void)
{
    raw.memcpy = mz_next_symbol("memcpy");
    raw.memmove = mz_next_symbol("memmove");
    raw.memset = mz_next_symbol("memset");
}

void *mz_raw_memcpy(void *to, const void *from, size_t n)
{
    if (mz_likely(raw.memcpy != NULL)) return raw.memcpy(to, from, n);
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *mz_raw_memmove(void *to, const void *from, size_t n)
{
    if (mz_likely(raw.memmove != NULL)) return raw.memmove(to, from, n);
    if ((uintptr_t)to <= (uintptr_t)from) return mz_raw_memcpy(to, from, n);
    while (n--) ((char *)to)[n] = ((const char *)from)[n];
    return to;
}

void *mz_raw_memset(void *to, int c, size_t n)
{
    if (mz_likely(raw.memset != NULL)) return raw.memset(to, c, n);
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)c;
    return to;
}

int mz_raw_memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v, w;
        __builtin_memcpy(&v, p + i, 8);
        __builtin_memcpy(&w, q + i, 8);
        if (v != w) break;
    }
    for (; i < n; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}
