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

void mz_access_by(const void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (rt.active && size && mz_is_instrumented((uintptr_t)pc)) mz_access_range(p, size, write, pc, frame);
}

#define ACCESS(p, n, write) mz_access_by((p), (n), (write), MZ_PC(), MZ_FRAME())

/* --data-races=allow: where operations are among the bytes, piece by piece. */
#define PIECES(to, from, n)                                                                                  \
    (mz_unlikely(rt.allow_races) && rt.active && (mz_visible_any(to, n) || mz_visible_any(from, n)))

#define COPY(name, raw)                                                                                      \
    MZ_EXPORT void *name(void *to, const void *from, size_t n);                                              \
    void *name(void *to, const void *from, size_t n)                                                         \
    {                                                                                                        \
        if (PIECES(to, from, n)) {                                                                           \
            mz_visible_copy(to, from, n, MZ_PC(), MZ_FRAME());                                               \
            return to;                                                                                       \
        }                                                                                                    \
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
        if (PIECES(to, to, n)) {                                                                             \
            mz_visible_set(to, c, n, MZ_PC(), MZ_FRAME());                                                   \
            return to;                                                                                       \
        }                                                                                                    \
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

/* The string functions of libc are not instrumented: say what they read and write, then do it. */
static size_t length(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

#define ALL_OF_IT ((size_t)-1)

MZ_EXPORT char *strcpy(char *to, const char *from);
MZ_EXPORT char *stpcpy(char *to, const char *from);
MZ_EXPORT char *strncpy(char *to, const char *from, size_t n);
MZ_EXPORT char *strcat(char *to, const char *from);
MZ_EXPORT char *strncat(char *to, const char *from, size_t n);
MZ_EXPORT void *mempcpy(void *to, const void *from, size_t n);
MZ_EXPORT void bzero(void *to, size_t n);
MZ_EXPORT void bcopy(const void *from, void *to, size_t n);

char *strcpy(char *to, const char *from)
{
    size_t n = length(from, ALL_OF_IT) + 1;
    ACCESS(from, n, false);
    ACCESS(to, n, true);
    return mz_raw_memcpy(to, from, n);
}

char *stpcpy(char *to, const char *from)
{
    size_t n = length(from, ALL_OF_IT);
    ACCESS(from, n + 1, false);
    ACCESS(to, n + 1, true);
    mz_raw_memcpy(to, from, n + 1);
    return to + n;
}

char *strncpy(char *to, const char *from, size_t n)
{
    size_t used = length(from, n);
    ACCESS(from, used < n ? used + 1 : n, false);
    ACCESS(to, n, true);
    mz_raw_memcpy(to, from, used);
    mz_raw_memset(to + used, 0, n - used);
    return to;
}

static char *append(char *to, const char *from, size_t n, void *pc, const void *frame)
{
    size_t before = length(to, ALL_OF_IT);
    mz_access_by(to, before + 1, false, pc, frame);
    mz_access_by(from, n, false, pc, frame);
    mz_access_by(to + before, n + 1, true, pc, frame);
    mz_raw_memcpy(to + before, from, n);
    to[before + n] = 0;
    return to;
}

char *strcat(char *to, const char *from)
{
    return append(to, from, length(from, ALL_OF_IT), MZ_PC(), MZ_FRAME());
}
char *strncat(char *to, const char *from, size_t n)
{
    return append(to, from, length(from, n), MZ_PC(), MZ_FRAME());
}

void *mempcpy(void *to, const void *from, size_t n)
{
    ACCESS(from, n, false);
    ACCESS(to, n, true);
    return (char *)mz_raw_memcpy(to, from, n) + n;
}

void bzero(void *to, size_t n)
{
    ACCESS(to, n, true);
    mz_raw_memset(to, 0, n);
}

void bcopy(const void *from, void *to, size_t n)
{
    ACCESS(from, n, false);
    ACCESS(to, n, true);
    mz_raw_memmove(to, from, n);
}
