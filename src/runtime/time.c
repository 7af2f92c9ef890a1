/* Time is virtual: it passes only by sleeping, by waits that time out, and for loops that wait for it to
 * pass.
 *
 * A program that never reads the clock (its imports tell) cannot know whether others slept before or after:
 * sleeping then does nothing. In all others reading and advancing the clock are operations on one object; as
 * long as there is one thread only, nobody can interfere.
 *
 * Threads that sleep at the same time do not add up: a thread sleeps from the time that it knows of, and the
 * clock is at least so late when it wakes. It knows what it has read, for how long it has slept, and what
 * those know who synchronized with it (the C11 order): that depends on the past of this operation only, not
 * on how independent ones were ordered.
 *
 * A loop that reads the clock again and again waits for time to pass: then it does. Readings at the same
 * place that always give the same wear a thread's patience, sooner if it changes nothing between them; from
 * then on each moves the clock, as a sleep would, by ten times as much as the one before. Years later (JUMPS)
 * it stands still: the loop does not wait for time alone. When a reading becomes a sleep depends on the
 * thread's own past only.
 *
 * The same goes for the other functions of libc with a state that all threads share: rand and its kin. */
#define _GNU_SOURCE
#include "state.h"
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
#define CLOCK         ((uintptr_t)&rt.run.clock_ns) /* the object */

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

/* How late it is, as far as the running thread knows, whose turn at the clock has come: what the clock was
 * for those operations on it that happen before this one in the C11 order. */
static uint64_t known_time(void)
{
    uint64_t found = 0, known = 0, first = rt.run.clock_ns;
    if (!rt.path->live || rt.section) return first;
    mz_number n = mz_explore_last_event(rt.x, mz_explore_object(rt.x, CLOCK)); /* this one */
    for (; n; n = rt.path->events[n - 1].prev_object) {
        const struct mz_event *e = &rt.path->events[n - 1];
        first = e->old;
        if (n == rt.path->depth || (found & mz_slot_bit(e->thread))) continue;
        if (e->thread != rt.self && mz_sync_event_epoch(n - 1) > mz_sync_seen(rt.self, e->thread)) continue;
        found |= mz_slot_bit(e->thread); /* earlier ones of it know no more */
        if (e->expected > known) known = e->expected;
    }
    return known > first ? known : first; /* what it was when there was only one thread is known to all */
}

enum clock_use { READ, SLEEP, UNTIL, JUMP };

/* How late it is for the thread after its operation. */
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

/* An operation on the clock. What it was for the thread stays with the event. */
static void clock_call(enum clock_use use, uint64_t ns, const void *pc)
{
    uint64_t own;
    enum mz_access access = use == READ ? MZ_READS : MZ_WRITES;
    if (use != READ && rt.trial) mz_fiber_leave(); /* that is a change */
    if (rt.run.thread_count == 1) {
        own = use == SLEEP ? rt.run.clock_ns + ns : own_time(use, ns);
    } else {
        mz_visible(MZ_OP_SHARED_CALL, CLOCK, 0, (uint8_t)access, 0, pc);
        if (mz_commit_replayed()) {
            own = rt.path->events[rt.path->depth - 1].expected;
        } else {
            mz_commit_live(access, rt.run.clock_ns);
            own = own_time(use, ns);
            if (rt.path->live && !rt.section) mz_explore_note(rt.x, own);
        }
        MZ_RECORD(MZ_OP_SHARED_CALL, 0, 0, 0, 0, 0, 0, MZ_FRAME());
    }
    if (rt.stateful && use != READ) mz_state_poison(); /* what each thread knows is past, not state */
    if (own <= rt.run.clock_ns) return;
    rt.run.clock_ns = own;
    mz_changed();
}

#define PATIENCE 8u /* readings that show no progress; one where nothing else happened counts for INSISTS */
#define INSISTS  4u
#define JUMPS    11u /* the last one is three years */
#define FIRST    (SECOND / 100)

static uint64_t now(const void *pc)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (!rt.active || !rt.clock_used) return EPOCH + rt.run.clock_ns;
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
            mz_changed(); /* a loop around it does not wait for other threads alone (spin.c) */
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
    if (!rt.clock_used || !rt.active) return;
    if (until && ns < EPOCH) ns = EPOCH;
    rt.run.threads[rt.self].polls = 0;
    clock_call(until ? UNTIL : SLEEP, until ? ns - EPOCH : ns, pc);
}

/* False: a signal has ended the sleep, at once. */
static bool sleep_ns(uint64_t ns, bool until, const void *pc)
{
    mz_test_cancel(pc);
    if (mz_signal_interrupts_wait(true, pc, MZ_FRAME())) return false;
    advance(ns, until, pc);
    return true;
}

/* A wait has timed out: it is that late now. */
void mz_time_passes_to(const struct timespec *until, const void *pc) { advance(ns_of(until), true, pc); }

/* The same for one that was given how long to wait. */
void mz_time_passes_by(const struct timespec *duration, const void *pc)
{
    advance(ns_of(duration), false, pc);
}

static bool real(void) { return !rt.active; }

MZ_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (real()) return (int)syscall(SYS_clock_gettime, clock, t);
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
