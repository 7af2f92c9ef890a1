/* memcpy, memmove, memset and the string functions that copy: each announces its accesses, then does the
 * work. Compilers leave calls of memcpy, memmove and memset in instrumented code; newer versions of clang
 * call the __tsan_ names. Calls in our own library must not end here: the build renames them to mz_raw_* (RAW
 * in libc.def), but not in this file. */
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"

/* Announce an access by a library function, if the program's own code called the function (pc is in it). */
void mz_access_by(const void *p, size_t size, bool write, void *pc, const void *frame)
{
    if (rt.active && size && mz_is_instrumented((uintptr_t)pc)) mz_access_range(p, size, write, pc, frame);
}

#define ACCESS(p, n, write) mz_access_by((p), (n), (write), MZ_PC(), MZ_FRAME())

/* --data-races=allow: if accesses to some of the bytes are visible operations, copy piece by piece. */
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

/* ---- strings ---- */

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
