/* Futexes: syscall(SYS_futex, ...). A futex is a 4-byte atomic variable with threads that wait on it.
 *
 * FUTEX_WAIT reads the variable; if it has the expected value the thread joins the waiters in the same
 * operation, else it goes on. FUTEX_WAKE wakes one waiter after the other, each by an operation with a choice
 * among those who wait; waking all is one operation, and so is waking several, where no more than these wait:
 * in between nobody can wait again. Who waits is known by the state of threads. Waking
 * synchronizes with nothing: the program's own accesses to the variable do. */
#define _GNU_SOURCE
#include "kernel.h"
#include "pthread_objects.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t waiters_of(uint64_t address)
{
    uint64_t found = 0;
    for (uint64_t t = rt.view.alive; t; t &= t - 1) {
        const struct mz_thread *w = &rt.run.threads[__builtin_ctzll(t)];
        if (w->state == MZ_THREAD_FUTEX && w->wait_object == address) found |= t & -t;
    }
    return found;
}

static void update_choices(uint64_t address)
{
    uint64_t waiters = waiters_of(address);
    for (uint64_t s = mz_pending_on(address, MZ_OP_SIGNAL); s; s &= s - 1)
        rt.view.pending[__builtin_ctzll(s)].choices = waiters ? waiters : 1;
}

static void visible(uint8_t op, uint64_t address, enum mz_access access, uint64_t choices, const void *pc)
{
    rt.view.pending[rt.self] = (struct mz_pending){.key = address,
                                                   .choices = choices,
                                                   .op = op,
                                                   .size = 4,
                                                   .access = (uint8_t)access,
                                                   .pc = (uintptr_t)pc};
    mz_enable(mz_slot_bit(rt.self), true);
    rt.hooks++;
    mz_dispatch();
}

static void wake(uint64_t address, int slot, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[slot];
    if (t->timed) mz_explore_could_time_out(rt.x, slot);
    mz_explore_wake(rt.x, rt.path->depth, slot);
    t->timed = 0;
    t->state = MZ_THREAD_RUNNABLE;
    t->changes++;
    mz_changed();
    MZ_RECORD(MZ_OP_WOKEN, address, 0, 0, 0, 0, slot, frame);
    /* It has nothing to lock again: it runs on to its next operation within this step. */
    mz_enable(mz_slot_bit(slot), false);
    rt.view.pending[slot].op = MZ_OP_NONE;
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)slot;
}

static long wake_some(uint64_t address, uint64_t count, const void *pc, const void *frame)
{
    long woken = 0;
    if (!count) return 0;
    if (count > 1) {
        visible(MZ_OP_BROADCAST, address, MZ_WRITES, 1, pc);
        uint64_t waiters = waiters_of(address);
        mz_commit_use(MZ_WRITES, waiters);
        MZ_RECORD(MZ_OP_BROADCAST, address, 4, waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
        if ((unsigned)__builtin_popcountll(waiters) > count)
            mz_unsupported("FUTEX_WAKE of several threads, but not all that wait", "wake one, or all");
        for (; waiters; waiters &= waiters - 1, woken++) wake(address, __builtin_ctzll(waiters), frame);
        update_choices(address);
        return woken;
    }
    uint64_t waiters = waiters_of(address);
    visible(MZ_OP_SIGNAL, address, MZ_WRITES, waiters ? waiters : 1, pc);
    waiters = waiters_of(address);
    mz_commit_use(MZ_WRITES, waiters);
    MZ_RECORD(MZ_OP_SIGNAL, address, 4, waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    if (!waiters) return 0;
    wake(address, rt.choice, frame);
    update_choices(address);
    return 1;
}

static long wait_here(uint64_t address, uint32_t expected, bool timed, bool called, const void *pc,
                      const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (called) mz_spin(address, pc, frame);
    visible(MZ_OP_WAIT, address, MZ_READS, 1, pc);
    uint32_t value = *(volatile uint32_t *)address;
    if (value != expected) rt.view.pending[rt.self].op = MZ_OP_LOAD; /* that is all it was */
    mz_commit_use(MZ_READS, value);
    MZ_RECORD(MZ_OP_WAIT, address, 4, MZ_RECORD_HAS_VALUE, value, 0, 0, frame);
    if (value != expected) return -EAGAIN;
    mz_post(rt.self, timed ? MZ_OP_TIMEOUT : MZ_OP_NONE, address, MZ_READS, timed, pc);
    rt.view.pending[rt.self].size = 4;
    t->state = MZ_THREAD_FUTEX;
    t->timed = timed;
    update_choices(address);
    mz_dispatch();
    if (rt.view.pending[rt.self].op != MZ_OP_TIMEOUT) return 0;
    address = t->wait_object; /* it may have been moved */
    mz_commit_use(MZ_READS, waiters_of(address));
    MZ_RECORD(MZ_OP_TIMEOUT, address, 0, 0, 0, 0, 0, frame);
    t->state = MZ_THREAD_RUNNABLE;
    t->timed = 0;
    update_choices(address);
    return -ETIMEDOUT;
}

/* Those who are not woken wait on the other futex from now on: one operation takes them from here, one adds
 * them there. */
static long requeue(uint64_t from, uint64_t to, uint64_t count, const void *pc, const void *frame)
{
    visible(MZ_OP_BROADCAST, from, MZ_WRITES, 1, pc);
    uint64_t waiters = waiters_of(from), moved = 0;
    mz_commit_use(MZ_WRITES, waiters);
    MZ_RECORD(MZ_OP_BROADCAST, from, 4, MZ_RECORD_FAILED, 0, 0, 0, frame);
    for (; waiters && count; waiters &= waiters - 1, count--) {
        int slot = __builtin_ctzll(waiters);
        struct mz_thread *t = &rt.run.threads[slot];
        if (t->timed) mz_explore_could_time_out(rt.x, slot);
        mz_explore_wake(rt.x, rt.path->depth, slot);
        t->wait_object = 0; /* on its way */
        t->changes++;
        mz_enable(mz_slot_bit(slot), false);
        moved |= mz_slot_bit(slot);
    }
    update_choices(from);
    visible(MZ_OP_BROADCAST, to, MZ_WRITES, 1, pc);
    mz_commit_use(MZ_WRITES, waiters_of(to));
    MZ_RECORD(MZ_OP_BROADCAST, to, 4, MZ_RECORD_FAILED, 0, 0, 0, frame);
    long n = __builtin_popcountll(moved);
    for (; moved; moved &= moved - 1) {
        int slot = __builtin_ctzll(moved);
        mz_explore_wake(rt.x, rt.path->depth, slot);
        rt.run.threads[slot].wait_object = rt.view.pending[slot].key = to;
        mz_enable(mz_slot_bit(slot), rt.run.threads[slot].timed);
    }
    update_choices(to);
    return n;
}

long mz_futex(uint64_t address, int operation, uint32_t value, const void *timeout, uint64_t address2,
              uint32_t value3, bool called, const void *pc, const void *frame)
{
    int command = operation & FUTEX_CMD_MASK;
    struct timespec until;
    if (address % 4) return -EINVAL;
    switch (command) {
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT:
        if (command == FUTEX_WAIT_BITSET && value3 != FUTEX_BITSET_MATCH_ANY)
            mz_unsupported("FUTEX_WAIT_BITSET with a bit set", "use FUTEX_WAIT");
        long answer = wait_here(address, value, timeout != NULL, called, pc, frame);
        if (answer != -ETIMEDOUT) return answer;
        mz_raw_memcpy(&until, timeout, sizeof until);
        (command == FUTEX_WAIT ? mz_time_passes_by : mz_time_passes_to)(&until, pc);
        return answer;
    case FUTEX_WAKE_BITSET:
        if (value3 != FUTEX_BITSET_MATCH_ANY)
            mz_unsupported("FUTEX_WAKE_BITSET with a bit set", "use FUTEX_WAKE");
        return wake_some(address, value, pc, frame);
    case FUTEX_WAKE:
        return wake_some(address, value, pc, frame);
    case FUTEX_CMP_REQUEUE:
    case FUTEX_REQUEUE: {
        if (command == FUTEX_CMP_REQUEUE) {
            visible(MZ_OP_LOAD, address, MZ_READS, 1, pc);
            uint32_t found = *(volatile uint32_t *)address;
            mz_commit_use(MZ_READS, found);
            MZ_RECORD(MZ_OP_LOAD, address, 4, MZ_RECORD_HAS_VALUE, found, 0, 0, frame);
            if (found != value3) return -EAGAIN;
        }
        long woken = wake_some(address, value, pc, frame);
        return woken + requeue(address, address2, (uintptr_t)timeout, pc, frame);
    }
    default:
        mz_unsupported("this futex operation", "use FUTEX_WAIT and FUTEX_WAKE");
    }
}

MZ_EXPORT long syscall(long number, ...)
{
    struct mz_call call = {.number = number};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) call.a[i] = va_arg(list, uint64_t);
    va_end(list);
    const uint64_t *a = call.a;
    long r = !rt.active
                 ? mz_sys6(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5])
             : number == SYS_futex ? mz_futex(a[0], (int)a[1], (uint32_t)a[2], (const void *)a[3], a[4],
                                              (uint32_t)a[5], true, MZ_PC(), MZ_FRAME())
                                   : mz_kernel_call(&call);
    if (!mz_sys_failed(r)) return r;
    errno = (int)-r;
    return -1;
}
