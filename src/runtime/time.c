/* Time is virtual: it passes only by sleeping and by waits that time out.
 *
 * A program that never reads the clock cannot tell whether others slept before or after: sleeping then does
 * nothing. One that only reads it always reads the same. One that does both (its imports tell) has a clock
 * that all threads share: reading and advancing it are visible operations. The same goes for the other
 * functions of libc with a state that all threads share: rand and its kin. */
#define _GNU_SOURCE
#include "runtime.h"
#include "pthread_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define SECOND        1000000000ull
#define EPOCH_SECONDS 1000000000ull
#define EPOCH         (EPOCH_SECONDS * SECOND)

bool mz_time_is_valid(const struct timespec *t) { return t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND; }

/* An operation on state that all threads share. While there is only one thread, nobody can interfere. */
static void shared_call(const void *state, enum mz_access access, const void *pc, const void *frame)
{
    if (access != MZ_READS) mz_changed();
    if (!rt.active || rt.run.thread_count == 1) return;
    mz_visible(MZ_OP_SHARED_CALL, (uintptr_t)state, 0, (uint8_t)access, 0, pc);
    mz_commit(access, 0);
    MZ_RECORD(MZ_OP_SHARED_CALL, 0, 0, 0, 0, 0, 0, frame);
}

static uint64_t now(const void *pc)
{
    if (rt.clock_used) shared_call(&rt.run.clock_ns, MZ_READS, pc, MZ_FRAME());
    return EPOCH + rt.run.clock_ns;
}

/* For so long, or until then: what the clock says is known when it is this thread's turn. */
static void sleep_ns(uint64_t ns, bool until, const void *pc)
{
    mz_test_cancel(pc);
    if (!rt.clock_used || !rt.active) return;
    shared_call(&rt.run.clock_ns, MZ_WRITES, pc, MZ_FRAME());
    if (!until)
        rt.run.clock_ns += ns;
    else if (ns > EPOCH + rt.run.clock_ns)
        rt.run.clock_ns = ns - EPOCH;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

/* A wait has timed out: it is that late now. */
void mz_time_passes_to(const struct timespec *until, const void *pc)
{
    if (!rt.clock_used) return;
    shared_call(&rt.run.clock_ns, MZ_WRITES, pc, MZ_FRAME());
    uint64_t ns = ns_of(until);
    if (ns > EPOCH + rt.run.clock_ns) rt.run.clock_ns = ns - EPOCH;
}

/* The same for one that was given how long to wait. */
void mz_time_passes_by(const struct timespec *duration, const void *pc)
{
    if (!rt.clock_used) return;
    shared_call(&rt.run.clock_ns, MZ_WRITES, pc, MZ_FRAME());
    rt.run.clock_ns += ns_of(duration);
}

static bool real(void) { return !rt.active; }

MZ_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (real()) return (int)syscall(SYS_clock_gettime, clock, t);
    uint64_t ns = now(MZ_PC());
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_nsec = (long)(ns % SECOND);
    return 0;
}
MZ_EXPORT int clock_getres(clockid_t clock, struct timespec *t)
{
    (void)clock;
    if (t) t->tv_sec = 0, t->tv_nsec = 1;
    return 0;
}
MZ_EXPORT int timespec_get(struct timespec *t, int base)
{
    if (base != TIME_UTC) return 0;
    uint64_t ns = now(MZ_PC());
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_nsec = (long)(ns % SECOND);
    return base;
}
MZ_EXPORT time_t time(time_t *t)
{
    time_t seconds = (time_t)(now(MZ_PC()) / SECOND);
    if (t) *t = seconds;
    return seconds;
}
MZ_EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    (void)zone;
    uint64_t ns = now(MZ_PC());
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_usec = (suseconds_t)(ns % SECOND / 1000);
    return 0;
}
MZ_EXPORT clock_t clock(void) { return (clock_t)((now(MZ_PC()) - EPOCH) / 1000); }
MZ_EXPORT clock_t times(struct tms *t)
{
    clock_t ticks = (clock_t)((now(MZ_PC()) - EPOCH) / 10000000);
    if (t) *t = (struct tms){.tms_utime = ticks};
    return ticks;
}

MZ_EXPORT unsigned sleep(unsigned seconds)
{
    sleep_ns(seconds * SECOND, false, MZ_PC());
    return 0;
}
MZ_EXPORT int usleep(useconds_t us)
{
    sleep_ns(us * 1000ull, false, MZ_PC());
    return 0;
}
static int nap(const struct timespec *t, struct timespec *left, bool until, const void *pc)
{
    if (!mz_time_is_valid(t)) return EINVAL;
    sleep_ns(ns_of(t), until, pc);
    if (left && !until) left->tv_sec = 0, left->tv_nsec = 0;
    return 0;
}
MZ_EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    int error = nap(t, left, false, MZ_PC());
    if (!error) return 0;
    errno = error;
    return -1;
}
MZ_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    (void)clock;
    return nap(t, left, flags & TIMER_ABSTIME, MZ_PC());
}

/* ---- random numbers: one generator that all threads share, and the same numbers in every execution ---- */

#define NEXT(type, name)                                                                                     \
    MZ_EXPORT type name(void)                                                                                \
    {                                                                                                        \
        static type (*libc)(void);                                                                           \
        if (!libc) libc = (type(*)(void))mz_next_symbol(#name);                                              \
        shared_call(&random_state, MZ_WRITES, MZ_PC(), MZ_FRAME());                                          \
        return libc();                                                                                       \
    }
#define SEED(type, name)                                                                                     \
    MZ_EXPORT void name(type seed)                                                                           \
    {                                                                                                        \
        static void (*libc)(type);                                                                           \
        if (!libc) libc = (void (*)(type))mz_next_symbol(#name);                                             \
        shared_call(&random_state, MZ_WRITES, MZ_PC(), MZ_FRAME());                                          \
        libc(seed);                                                                                          \
    }

static char random_state;
NEXT(int, rand)
NEXT(long, random)
NEXT(long, lrand48)
NEXT(long, mrand48)
NEXT(double, drand48)
SEED(unsigned, srand)
SEED(unsigned, srandom)
SEED(long, srand48)
