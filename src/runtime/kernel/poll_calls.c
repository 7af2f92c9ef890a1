/* poll, select, epoll_wait and similar calls: waits for descriptors, or for time to pass. For kernel.c.
 *
 * The runtime first asks the kernel, without waiting, whether descriptors are ready. If none is:
 *   with a timeout              virtual time passes (time.c), and the kernel is asked once more. No call
 *                               sleeps in real time
 *   no timeout, no descriptors  only a signal can end the wait, as for pause()
 *   no timeout, descriptors     the kernel performs the call. An event from outside ends it; if none comes,
 *                               the command notices
 *
 * files.c refuses descriptors by which threads of the program wake each other. */
#define _GNU_SOURCE
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <sys/select.h>

static void *pointer(uint64_t a) { return (void *)(uintptr_t)a; }

struct wait {
    struct mz_call look; /* the same call with a timeout of 0 */
    struct timespec limit;
    bool limited, at_once, nothing; /* nothing: no descriptors */
};

static struct timespec from_ms(int64_t ms) { return (struct timespec){ms / 1000, ms % 1000 * 1000000}; }

static void of_ms(struct wait *w, uint64_t argument)
{
    int ms = (int)argument;
    w->limited = ms >= 0;
    w->limit = from_ms(ms < 0 ? 0 : ms);
}

static void of_timespec(struct wait *w, const struct timespec *t)
{
    w->limited = t != NULL;
    w->limit = t ? *t : (struct timespec){0, 0};
}

static const struct timespec zero;
#define now mz_kernel_room.poll.now

static struct wait wait_of(const struct mz_call *call)
{
    struct wait w = {.look = *call};
    const struct timeval *tv = pointer(call->a[4]);
    now = zero;
    switch (call->number) {
    case SYS_poll:
        of_ms(&w, call->a[2]);
        w.look.a[2] = 0;
        w.nothing = !call->a[1];
        break;
    case SYS_ppoll:
        of_timespec(&w, pointer(call->a[2]));
        w.look.a[2] = (uintptr_t)&now;
        w.look.a[3] = 0; /* the kernel knows no masks of program threads: signal_calls.c */
        w.nothing = !call->a[1];
        break;
    case SYS_select:
        w.limited = tv != NULL;
        if (tv) w.limit = (struct timespec){tv->tv_sec, tv->tv_usec * 1000};
        w.look.a[4] = (uintptr_t)&now; /* 0, also as a timeval */
        w.nothing = !call->a[0];
        break;
    case SYS_pselect6:
        of_timespec(&w, pointer(call->a[4]));
        w.look.a[4] = (uintptr_t)&now;
        w.look.a[5] = 0;
        w.nothing = !call->a[0];
        break;
    default: /* epoll_wait, epoll_pwait */
        of_ms(&w, call->a[3]);
        w.look.a[3] = 0;
        w.look.a[4] = 0;
        break;
    }
    w.at_once = w.limited && !w.limit.tv_sec && !w.limit.tv_nsec;
    return w;
}

/* select overwrites its sets of descriptors: keep them for the second call. */
struct sets {
    fd_set sets[3];
    size_t size;
};

static void save_sets(struct sets *s, const struct mz_call *call)
{
    bool selects = call->number == SYS_select || call->number == SYS_pselect6;
    s->size = selects && call->a[0] <= FD_SETSIZE ? (call->a[0] + 63) / 64 * 8 : 0;
    for (int i = 0; i < 3; i++)
        if (call->a[1 + i]) mz_raw_memcpy(&s->sets[i], pointer(call->a[1 + i]), s->size);
}

static void restore_sets(const struct sets *s, const struct mz_call *call)
{
    for (int i = 0; i < 3; i++)
        if (call->a[1 + i]) mz_raw_memcpy(pointer(call->a[1 + i]), &s->sets[i], s->size);
}

bool mz_poll_only_sleeps(const struct mz_call *call)
{
    switch (call->number) {
    case SYS_poll:
    case SYS_ppoll:
        return !call->a[1];
    case SYS_select:
    case SYS_pselect6:
        return !call->a[0];
    default:
        return false;
    }
}

/* Tell the program that no time is left, for calls that return the remaining time. */
static void nothing_left(const struct mz_call *call)
{
    if (call->number != SYS_select && call->number != SYS_ppoll) return;
    void *limit = pointer(call->a[call->number == SYS_select ? 4 : 2]);
    mz_keep_program(limit, sizeof(struct timespec));
    mz_snapshot_touch(limit, sizeof(struct timespec));
    mz_raw_memset(limit, 0, sizeof(struct timespec));
}

static long wait_for_time(const struct mz_call *call, struct wait *w, const struct sets *s)
{
    uint64_t pc = 0;
    const void *frame = call->context ? mz_kernel_frame(call->context, &pc) : MZ_FRAME();
    if (mz_signal_interrupts_wait(true, pointer(pc), frame)) return -EINTR;
    mz_time_passes_by(&w->limit, pointer(pc));
    nothing_left(call);
    if (w->nothing) return 0;
    restore_sets(s, call);
    return mz_kernel_perform(&w->look);
}

long mz_poll_wait(struct mz_call *call)
{
    struct wait w = wait_of(call);
    struct sets s;
    if (w.limited && !mz_time_is_valid(&w.limit)) return -EINVAL;
    if (w.nothing && !w.limited) return mz_signals_pause(call);
    if (w.nothing) return w.at_once ? 0 : wait_for_time(call, &w, &s);
    save_sets(&s, call);
    long ready = mz_kernel_perform(&w.look);
    if (ready || w.at_once) return ready;
    if (w.limited) return wait_for_time(call, &w, &s);
    restore_sets(&s, call);
    if (call->number == SYS_epoll_wait || call->number == SYS_epoll_pwait) call->a[4] = 0;
    return mz_kernel_perform(call);
}
