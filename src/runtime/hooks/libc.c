/* The table of libc.def in memory: what the runtime knows about a function by its name. Called by imports.c.
 *
 * The accesses of a row become a function. imports.c redirects calls of the libc function to a stub, and the
 * stub calls the accesses before libc's function, as a hook would. So mazurka finds data races on memory that
 * the program passes to libc, and it notices when a loop makes libc write to memory that other threads
 * use. */
#define _GNU_SOURCE
#include "runtime/hooks/libc.h"
#include "runtime/core/runtime.h"
#include "runtime/hooks/libc_words.h"
#include "runtime/memory/memory.h"

#include <arpa/inet.h>
#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <wchar.h>

/* ---- sizes ---- */

static void *pointer(uint64_t a) { return (void *)(uintptr_t)a; }

static size_t copied(const char *from, int c, size_t most)
{
    size_t n = 0;
    while (n < most && from[n] != (char)c) n++;
    return n < most ? n + 1 : n;
}

static size_t wide(const wchar_t *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return (n + 1) * sizeof *s;
}

#define TEXT          1                                      /* the length is not known before the call */
#define KERNEL_SIGSET 8                                      /* the part of a sigset_t that libc uses */
#define COPIED        copied(pointer(a[1]), (int)a[2], a[3]) /* by memccpy */
#define WIDE(i)       wide(pointer(a[i]))                    /* bytes of a wide string with its terminator */
#define NUMBER(i)     (a[i] ? *(const uint32_t *)pointer(a[i]) : 0)
#define SET           ((a[0] + 63) / 64 * 8) /* a set of a[0] descriptors */

/* ---- accesses ---- */

static void access_at(const struct mz_libc_call *call, uint64_t address, size_t size, bool write)
{
    mz_access_by(pointer(address), size, write, call->pc, call->frame);
}

static void access_parts(const struct mz_libc_call *call, uint64_t address, size_t count)
{
    const struct iovec *part = pointer(address);
    access_at(call, address, count * sizeof *part, false);
    for (size_t i = 0; i < count; i++)
        mz_access_by(part[i].iov_base, part[i].iov_len, false, call->pc, call->frame);
}

#define OUT(n, size)                                                                                         \
    if (a[n]) access_at(call, a[n], (size), true);
#define IN(n, size)                                                                                          \
    if (a[n]) access_at(call, a[n], (size), false);
#define IN_PARTS(n, count)                                                                                   \
    if (a[n]) access_parts(call, a[n], (count));

#define ACCESSES(name, state, facts, ...)                                                                    \
    _Static_assert(!((facts)&PURE) || (state) == NOTHING, #name " is PURE but has a state");                 \
    static void accesses_of_##name(const struct mz_libc_call *call)                                          \
    {                                                                                                        \
        const uint64_t *a = call->a;                                                                         \
        (void)a;                                                                                             \
        __VA_ARGS__                                                                                          \
    }
#define OWN(name, file, ...)   ACCESSES(name, __VA_ARGS__)
#define WRAP(name, file, ...)  ACCESSES(name, __VA_ARGS__)
#define POINT(name, when, ...) ACCESSES(name, __VA_ARGS__)
#define PASS(name, ...)        ACCESSES(name, __VA_ARGS__)
#include "runtime/hooks/libc.def"

/* ---- the table ---- */

static const struct row {
    const char *name;
    struct mz_libc_known known;
} rows[] = {
#define ROW(name, who, state, facts, ...)                                                                    \
    {#name, {state, (facts) | (who), sizeof #__VA_ARGS__ > 1 ? accesses_of_##name : NULL}},
#define OWN(name, file, ...)                ROW(name, 0, __VA_ARGS__)
#define WRAP(name, file, ...)               ROW(name, LIBC_WORKS, __VA_ARGS__)
#define POINT(name, when, ...)              ROW(name, LIBC_WORKS, __VA_ARGS__)
#define PASS(name, ...)                     ROW(name, 0, __VA_ARGS__)
#define REFUSE(name, instead, state, facts) {#name, {state, facts, NULL}},
#define VARIABLE(name, state, facts)        {#name, {state, facts, NULL}},
#include "runtime/hooks/libc.def"
};

static const struct pattern {
    const char *text;
    unsigned facts;
    bool anywhere; /* false: the name begins with it */
} patterns[] = {
#define BEGINS(text, facts)   {text, facts, false},
#define CONTAINS(text, facts) {text, facts, true},
#include "runtime/hooks/libc.def"
};

static bool fits(const struct pattern *p, const char *name)
{
    return p->anywhere ? strstr(name, p->text) != NULL : !strncmp(name, p->text, strlen(p->text));
}

struct mz_libc_known mz_libc_find(const char *name)
{
    struct mz_libc_known known = {NOTHING, NONE, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(name, rows[i].name)) known = rows[i].known;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(&patterns[i], name)) known.facts |= patterns[i].facts;
    return known;
}
