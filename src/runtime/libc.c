/* The parts of libc that a checked program must not reach directly: what time it is, randomness. And the
 * calls of mazurka.h. */
#define _GNU_SOURCE
#include "kernel.h"

#include <assert.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

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
    if (!rt.active) return (int)mz_sys(SYS_clock_gettime, clock, t);
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
    if (!rt.active) return (int)mz_sys(SYS_sched_yield);
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
