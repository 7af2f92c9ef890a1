/* Memory that the program hands to libc: the accesses of functions that no wrapper of ours stands for.
 *
 * arguments.def says what these functions write and read through their pointer arguments. imports.c leads calls of
 * them to a stub, which announces the accesses here, before the call, as a hook would: data races on that memory are
 * found, and a loop that writes to memory of others by such a call changes something. */
#define _GNU_SOURCE
#include "arguments.h"

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

#define TEXT          1 /* how long it will be is not known */
#define KERNEL_SIGSET 8 /* what libc uses of a sigset_t */
#define COPIED        copied(pointer(a[1]), (int)a[2], a[3])
#define WIDE(i)       wide(pointer(a[i]))
#define NUMBER(i)     (a[i] ? *(const uint32_t *)pointer(a[i]) : 0)
#define SET           ((a[0] + 63) / 64 * 8)

#define OUT(name, n, size)                                                                                   \
    static size_t out_##name##_##n(const uint64_t *a)                                                        \
    {                                                                                                        \
        (void)a;                                                                                             \
        return (size);                                                                                       \
    }
#define IN(name, n, size)                                                                                    \
    static size_t in_##name##_##n(const uint64_t *a)                                                         \
    {                                                                                                        \
        (void)a;                                                                                             \
        return (size);                                                                                       \
    }
#define IN_PARTS(name, n, count) IN(name, n, count)
#include "arguments.def"
#undef OUT
#undef IN
#undef IN_PARTS

/* ---- the table ---- */

static const struct argument {
    const char *function;
    size_t (*size)(const uint64_t *a);
    uint8_t number;
    bool write, parts;
} table[] = {
#define OUT(name, n, size)       {#name, out_##name##_##n, n, true, false},
#define IN(name, n, size)        {#name, in_##name##_##n, n, false, false},
#define IN_PARTS(name, n, count) {#name, in_##name##_##n, n, false, true},
#include "arguments.def"
};
#define COUNT (sizeof table / sizeof *table)

void mz_arguments_find(struct mz_arguments *out, const char *function)
{
    out->count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(table[i].function, function) != 0) continue;
        MZ_ASSERT(out->count < MZ_ARGUMENTS);
        out->entries[out->count++] = (uint16_t)i;
    }
}

static void announce(const struct argument *t, const uint64_t *a, void *pc, const void *frame)
{
    const struct iovec *part = pointer(a[t->number]);
    size_t n = part ? t->size(a) : 0;
    if (!t->parts) {
        mz_access_by(part, n, t->write, pc, frame);
        return;
    }
    mz_access_by(part, n * sizeof *part, false, pc, frame);
    for (size_t i = 0; i < n; i++) mz_access_by(part[i].iov_base, part[i].iov_len, t->write, pc, frame);
}

/* The running thread calls the function with these arguments, from there. */
void mz_arguments_announce(const struct mz_arguments *which, const uint64_t *a, void *pc, const void *frame)
{
    for (uint16_t i = 0; i < which->count; i++) announce(&table[which->entries[i]], a, pc, frame);
}
