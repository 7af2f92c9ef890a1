/* memcpy, memmove, memset: range accesses for the race check, then the work itself. The compilers leave calls
 * to these in instrumented code; newer clang calls the __tsan_ names. The rest of this library must not come
 * here by accident: the build renames its own calls to mz_raw_* (rename.syms), in every file but this one. */
#include "runtime.h"

typedef void *copy_fn(void *, const void *, size_t);
typedef void *set_fn(void *, int, size_t);

static copy_fn *real_memcpy, *real_memmove;
static set_fn *real_memset;

void mz_raw_init(void)
{
    real_memcpy = (copy_fn *)mz_next_symbol("memcpy");
    real_memmove = (copy_fn *)mz_next_symbol("memmove");
    real_memset = (set_fn *)mz_next_symbol("memset");
}

void *mz_raw_memcpy(void *to, const void *from, size_t n)
{
    if (mz_likely(real_memcpy != NULL)) return real_memcpy(to, from, n);
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *mz_raw_memmove(void *to, const void *from, size_t n)
{
    if (mz_likely(real_memmove != NULL)) return real_memmove(to, from, n);
    if ((uintptr_t)to <= (uintptr_t)from) return mz_raw_memcpy(to, from, n);
    while (n--) ((char *)to)[n] = ((const char *)from)[n];
    return to;
}

void *mz_raw_memset(void *to, int c, size_t n)
{
    if (mz_likely(real_memset != NULL)) return real_memset(to, c, n);
    for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)c;
    return to;
}

int mz_raw_memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

#define ACCESS(p, n, write)                                                                                  \
    do {                                                                                                     \
        if (rt.active && (n)) mz_access_range((p), (n), (write), MZ_PC(), MZ_FRAME());                       \
    } while (0)

#define COPY(name, raw)                                                                                      \
    MZ_EXPORT void *name(void *to, const void *from, size_t n);                                              \
    void *name(void *to, const void *from, size_t n)                                                         \
    {                                                                                                        \
        ACCESS(from, n, false);                                                                              \
        ACCESS(to, n, true);                                                                                 \
        return raw(to, from, n);                                                                             \
    }
#define COPY_CHK(name, raw)                                                                                  \
    MZ_EXPORT void *name(void *to, const void *from, size_t n, size_t room);                                 \
    void *name(void *to, const void *from, size_t n, size_t room)                                            \
    {                                                                                                        \
        if (n > room) __builtin_trap();                                                                      \
        ACCESS(from, n, false);                                                                              \
        ACCESS(to, n, true);                                                                                 \
        return raw(to, from, n);                                                                             \
    }

COPY(memcpy, mz_raw_memcpy)
COPY(memmove, mz_raw_memmove)
COPY(__tsan_memcpy, mz_raw_memcpy)
COPY(__tsan_memmove, mz_raw_memmove)
COPY_CHK(__memcpy_chk, mz_raw_memcpy)
COPY_CHK(__memmove_chk, mz_raw_memmove)

#define SET(name)                                                                                            \
    MZ_EXPORT void *name(void *to, int c, size_t n);                                                         \
    void *name(void *to, int c, size_t n)                                                                    \
    {                                                                                                        \
        ACCESS(to, n, true);                                                                                 \
        return mz_raw_memset(to, c, n);                                                                      \
    }
SET(memset)
SET(__tsan_memset)

MZ_EXPORT void *__memset_chk(void *to, int c, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room)
{
    if (n > room) __builtin_trap();
    ACCESS(to, n, true);
    return mz_raw_memset(to, c, n);
}
