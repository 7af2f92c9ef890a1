/* Futexes: syscall(SYS_futex, ...). A futex is a 4-byte atomic variable with threads that wait on it.
 *
 * FUTEX_WAIT reads the variable. If the variable has the expected value, the thread becomes a waiter in the
 * same operation; else it continues. FUTEX_WAKE is one operation. If more threads wait than it wakes, it
 * chooses among all sets of that many waiters: Linux promises no order. FUTEX_REQUEUE is one operation, too;
 * it also chooses the waiters that move. The waiters are found by the states of the threads. Waking does not
 * synchronize; the program's own accesses to the variable do.
 *
 * FUTEX_WAIT and FUTEX_CMP_REQUEUE read the variable like a relaxed load. FUTEX_WAKE, FUTEX_REQUEUE and a
 * timeout use the address only as a name: they access no memory, and the variable may already be freed. (A
 * thread that stores to the variable and then wakes others cannot know whether these have freed the variable
 * meanwhile. All locks on futexes work like that.) */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/cell.h"
#include "runtime/memory/memory.h"
#include "runtime/sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static const void *pointer(uint64_t address) { return (const void *)(uintptr_t)address; }
static const volatile uint32_t *cell(uint64_t address) { return pointer(address); }

static uint64_t waiters_of(uint64_t address)
{
    uint64_t found = 0;
    for (uint64_t t = rt.view.alive; t; t &= t - 1) {
        const struct mz_thread *w = &rt.run.threads[__builtin_ctzll(t)];
        if (w->state == MZ_THREAD_FUTEX && w->wait_object == address) found |= t & -t;
    }
    return found;
}

/* ---- which waiters ---- */

#define CHOICES 64u /* the most choices that one operation can have */

/* Returns the number of ways to take k of n threads; 1 if k >= n; CHOICES + 1 if there are more than
 * CHOICES. */
static unsigned ways(unsigned n, unsigned k)
{
    unsigned result = 1;
    if (k >= n) return 1;
    if (k > n - k) k = n - k;
    for (unsigned i = 1; i <= k; i++) { /* no overflow: result is at most 64 before each product */
        result = result * (n - k + i) / i;
        if (result > CHOICES) return CHOICES + 1;
    }
    return result;
}

/* Returns the subset of k threads with this number, from 0 on. */
static uint64_t take(uint64_t set, unsigned k, unsigned number)
{
    unsigned n = (unsigned)__builtin_popcountll(set);
    uint64_t taken = 0;
    if (k >= n) return set;
    for (; k; set &= set - 1, n--) {
        unsigned with = ways(n - 1, k - 1);
        if (number < with)
            taken |= set & -set, k--;
        else
            number -= with;
    }
    return taken;
}

/* How many waiters an operation wakes and moves. Both numbers are kept in the pending operation (`expected`),
 * because waiters may still come and go. */
static uint64_t counts(uint64_t wake, uint64_t move)
{
    return (wake < MZ_SLOTS ? wake : MZ_SLOTS) | (move < MZ_SLOTS ? move : MZ_SLOTS) << 32;
}
static unsigned to_wake(uint64_t counts) { return (unsigned)(counts & 0xffffffff); }
static unsigned to_move(uint64_t counts) { return (unsigned)(counts >> 32); }

static unsigned all_ways(uint64_t waiters, uint64_t counts)
{
    unsigned n = (unsigned)__builtin_popcountll(waiters), woken = to_wake(counts) < n ? to_wake(counts) : n;
    return ways(n, woken) * ways(n - woken, to_move(counts));
}

static uint64_t choices_of(uint64_t address, uint64_t counts)
{
    unsigned n = all_ways(waiters_of(address), counts);
    return n < CHOICES ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

static void update_choices(uint64_t address)
{
    for (uint64_t s = mz_pending_on(address, MZ_OP_WAKE); s; s &= s - 1) {
        struct mz_pending *p = &rt.view.pending[__builtin_ctzll(s)];
        p->choices = choices_of(address, p->expected);
    }
}

/* ---- operations ---- */

static void visible(uint8_t op, uint64_t address, enum mz_access access, uint64_t expected, const void *pc)
{
    mz_before(pc);
    rt.view.pending[rt.self] =
        (struct mz_pending){.key = address,
                            .expected = expected,
                            .choices = op == MZ_OP_WAKE ? choices_of(address, expected) : 1,
                            .op = op,
                            .size = 4,
                            .access = (uint8_t)access,
                            .pc = (uintptr_t)pc};
    mz_enable(mz_slot_bit(rt.self), true);
    rt.hooks++;
    mz_dispatch();
}

/* Commit the operation. For the race check it reads the variable (`reads`), or it accesses no memory. */
static void commit(enum mz_access access, uint64_t old, uint64_t new, bool reads)
{
    if (mz_commit_replayed()) return;
    uint64_t key = rt.view.pending[rt.self].key;
    mz_commit_live(access, old, new);
    if (reads) mz_shadow_atomic(key, 4, MZ_READS);
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
    /* The waiter has no mutex to lock: it runs to its next operation within this step. */
    mz_wait_ends(slot);
    mz_enable(mz_slot_bit(slot), false);
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)slot;
}

/* Wakes some waiters and moves others to the futex `to` (0: moves none). The choice of this step says which.
 * Returns the number of threads woken and moved. */
static long wake_and_move(uint64_t address, uint64_t waiters, uint64_t counts, uint64_t to, const void *frame)
{
    unsigned n = (unsigned)__builtin_popcountll(waiters), first = ways(n, to_wake(counts));
    if (all_ways(waiters, counts) > CHOICES)
        mz_unsupported("a futex operation with more than 64 ways to choose the waiters",
                       "wake one waiter, or all, or let fewer threads wait");
    uint64_t woken = take(waiters, to_wake(counts), rt.choice % first);
    uint64_t moved = to ? take(waiters & ~woken, to_move(counts), rt.choice / first) : 0;
    for (uint64_t t = woken; t; t &= t - 1) wake(address, __builtin_ctzll(t), frame);
    for (uint64_t t = moved; t; t &= t - 1) {
        int slot = __builtin_ctzll(t);
        rt.run.threads[slot].wait_object = to;
        rt.run.threads[slot].changes++;
        mz_changed();
    }
    update_choices(address);
    if (to) update_choices(to);
    return __builtin_popcountll(woken | moved);
}

static long wake_some(uint64_t address, uint64_t count, const void *pc, const void *frame)
{
    uint8_t op = count < MZ_SLOTS ? MZ_OP_WAKE : MZ_OP_BROADCAST;
    if (!count) return 0;
    visible(op, address, MZ_WRITES, op == MZ_OP_WAKE ? counts(count, 0) : 0, pc);
    uint64_t waiters = waiters_of(address);
    commit(MZ_WRITES, waiters, 0, false);
    MZ_RECORD(op, address, 4, waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    return wake_and_move(address, waiters, counts(count, 0), 0, frame);
}

/* FUTEX_REQUEUE, or FUTEX_CMP_REQUEUE if `expected` is given: the value that the variable must have. It is
 * one operation on both futexes, so the engine treats both as one object. It counts as a write even if the
 * variable has another value. */
static long requeue(uint64_t from, uint64_t to, uint64_t how_many, const uint32_t *expected, const void *pc,
                    const void *frame)
{
    mz_explore_unite(rt.x, from, to, 4);
    visible(MZ_OP_WAKE, from, MZ_WRITES, how_many, pc);
    uint64_t waiters = waiters_of(from);
    if (expected) mz_memory_check_atomic(pointer(from), 4);
    bool fits = !expected || mz_cell_read32(cell(from)) == *expected;
    commit(MZ_WRITES, waiters, 0, expected);
    MZ_RECORD(MZ_OP_WAKE, from, 4, fits && waiters ? 0 : MZ_RECORD_FAILED, 0, 0, 0, frame);
    return fits ? wake_and_move(from, waiters, how_many, to, frame) : -EAGAIN;
}

static long wait_here(uint64_t address, uint32_t expected, bool timed, bool called, const void *pc,
                      const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (called) mz_spin(address, pc, frame);
    visible(MZ_OP_WAIT, address, MZ_READS, 0, pc);
    mz_memory_check_atomic(pointer(address), 4);
    uint32_t value = mz_cell_read32(cell(address));
    if (value != expected) rt.view.pending[rt.self].op = MZ_OP_LOAD; /* the operation was only a load */
    commit(MZ_READS, value, value, true);
    MZ_RECORD(MZ_OP_WAIT, address, 4, MZ_RECORD_HAS_VALUE, value, 0, 0, frame);
    if (value != expected) return -EAGAIN;
    mz_post_wait(address, 4, NULL, timed, pc);
    t->state = MZ_THREAD_FUTEX;
    t->timed = timed;
    update_choices(address);
    mz_dispatch();
    if (!mz_waits(rt.self)) {
        rt.view.pending[rt.self].op = MZ_OP_NONE;
        return 0;
    }
    mz_wait_given_up();
    address = t->wait_object;
    commit(MZ_READS, waiters_of(address), 0, false);
    MZ_RECORD(MZ_OP_TIMEOUT, address, 0, 0, 0, 0, 0, frame);
    t->state = MZ_THREAD_RUNNABLE;
    t->timed = 0;
    update_choices(address);
    return -ETIMEDOUT;
}

long mz_futex(uint64_t address, int operation, uint32_t value, const void *timeout, uint64_t address2,
              uint32_t value3, bool called, const void *pc, const void *frame)
{
    int command = operation & FUTEX_CMD_MASK;
    struct timespec until;
    if (address % 4) return -EINVAL;
    if (called) mz_rounds_look(address, pc, frame);
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
    case FUTEX_REQUEUE:
        if (address2 % 4) return -EINVAL;
        return requeue(address, address2, counts(value, (uintptr_t)timeout),
                       command == FUTEX_CMP_REQUEUE ? &value3 : NULL, pc, frame);
    default:
        mz_unsupported("this futex operation", "use FUTEX_WAIT and FUTEX_WAKE");
    }
}

MZ_EXPORT long syscall(long number, ...)
{
    struct mz_call call = {.number = number, .pc = MZ_PC(), .frame = MZ_FRAME()};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) call.a[i] = va_arg(list, uint64_t);
    va_end(list);
    const uint64_t *a = call.a;
    long r = !rt.active
                 ? mz_sys6(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5])
             : number == SYS_futex ? mz_futex(a[0], (int)a[1], (uint32_t)a[2], (const void *)a[3], a[4],
                                              (uint32_t)a[5], true, MZ_PC(), MZ_FRAME())
                                   : rt.up.kernel_call(&call);
    if (!mz_sys_failed(r)) return r;
    errno = (int)-r;
    return -1;
}
