/* Virtual time. Time passes only in sleeps, in waits that time out, and in loops that wait for time to pass.
 * This file has libc's functions for clocks, sleeps and random numbers.
 *
 * If a program never reads the clock (its imports tell), it cannot observe the order of sleeps, and a sleep
 * does nothing. In other programs, reading and advancing the clock are operations on one object. While there
 * is only one thread, they need not be visible.
 *
 * The times of threads that sleep at the same time do not add up. A thread sleeps from the time that it
 * knows, and when it wakes, the clock shows at least that time plus the sleep. A thread knows the times that
 * it has read, the times to which it has slept, and the times that happen before this operation in the C11
 * order. So its time depends only on the past of the operation, not on the order of independent operations.
 *
 * A loop that reads the clock repeatedly waits for time to pass, so the clock must advance. After PATIENCE
 * readings at the same place with the same result (fewer if the thread changes nothing in between), each
 * further reading advances the clock like a sleep, by ten times as much as the reading before. After JUMPS
 * such readings, which is years later, the clock stands still: the loop does not wait for time alone. Only
 * the thread's own past decides when a reading advances the clock.
 *
 * Random numbers (rand and similar functions) have a state that all threads share. They are operations on one
 * object, too. */
#define _GNU_SOURCE
#include "runtime/core/libc_functions.h"
#include "runtime/core/operation.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/race_order.h"
#include "runtime/state/hash.h"
#include "runtime/sync/sync.h"

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
#define CLOCK         ((uintptr_t)&rt.run.clock_ns) /* the object */

bool mz_time_is_valid(const struct timespec *t) { return t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND; }

/* A visible operation on state that all threads share. While there is only one thread, it need not be
 * visible. */
static void shared_call(const void *state, enum mz_access access, const void *pc, const void *frame)
{
    if (access != MZ_READS) mz_changed();
    if (!rt.active || rt.run.thread_count == 1) return;
    mz_visible(MZ_OP_SHARED_CALL, (uintptr_t)state, 0, (uint8_t)access, 0, pc);
    mz_commit(access, 0);
    MZ_RECORD(MZ_OP_SHARED_CALL, 0, 0, 0, 0, 0, 0, frame);
}

/* Return the latest time that the running thread knows, in its operation on the clock: the latest time of the
 * operations on the clock that happen before this operation in the C11 order. */
static uint64_t known_time(void)
{
    uint64_t found = 0, known = 0, first = rt.run.clock_ns;
    if (!rt.path->live || rt.section) return first;
    mz_number n = mz_explore_last_event(rt.x, mz_explore_object(rt.x, CLOCK)); /* this one */
    for (; n; n = rt.path->events[n - 1].prev_object) {
        const struct mz_event *e = &rt.path->events[n - 1];
        first = e->old;
        if (n == rt.path->depth || (found & mz_slot_bit(e->thread))) continue;
        if (!mz_happens_before(e->thread, mz_sync_event_epoch(n - 1))) continue;
        found |= mz_slot_bit(e->thread); /* earlier operations of that thread have no later time */
        if (e->expected > known) known = e->expected;
    }
    return known > first ? known : first; /* all threads know the time at which the second thread began */
}

enum clock_use { READ, SLEEP, UNTIL, JUMP };

/* Return the time of the thread after its operation on the clock. */
static uint64_t own_time(enum clock_use use, uint64_t ns)
{
    uint64_t known;
    switch (use) {
    case READ:
        return rt.run.clock_ns;
    case SLEEP:
        return known_time() + ns;
    case UNTIL:
        known = known_time();
        return known > ns ? known : ns;
    case JUMP:
        return rt.run.clock_ns + ns;
    }
    MZ_BUG("unknown use of the clock");
}

/* An operation on the clock. The event stores the time of the thread after it (mz_explore_note). */
static void clock_call(enum clock_use use, uint64_t ns, const void *pc)
{
    uint64_t own;
    enum mz_access access = use == READ ? MZ_READS : MZ_WRITES;
    if (use != READ && rt.trial) mz_fiber_leave(); /* it would be a change */
    if (rt.run.thread_count == 1) {
        own = use == SLEEP ? rt.run.clock_ns + ns : own_time(use, ns);
    } else {
        mz_visible(MZ_OP_SHARED_CALL, CLOCK, 0, (uint8_t)access, 0, pc);
        if (mz_commit_replayed()) {
            own = rt.path->events[rt.path->depth - 1].expected;
        } else {
            mz_commit_live(access, rt.run.clock_ns, 0);
            own = own_time(use, ns);
            if (rt.path->live && !rt.section) mz_explore_note(rt.x, own);
        }
        MZ_RECORD(MZ_OP_SHARED_CALL, 0, 0, 0, 0, 0, 0, MZ_FRAME());
    }
    if (rt.stateful && use != READ) mz_state_poison(); /* the time that a thread knows is past, not state */
    if (own <= rt.run.clock_ns) return;
    rt.run.clock_ns = own;
    mz_changed();
}

#define PATIENCE 8u /* readings without progress; a reading without a change before it counts INSISTS times */
#define INSISTS  4u
#define JUMPS    11u /* the last jump is three years */
#define FIRST    (SECOND / 100)

static uint64_t now(const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!rt.active || !rt.uses.clock) return EPOCH + rt.run.clock_ns;
    bool idle = t->changes == t->polled_at;
    if (t->poll_place != pc || (t->polls == PATIENCE + JUMPS && !idle)) t->polls = 0;
    if (t->polls >= PATIENCE && t->polls < PATIENCE + JUMPS) {
        uint64_t jump = FIRST;
        for (unsigned i = PATIENCE; i < t->polls; i++) jump *= 10;
        t->polls++;
        clock_call(JUMP, jump, pc);
    } else {
        clock_call(READ, 0, pc);
        if (t->polls < PATIENCE) {
            bool same = t->poll_place == pc && t->polled == rt.run.clock_ns;
            unsigned polls = same ? t->polls + (idle ? INSISTS : 1u) : 0;
            t->polls = (uint8_t)(polls < PATIENCE ? polls : PATIENCE);
            mz_changed(); /* a loop that reads the clock does not wait for other threads alone (spin.c) */
        }
    }
    t->poll_place = pc;
    t->polled = rt.run.clock_ns;
    t->polled_at = t->changes;
    return EPOCH + rt.run.clock_ns;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

static void advance(uint64_t ns, bool until, const void *pc)
{
    if (!rt.uses.clock || !rt.active) return;
    if (until && ns < EPOCH) ns = EPOCH;
    rt.run.threads[rt.self].polls = 0;
    clock_call(until ? UNTIL : SLEEP, until ? ns - EPOCH : ns, pc);
}

/* Sleep for `ns`, or until `ns`. Return false if a signal ended the sleep at its beginning. */
static bool sleep_ns(uint64_t ns, bool until, const void *pc)
{
    mz_test_cancel(pc);
    if (rt.up.signal_interrupts_wait(true, pc, MZ_FRAME())) return false;
    advance(ns, until, pc);
    return true;
}

/* A wait with a deadline has timed out: advance the clock to the deadline. */
void mz_time_passes_to(const struct timespec *until, const void *pc) { advance(ns_of(until), true, pc); }

/* A wait with a duration has timed out: advance the clock by the duration. */
void mz_time_passes_by(const struct timespec *duration, const void *pc)
{
    advance(ns_of(duration), false, pc);
}

static bool real(void) { return !rt.active; }

static int clock_of_kernel(clockid_t clock, struct timespec *t)
{
    long result = mz_sys(SYS_clock_gettime, clock, t);
    if (!mz_sys_failed(result)) return 0;
    errno = (int)-result;
    return -1;
}

MZ_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (real()) return clock_of_kernel(clock, t);
    uint64_t ns = now(MZ_PC());
    MZ_WRITES_TO(t);
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_nsec = (long)(ns % SECOND);
    return 0;
}
MZ_EXPORT int clock_getres(clockid_t clock, struct timespec *t)
{
    (void)clock;
    if (t) MZ_WRITES_TO(t);
    if (t) t->tv_sec = 0, t->tv_nsec = 1;
    return 0;
}
MZ_EXPORT int timespec_get(struct timespec *t, int base)
{
    if (base != TIME_UTC) return 0;
    uint64_t ns = now(MZ_PC());
    MZ_WRITES_TO(t);
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_nsec = (long)(ns % SECOND);
    return base;
}
MZ_EXPORT time_t time(time_t *t)
{
    time_t seconds = (time_t)(now(MZ_PC()) / SECOND);
    if (t) MZ_WRITES_TO(t);
    if (t) *t = seconds;
    return seconds;
}
MZ_EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    (void)zone;
    uint64_t ns = now(MZ_PC());
    MZ_WRITES_TO(t);
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_usec = (suseconds_t)(ns % SECOND / 1000);
    return 0;
}
MZ_EXPORT clock_t clock(void) { return (clock_t)((now(MZ_PC()) - EPOCH) / 1000); }
MZ_EXPORT clock_t times(struct tms *t)
{
    clock_t ticks = (clock_t)((now(MZ_PC()) - EPOCH) / 10000000);
    if (t) MZ_WRITES_TO(t);
    if (t) *t = (struct tms){.tms_utime = ticks};
    return ticks;
}

MZ_EXPORT unsigned sleep(unsigned seconds)
{
    bool slept = sleep_ns(seconds * SECOND, false, MZ_PC());
    if (rt.active) MZ_SPIN_PASS();
    return slept ? 0 : seconds;
}
MZ_EXPORT int usleep(useconds_t us)
{
    bool slept = sleep_ns(us * 1000ull, false, MZ_PC());
    if (rt.active) MZ_SPIN_PASS();
    if (slept) return 0;
    errno = EINTR;
    return -1;
}
static int nap(const struct timespec *t, struct timespec *left, bool until, void *pc, const void *frame)
{
    mz_access_by(t, sizeof *t, false, pc, frame);
    if (!mz_time_is_valid(t)) return EINVAL;
    bool slept = sleep_ns(ns_of(t), until, pc);
    if (left && !until) mz_access_by(left, sizeof *left, true, pc, frame);
    if (left && !until) *left = slept ? (struct timespec){0, 0} : *t;
    return slept ? 0 : EINTR;
}
MZ_EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    int error = nap(t, left, false, MZ_PC(), MZ_FRAME());
    if (rt.active) MZ_SPIN_PASS();
    if (!error) return 0;
    errno = error;
    return -1;
}
MZ_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    (void)clock;
    return nap(t, left, flags & TIMER_ABSTIME, MZ_PC(), MZ_FRAME());
}

/* ---- random numbers: one generator that all threads share, and the same numbers in every execution ---- */

#define NEXT(type, name)                                                                                     \
    MZ_EXPORT type name(void)                                                                                \
    {                                                                                                        \
        shared_call(&mz_kernel_room.time.random, MZ_WRITES, MZ_PC(), MZ_FRAME());                            \
        return MZ_LIBC(name)();                                                                              \
    }
#define SEED(type, name)                                                                                     \
    MZ_EXPORT void name(type seed)                                                                           \
    {                                                                                                        \
        shared_call(&mz_kernel_room.time.random, MZ_WRITES, MZ_PC(), MZ_FRAME());                            \
        MZ_LIBC(name)(seed);                                                                                 \
    }

NEXT(int, rand)
NEXT(long, random)
NEXT(long, lrand48)
NEXT(long, mrand48)
NEXT(double, drand48)
SEED(unsigned, srand)
SEED(unsigned, srandom)
SEED(long, srand48)
