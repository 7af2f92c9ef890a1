/* The functions of string.h that only read memory, the functions that copy a string into a new block, and
 * strtok. Each announces its accesses if the program's own code calls it. It reads no further than C says: up
 * to the character that decides the result; memcmp reads all bytes.
 *
 * The functions do the work themselves, without libc: strings in tests are short. As in hooks/mem.c, the
 * build does not rename the functions of this file. */
#include "runtime/core/runtime.h"
#include "runtime/hooks/hooks.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"

#define READS(p, n)  mz_access_by((p), (n), false, MZ_PC(), MZ_FRAME())
#define WRITES(p, n) mz_access_by((p), (n), true, MZ_PC(), MZ_FRAME())
#define NO_LIMIT     ((size_t)-1)

static size_t length(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

/* Return how many bytes a function reads to find the length n: also the terminator, if it is within the
 * limit. */
static size_t seen(size_t n, size_t most) { return n < most ? n + 1 : n; }

MZ_EXPORT size_t strlen(const char *s);
MZ_EXPORT size_t strnlen(const char *s, size_t most);
MZ_EXPORT int strcmp(const char *a, const char *b);
MZ_EXPORT int strncmp(const char *a, const char *b, size_t most);
MZ_EXPORT int memcmp(const void *a, const void *b, size_t n);
MZ_EXPORT int bcmp(const void *a, const void *b, size_t n);
MZ_EXPORT char *strchr(const char *s, int c);
MZ_EXPORT char *strchrnul(const char *s, int c);
MZ_EXPORT char *index(const char *s, int c);
MZ_EXPORT char *strrchr(const char *s, int c);
MZ_EXPORT char *rindex(const char *s, int c);
MZ_EXPORT void *memchr(const void *s, int c, size_t n);
MZ_EXPORT char *strstr(const char *s, const char *part);
MZ_EXPORT size_t strspn(const char *s, const char *set);
MZ_EXPORT size_t strcspn(const char *s, const char *set);
MZ_EXPORT char *strpbrk(const char *s, const char *set);
MZ_EXPORT char *strdup(const char *s);
MZ_EXPORT char *__strdup(const char *s);
MZ_EXPORT char *strndup(const char *s, size_t most);
MZ_EXPORT char *strtok(char *s, const char *set);
MZ_EXPORT char *strtok_r(char *s, const char *set, char **rest);
MZ_EXPORT char *__strtok_r(char *s, const char *set, char **rest);
MZ_EXPORT char *strsep(char **s, const char *set);
void *malloc(size_t size);

size_t strlen(const char *s)
{
    size_t n = length(s, NO_LIMIT);
    READS(s, n + 1);
    return n;
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = length(s, most);
    READS(s, seen(n, most));
    return n;
}

static int compare(const char *a, const char *b, size_t most, void *pc, const void *frame)
{
    size_t n = 0;
    while (n < most && a[n] && a[n] == b[n]) n++;
    mz_access_by(a, seen(n, most), false, pc, frame);
    if (b != a) mz_access_by(b, seen(n, most), false, pc, frame);
    return n < most ? (unsigned char)a[n] - (unsigned char)b[n] : 0;
}

int strcmp(const char *a, const char *b) { return compare(a, b, NO_LIMIT, MZ_PC(), MZ_FRAME()); }
int strncmp(const char *a, const char *b, size_t most) { return compare(a, b, most, MZ_PC(), MZ_FRAME()); }

int memcmp(const void *a, const void *b, size_t n)
{
    READS(a, n);
    if (b != a) READS(b, n);
    return mz_raw_memcmp(a, b, n);
}

int bcmp(const void *a, const void *b, size_t n)
{
    READS(a, n);
    if (b != a) READS(b, n);
    return mz_raw_memcmp(a, b, n);
}

/* Return the first c in s, or the end of s. */
static char *find(const char *s, int c, void *pc, const void *frame)
{
    size_t n = 0;
    while (s[n] && s[n] != (char)c) n++;
    mz_access_by(s, n + 1, false, pc, frame);
    return (char *)(uintptr_t)(s + n);
}

static char *find_or_null(const char *s, int c, void *pc, const void *frame)
{
    char *p = find(s, c, pc, frame);
    return *p == (char)c ? p : NULL;
}

static char *find_last(const char *s, int c, void *pc, const void *frame)
{
    size_t n = length(s, NO_LIMIT);
    mz_access_by(s, n + 1, false, pc, frame);
    for (size_t i = n + 1; i-- > 0;)
        if (s[i] == (char)c) return (char *)(uintptr_t)(s + i);
    return NULL;
}

char *strchr(const char *s, int c) { return find_or_null(s, c, MZ_PC(), MZ_FRAME()); }
char *index(const char *s, int c) { return find_or_null(s, c, MZ_PC(), MZ_FRAME()); }
char *strchrnul(const char *s, int c) { return find(s, c, MZ_PC(), MZ_FRAME()); }
char *strrchr(const char *s, int c) { return find_last(s, c, MZ_PC(), MZ_FRAME()); }
char *rindex(const char *s, int c) { return find_last(s, c, MZ_PC(), MZ_FRAME()); }

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;
    size_t i = 0;
    while (i < n && p[i] != (unsigned char)c) i++;
    READS(s, seen(i, n));
    return i < n ? (void *)(uintptr_t)(p + i) : NULL;
}

char *strstr(const char *s, const char *part)
{
    size_t n = length(s, NO_LIMIT), m = length(part, NO_LIMIT);
    READS(s, n + 1);
    READS(part, m + 1);
    for (size_t i = 0; i + m <= n; i++)
        if (!mz_raw_memcmp(s + i, part, m)) return (char *)(uintptr_t)(s + i);
    return NULL;
}

/* ---- sets of characters ---- */

static bool contains(const char *set, char c)
{
    while (*set && *set != c) set++;
    return *set == c && c;
}

/* Return the length of the first part of s whose characters are all in the set (`in`), or all outside of
 * it. */
static size_t span(const char *s, const char *set, bool in, void *pc, const void *frame)
{
    size_t n = 0;
    while (s[n] && contains(set, s[n]) == in) n++;
    mz_access_by(s, n + 1, false, pc, frame);
    mz_access_by(set, length(set, NO_LIMIT) + 1, false, pc, frame);
    return n;
}

size_t strspn(const char *s, const char *set) { return span(s, set, true, MZ_PC(), MZ_FRAME()); }
size_t strcspn(const char *s, const char *set) { return span(s, set, false, MZ_PC(), MZ_FRAME()); }

char *strpbrk(const char *s, const char *set)
{
    size_t n = span(s, set, false, MZ_PC(), MZ_FRAME());
    return s[n] ? (char *)(uintptr_t)(s + n) : NULL;
}

/* ---- copies ---- */

static char *duplicate(const char *s, size_t most, void *pc, const void *frame)
{
    size_t n = length(s, most);
    mz_access_by(s, seen(n, most), false, pc, frame);
    char *copy = malloc(n + 1);
    if (!copy) return NULL;
    mz_keep_program(copy, n + 1);
    mz_raw_memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

char *strdup(const char *s) { return duplicate(s, NO_LIMIT, MZ_PC(), MZ_FRAME()); }
char *__strdup(const char *s) { return duplicate(s, NO_LIMIT, MZ_PC(), MZ_FRAME()); }
char *strndup(const char *s, size_t most) { return duplicate(s, most, MZ_PC(), MZ_FRAME()); }

/* ---- words ---- */

static char *next_word(char *s, const char *set, char **rest, void *pc, const void *frame)
{
    if (!s) s = *rest;
    if (!s) return NULL;
    s += span(s, set, true, pc, frame);
    if (!*s) {
        *rest = NULL;
        return NULL;
    }
    char *end = s + span(s, set, false, pc, frame);
    *rest = *end ? end + 1 : NULL;
    if (*end) {
        mz_access_by(end, 1, true, pc, frame);
        *end = 0;
    }
    return s;
}

/* Where the next call of strtok continues. All threads share it, as they share libc's variable, so two
 * threads that call strtok race. Rolled back with program memory. */
static char *strtok_rest MZ_LIBC_STATE;

void mz_strings_reset(void) { strtok_rest = NULL; }

char *strtok(char *s, const char *set)
{
    mz_keep_state(&strtok_rest, sizeof strtok_rest);
    WRITES(&strtok_rest, sizeof strtok_rest);
    return next_word(s, set, &strtok_rest, MZ_PC(), MZ_FRAME());
}

char *strtok_r(char *s, const char *set, char **rest)
{
    WRITES(rest, sizeof *rest);
    return next_word(s, set, rest, MZ_PC(), MZ_FRAME());
}
char *__strtok_r(char *s, const char *set, char **rest)
{
    WRITES(rest, sizeof *rest);
    return next_word(s, set, rest, MZ_PC(), MZ_FRAME());
}

char *strsep(char **s, const char *set)
{
    char *word = *s;
    WRITES(s, sizeof *s);
    if (!word) return NULL;
    char *end = word + span(word, set, false, MZ_PC(), MZ_FRAME());
    *s = *end ? end + 1 : NULL;
    if (*end) {
        WRITES(end, 1);
        *end = 0;
    }
    return word;
}
