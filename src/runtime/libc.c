/* The parts of libc that a checked program must not reach directly: how it ends, what time it is, randomness,
 * and buffers that system calls fill. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ATEXIT 256

static struct {
    void (*function)(void *, int);
    void *argument;
} handlers[ATEXIT];

/* Descriptors that are free when the program starts, as ranges. */
#define RANGES 64
static struct {
    unsigned first, last;
} free_fds[RANGES];
static unsigned free_fd_ranges;

static void add_free_fds(unsigned first, unsigned last)
{
    if (first > last || free_fd_ranges == RANGES) return;
    free_fds[free_fd_ranges].first = first;
    free_fds[free_fd_ranges++].last = last;
}

void mz_libc_init(void)
{
    unsigned next = 0;
    for (unsigned fd = 0; fd < 1024; fd++) {
        if (fcntl((int)fd, F_GETFD) == -1) continue;
        if (fd) add_free_fds(next, fd - 1);
        next = fd + 1;
    }
    add_free_fds(next, ~0u);
}

/* Descriptors that the last execution left open are the one thing that memory does not hold. */
void mz_libc_reset(void)
{
    rt.run.atexit_count = 0;
    if (!rt.files_used) return;
    for (unsigned i = 0; i < free_fd_ranges; i++)
        syscall(SYS_close_range, free_fds[i].first, free_fds[i].last, 0);
}

/* ---- the end of the program ---- */

static int add_handler(void (*function)(void *, int), void *argument)
{
    if (rt.run.atexit_count == ATEXIT) return -1;
    handlers[rt.run.atexit_count].function = function;
    handlers[rt.run.atexit_count++].argument = argument;
    return 0;
}

void mz_run_atexit(void)
{
    while (rt.run.atexit_count) {
        uint32_t n = --rt.run.atexit_count;
        handlers[n].function(handlers[n].argument, rt.run.exit_code);
    }
}

MZ_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *dso);
int __cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    static int (*real)(void (*)(void *), void *, void *);
    if (rt.active) return add_handler((void (*)(void *, int))(void *)function, argument);
    if (!real) real = (int (*)(void (*)(void *), void *, void *))mz_next_symbol("__cxa_atexit");
    return real(function, argument, dso);
}

MZ_EXPORT int on_exit(void (*function)(int, void *), void *argument)
{
    (void)function, (void)argument;
    mz_unsupported("on_exit", "use atexit");
}

/* End the process, now. */
_Noreturn void mz_quit(int code)
{
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}

static void (*libc_exit(const char *name))(int) { return (void (*)(int))mz_next_symbol(name); }

MZ_EXPORT _Noreturn void exit(int code)
{
    if (rt.active) mz_exit_program(code, true);
    libc_exit("exit")(code);
    __builtin_unreachable();
}
MZ_EXPORT _Noreturn void _exit(int code)
{
    if (rt.active) mz_exit_program(code, false);
    mz_quit(code);
}
MZ_EXPORT _Noreturn void _Exit(int code) { _exit(code); }
MZ_EXPORT _Noreturn void quick_exit(int code) { _exit(code); }

MZ_EXPORT _Noreturn void abort(void)
{
    if (rt.active) mz_finding_here(MZ_KIND_CRASH, "abort() was called", 6, 0);
    libc_exit("abort")(0);
    __builtin_unreachable();
}

MZ_EXPORT _Noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                                       const char *function);
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    if (rt.active) mz_finding_assert(expression, file, line, function);
    mz_print("mazurka: assertion failed before main: ");
    mz_print(expression);
    mz_print("\n");
    mz_quit(2);
}

MZ_EXPORT _Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    mz_finding_here(MZ_KIND_CRASH, "a buffer on the stack overflowed (stack protector)", 6, 0);
}

/* ---- mazurka.h ---- */

MZ_EXPORT void mazurka_assert_failed(const char *expression, const char *file, int line,
                                     const char *function);
void mazurka_assert_failed(const char *expression, const char *file, int line, const char *function)
{
    __assert_fail(expression, file, (unsigned)line, function);
}

MZ_EXPORT unsigned mazurka_choose(unsigned n, const char *file, int line);
unsigned mazurka_choose(unsigned n, const char *file, int line)
{
    (void)file, (void)line;
    if (!rt.active || n < 2) return 0;
    if (n > 64) mz_unsupported("mz_choose of more than 64 values", "combine two smaller choices");
    rt.view.pending[rt.self] = (struct mz_pending){.key = 0,
                                                   .choices = n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1,
                                                   .op = MZ_OP_CHOOSE,
                                                   .access = MZ_WRITES,
                                                   .pc = (uintptr_t)MZ_PC()};
    rt.view.enabled |= (uint64_t)1 << rt.self;
    rt.hooks++;
    mz_dispatch();
    unsigned value = rt.choice;
    mz_commit(MZ_WRITES, 0);
    MZ_RECORD(MZ_OP_CHOOSE, 0, 0, MZ_RECORD_HAS_VALUE, value, 0, 0, MZ_FRAME());
    return value;
}

/* An execution in which the assumption does not hold is left out: its thread goes no further, and how the
 * execution ends says nothing. */
MZ_EXPORT void mazurka_assume(int holds, const char *file, int line);
void mazurka_assume(int holds, const char *file, int line)
{
    (void)file, (void)line;
    if (holds || !rt.active) return;
    rt.run.failed |= (uint64_t)1 << rt.self;
    mz_halt(MZ_THREAD_EXITING);
}

MZ_EXPORT void mazurka_name(const volatile void *object, const char *name);
void mazurka_name(const volatile void *object, const char *name)
{
    struct mz_channel *c = rt.channel;
    if (!rt.recording || c->name_count == MZ_MAX_NAMES) return;
    struct mz_given_name *n = &c->names[c->name_count++];
    n->address = (uintptr_t)object;
    mz_text_copy(n->name, sizeof n->name, name);
}

/* ---- time: virtual, it passes only by sleeping ---- */

#define EPOCH_SECONDS 1000000000ull

static void sleep_ns(uint64_t ns) { rt.run.clock_ns += ns; }

MZ_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!rt.active) return (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec = (time_t)(EPOCH_SECONDS + rt.run.clock_ns / 1000000000u);
    t->tv_nsec = (long)(rt.run.clock_ns % 1000000000u);
    return 0;
}
MZ_EXPORT time_t time(time_t *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t) *t = now.tv_sec;
    return now.tv_sec;
}
MZ_EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
MZ_EXPORT clock_t clock(void) { return (clock_t)(rt.run.clock_ns / 1000); }
MZ_EXPORT unsigned sleep(unsigned seconds)
{
    sleep_ns(seconds * 1000000000ull);
    return 0;
}
MZ_EXPORT int usleep(useconds_t us)
{
    sleep_ns(us * 1000ull);
    return 0;
}
MZ_EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    if (left) left->tv_sec = 0, left->tv_nsec = 0;
    sleep_ns((uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec);
    return 0;
}
/* Every other thread gets its turn in some execution anyway. */
MZ_EXPORT int sched_yield(void)
{
    if (!rt.active) return (int)syscall(SYS_sched_yield);
    rt.hooks++;
    return 0;
}

/* ---- other sources of difference between runs ---- */

MZ_EXPORT ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++) ((unsigned char *)buffer)[i] = (unsigned char)(i * 151 + 17);
    return (ssize_t)size;
}
MZ_EXPORT int getentropy(void *buffer, size_t size)
{
    getrandom(buffer, size, 0);
    return 0;
}

/* Buffers that the kernel writes to must not be write-protected. */
MZ_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    if (rt.active) mz_snapshot_touch(buffer, size);
    return syscall(SYS_read, fd, buffer, size);
}
MZ_EXPORT size_t fread(void *restrict buffer, size_t size, size_t n, FILE *restrict file)
{
    static size_t (*real)(void *, size_t, size_t, FILE *);
    if (!real) real = (size_t(*)(void *, size_t, size_t, FILE *))mz_next_symbol("fread");
    if (rt.active) mz_snapshot_touch(buffer, size * n);
    return real(buffer, size, n, file);
}
