/* Functions of stdio.h and unistd.h, and functions that read numbers. libc has no hooks, so a wrapper
 * announces the accesses to memory that the program passes, and calls libc's function. The printf and scanf
 * functions follow the format to find the strings among the arguments. They stop at numbered arguments. */
#define _GNU_SOURCE
#include "runtime/core/libc_functions.h"
#include "runtime/core/runtime.h"
#include "runtime/memory/memory.h"
#include "runtime/sync/sync.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

struct caller {
    void *pc;
    const void *frame;
};
#define CALLER ((struct caller){MZ_PC(), MZ_FRAME()})

static void reads(const void *p, size_t n, struct caller c) { mz_access_by(p, n, false, c.pc, c.frame); }
static void writes(const void *p, size_t n, struct caller c) { mz_access_by(p, n, true, c.pc, c.frame); }

static size_t length(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

static void reads_string(const char *s, struct caller c)
{
    if (s) reads(s, length(s, (size_t)-1) + 1, c);
}

/* ---- formats ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void string_argument(const char *s, int precision, struct caller c)
{
    if (!s) return;
    size_t n = length(s, precision < 0 ? (size_t)-1 : (size_t)precision);
    reads(s, precision >= 0 && n == (size_t)precision ? n : n + 1, c);
}

/* Return the number at **f: for * an argument, else the digits; -1 if there is neither. */
static int field(const char **f, va_list *arguments)
{
    int n = -1;
    if (**f == '*') {
        ++*f;
        return va_arg(*arguments, int);
    }
    for (; is_digit(**f); ++*f) n = (n < 0 ? 0 : n * 10) + (**f - '0');
    return n;
}

/* Read one conversion, behind its %. Return false if this function cannot follow the rest of the format. */
static bool conversion(const char **f, va_list *arguments, struct caller c)
{
    int precision = -1, longs = 0;
    while (**f == '-' || **f == '+' || **f == ' ' || **f == '#' || **f == '0' || **f == '\'') ++*f;
    field(f, arguments);
    if (**f == '$') return false;
    if (**f == '.') {
        ++*f;
        precision = field(f, arguments);
        if (precision < 0) precision = 0;
    }
    for (;; ++*f) {
        if (**f == 'l' || **f == 'j' || **f == 'z' || **f == 't' || **f == 'q')
            longs = 1;
        else if (**f == 'L')
            longs = 2;
        else if (**f != 'h')
            break;
    }
    char kind = *(*f)++;
    switch (kind) {
    case 's':
        if (longs) return false;
        string_argument(va_arg(*arguments, const char *), precision, c);
        return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'c':
        if (longs)
            va_arg(*arguments, long);
        else
            va_arg(*arguments, int);
        return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (longs == 2)
            va_arg(*arguments, long double);
        else
            va_arg(*arguments, double);
        return true;
    case 'p':
        va_arg(*arguments, void *);
        return true;
    case '%':
    case 'm':
        return true;
    default:
        return false;
    }
}

static void reads_arguments(const char *format, va_list given, struct caller c)
{
    if (!rt.active || !mz_is_instrumented((uintptr_t)c.pc)) return;
    va_list arguments;
    reads_string(format, c);
    va_copy(arguments, given);
    for (const char *f = format; *f;)
        if (*f++ == '%' && !conversion(&f, &arguments, c)) break;
    va_end(arguments);
}

/* ---- output ---- */

#define LIBC(name) __typeof__(&name) real = MZ_LIBC(name)

static int to_file(FILE *file, const char *format, va_list arguments, struct caller c)
{
    LIBC(vfprintf);
    reads_arguments(format, arguments, c);
    return real(file, format, arguments);
}

/* Format twice: first only for the length, so that a race or a bad access is found before the write. */
static int to_buffer(char *to, size_t room, const char *format, va_list arguments, struct caller c)
{
    LIBC(vsnprintf);
    va_list again;
    reads_arguments(format, arguments, c);
    if (rt.active && to && room && mz_is_instrumented((uintptr_t)c.pc)) {
        va_copy(again, arguments);
        int n = real(NULL, 0, format, again);
        va_end(again);
        if (n >= 0) writes(to, (size_t)n < room ? (size_t)n + 1 : room, c);
    }
    return real(to, room, format, arguments);
}

#define VARIADIC(call)                                                                                       \
    va_list arguments;                                                                                       \
    va_start(arguments, format);                                                                             \
    int n = call;                                                                                            \
    va_end(arguments);                                                                                       \
    return n

MZ_EXPORT int printf(const char *format, ...) { VARIADIC(to_file(stdout, format, arguments, CALLER)); }
MZ_EXPORT int fprintf(FILE *file, const char *format, ...)
{
    VARIADIC(to_file(file, format, arguments, CALLER));
}
MZ_EXPORT int vprintf(const char *format, va_list arguments)
{
    return to_file(stdout, format, arguments, CALLER);
}
MZ_EXPORT int vfprintf(FILE *file, const char *format, va_list arguments)
{
    return to_file(file, format, arguments, CALLER);
}
MZ_EXPORT int sprintf(char *to, const char *format, ...)
{
    VARIADIC(to_buffer(to, 0x7fffffff, format, arguments, CALLER));
}
MZ_EXPORT int snprintf(char *to, size_t room, const char *format, ...)
{
    VARIADIC(to_buffer(to, room, format, arguments, CALLER));
}
MZ_EXPORT int vsprintf(char *to, const char *format, va_list arguments)
{
    return to_buffer(to, 0x7fffffff, format, arguments, CALLER);
}
MZ_EXPORT int vsnprintf(char *to, size_t room, const char *format, va_list arguments)
{
    return to_buffer(to, room, format, arguments, CALLER);
}

/* _FORTIFY_SOURCE replaces the functions above by these. */
MZ_EXPORT int __printf_chk(int flag, const char *format, ...);
MZ_EXPORT int __fprintf_chk(FILE *file, int flag, const char *format, ...);
MZ_EXPORT int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...);
MZ_EXPORT int __snprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, ...);
int __printf_chk(int flag, const char *format, ...)
{
    (void)flag;
    VARIADIC(to_file(stdout, format, arguments, CALLER));
}
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    (void)flag;
    VARIADIC(to_file(file, format, arguments, CALLER));
}
int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    int n = to_buffer(to, size < 0x7fffffff ? size : 0x7fffffff, format, arguments, CALLER);
    va_end(arguments);
    if (n >= 0 && (size_t)n >= size) __builtin_trap();
    return n;
}
int __snprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, ...)
{
    (void)flag;
    if (room > size) __builtin_trap();
    VARIADIC(to_buffer(to, room, format, arguments, CALLER));
}

MZ_EXPORT int puts(const char *s)
{
    LIBC(puts);
    reads_string(s, CALLER);
    return real(s);
}
MZ_EXPORT int fputs(const char *s, FILE *file)
{
    LIBC(fputs);
    reads_string(s, CALLER);
    return real(s, file);
}
MZ_EXPORT size_t fwrite(const void *from, size_t size, size_t n, FILE *file)
{
    LIBC(fwrite);
    reads(from, size * n, CALLER);
    return real(from, size, n, file);
}

/* ---- input ---- */

MZ_EXPORT char *fgets(char *to, int room, FILE *file)
{
    LIBC(fgets);
    char *got = real(to, room, file);
    if (got) writes(to, length(to, (size_t)room) + 1, CALLER);
    return got;
}

MZ_EXPORT size_t fread(void *to, size_t size, size_t n, FILE *file)
{
    LIBC(fread);
    size_t got = real(to, size, n, file);
    writes(to, got * size, CALLER);
    return got;
}

/* ---- descriptors ---- */

static ssize_t got(void *to, ssize_t n, struct caller c)
{
    if (n > 0) writes(to, (size_t)n, c);
    return n;
}

MZ_EXPORT ssize_t read(int fd, void *to, size_t size)
{
    LIBC(read);
    mz_test_cancel(MZ_PC());
    return got(to, real(fd, to, size), CALLER);
}
MZ_EXPORT ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    LIBC(pread);
    mz_test_cancel(MZ_PC());
    return got(to, real(fd, to, size, at), CALLER);
}
MZ_EXPORT ssize_t recv(int fd, void *to, size_t size, int flags)
{
    LIBC(recv);
    mz_test_cancel(MZ_PC());
    return got(to, real(fd, to, size, flags), CALLER);
}
static ssize_t got_parts(const struct iovec *parts, int count, ssize_t n, struct caller c)
{
    size_t left = n > 0 ? (size_t)n : 0;
    for (int i = 0; i < count && left; i++) {
        size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        if (size) writes(parts[i].iov_base, size, c);
        left -= size;
    }
    return n;
}

MZ_EXPORT ssize_t readv(int fd, const struct iovec *to, int count)
{
    LIBC(readv);
    mz_test_cancel(MZ_PC());
    return got_parts(to, count, real(fd, to, count), CALLER);
}
MZ_EXPORT ssize_t preadv(int fd, const struct iovec *to, int count, off_t at)
{
    LIBC(preadv);
    mz_test_cancel(MZ_PC());
    return got_parts(to, count, real(fd, to, count, at), CALLER);
}
MZ_EXPORT ssize_t preadv64(int fd, const struct iovec *to, int count, off64_t at)
{
    LIBC(preadv64);
    mz_test_cancel(MZ_PC());
    return got_parts(to, count, real(fd, to, count, at), CALLER);
}
MZ_EXPORT ssize_t write(int fd, const void *from, size_t size)
{
    LIBC(write);
    mz_test_cancel(MZ_PC());
    reads(from, size, CALLER);
    return real(fd, from, size);
}
MZ_EXPORT ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    LIBC(pwrite);
    mz_test_cancel(MZ_PC());
    reads(from, size, CALLER);
    return real(fd, from, size, at);
}
MZ_EXPORT ssize_t send(int fd, const void *from, size_t size, int flags)
{
    LIBC(send);
    mz_test_cancel(MZ_PC());
    reads(from, size, CALLER);
    return real(fd, from, size, flags);
}

/* ---- scanf: the result is the number of conversions that assigned a value ---- */

struct conversion {
    char kind;
    bool assigns;
    int width, size;
};

static const char *scanned_set(const char *f)
{
    if (*f == '^') f++;
    if (*f == ']') f++;
    while (*f && *f != ']') f++;
    return *f ? f + 1 : f;
}

/* Read one conversion, behind its %. Return the rest of the format, or NULL if this function cannot follow
 * it. */
static const char *scanned(const char *f, struct conversion *k)
{
    *k = (struct conversion){.assigns = true, .width = 1, .size = sizeof(int)};
    if (*f == '*') f++, k->assigns = false;
    if (is_digit(*f)) k->width = 0;
    for (; is_digit(*f); f++) k->width = k->width * 10 + (*f - '0');
    if (*f == '$' || *f == 'm') return NULL;
    bool longs = false;
    for (;; f++) {
        if (*f == 'h')
            k->size /= 2;
        else if (*f == 'L')
            k->size = sizeof(long double);
        else if (*f == 'l' || *f == 'j' || *f == 'z' || *f == 't' || *f == 'q')
            longs = true;
        else
            break;
    }
    if (longs) k->size = sizeof(long);
    k->kind = *f;
    if (*f == '[') return longs ? NULL : scanned_set(f + 1);
    if (longs && (*f == 's' || *f == 'c')) return NULL;
    if (*f == 'p') k->size = sizeof(void *);
    if (*f == '%') k->assigns = false;
    return *f ? f + 1 : NULL;
}

static void writes_scanned(const char *format, int assigned, va_list arguments, struct caller c)
{
    struct conversion k;
    for (const char *f = format; f && *f;) {
        if (*f++ != '%') continue;
        f = scanned(f, &k);
        if (!f || !k.assigns) continue;
        if (k.kind != 'n' && assigned-- <= 0) return;
        const char *to = va_arg(arguments, const char *);
        size_t size = (size_t)k.size;
        if (k.kind == 's' || k.kind == '[') size = length(to, (size_t)-1) + 1;
        if (k.kind == 'c') size = (size_t)k.width;
        writes(to, size, c);
    }
}

static int from_string(const char *s, const char *format, va_list arguments, struct caller c)
{
    LIBC(vsscanf);
    va_list again;
    reads_string(s, c);
    reads_string(format, c);
    va_copy(again, arguments);
    int assigned = real(s, format, arguments);
    writes_scanned(format, assigned, again, c);
    va_end(again);
    return assigned;
}
/* stdio.h renames sscanf: libmazurka.so exports __isoc99_sscanf. */
MZ_EXPORT int sscanf(const char *s, const char *format, ...)
{
    VARIADIC(from_string(s, format, arguments, CALLER));
}

/* ---- numbers ---- */

#define NUMBER(type, name)                                                                                   \
    MZ_EXPORT type name(const char *s, char **end, int base);                                                \
    type name(const char *s, char **end, int base)                                                           \
    {                                                                                                        \
        LIBC(name);                                                                                          \
        char *behind;                                                                                        \
        type value = real(s, &behind, base);                                                                 \
        reads(s, (size_t)(behind - s) + 1, CALLER);                                                          \
        if (end) writes(end, sizeof *end, CALLER), *end = behind;                                            \
        return value;                                                                                        \
    }                                                                                                        \
    _Static_assert(1, "")
#define SHORT(type, name, how)                                                                               \
    MZ_EXPORT type name(const char *s);                                                                      \
    type name(const char *s)                                                                                 \
    {                                                                                                        \
        LIBC(how);                                                                                           \
        char *behind;                                                                                        \
        type value = (type)real(s, &behind, 10);                                                             \
        reads(s, (size_t)(behind - s) + 1, CALLER);                                                          \
        return value;                                                                                        \
    }                                                                                                        \
    _Static_assert(1, "")

NUMBER(long, strtol);
NUMBER(unsigned long, strtoul);
NUMBER(long long, strtoll);
NUMBER(unsigned long long, strtoull);
SHORT(int, atoi, strtol);
SHORT(long, atol, strtol);
SHORT(long long, atoll, strtoll);
