/* Signals from one thread to another, and to the process.
 *
 * A signal that its target does not block may arrive at any time after it was sent, and it interrupts the
 * target wherever the target is. So there are three operations on the signals of a thread. All three are
 * operations on one object. (In programs that send signals to the process, the signals of all threads are one
 * object.)
 *
 *   SIGSEND    the signal is pending: sigwait and sigpending see it. If the target does not block it, the
 *              runtime starts a carrier, which is a thread of the runtime.
 *   SIGARRIVE  the only operation of the carrier: from now on the target does not go on without running the
 *              handler. The search decides when it happens, as for any operation.
 *   SIGPOINT   the target checks whether a signal has arrived: before every visible operation, before every
 *              access to a volatile variable, and at the end of the thread.
 *
 * For the engine, SIGPOINT is a read and the other two are writes; none is ever disabled. This suffices to
 * explore all ways in which handlers interrupt threads: a handler can observe and change only what visible
 * operations and volatile accesses show (C11 7.14.1.1: handlers may use nothing else).
 *
 * Threads that wait:
 *   - A thread that is blocked at a lock, a semaphore or a join is not scheduled. The SIGPOINT before the
 *     wait could as well come at the moment of the interruption, so the search misses nothing. If such a
 *     thread still waits at the end of an execution and a signal has arrived since its last SIGPOINT, the
 *     execution does not count (mz_signal_left): in reality the handler would run. The search explores that
 *     as an execution with a later SIGPOINT.
 *   - Waits that change something when they begin (condition variables, barriers, futexes): the handler runs
 *     only before or after the wait, and the report says so.
 *   - sigwait and sigsuspend wake up.
 *
 * Sending a signal synchronizes with the handler, and with a thread that waits for the signal. C11 does not
 * say so, but every kernel does it. signal_calls.c calls this file; other files reach it through rt.up. */
#define _GNU_SOURCE
#include "runtime/core/operation.h"
#include "runtime/hooks/hooks.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/kernel/signal_state.h"
#include "runtime/loops/loops.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <errno.h>

static struct mz_signal_thread *self(void) { return &si.threads[rt.self]; }

static uint64_t key_of(int slot)
{
    return rt.uses.kill ? (uintptr_t)&si.process : (uintptr_t)&si.threads[slot];
}

static void event(uint8_t op, int slot, enum mz_access access, const void *pc, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    rt.view.pending[rt.self] = (struct mz_pending){
        .key = key_of(slot), .choices = 1, .op = op, .access = (uint8_t)access, .pc = (uintptr_t)pc};
    mz_enable(mz_slot_bit(rt.self), true);
    rt.hooks++;
    mz_dispatch();
    t->state = MZ_THREAD_RUNNABLE;
    if (!mz_commit_replayed()) mz_commit_live(access, 0, 0);
    MZ_RECORD(op, 0, 0, 0, 0, 0, slot, frame);
}

static void *signal_carrier(void *what);
static bool is_carrier(int slot) { return rt.run.threads[slot].start == signal_carrier; }

/* Can no other thread send the running thread a signal? */
static bool alone(void)
{
    return !rt.uses.signals || !rt.active || rt.section || rt.run.thread_count == 1 || is_carrier(rt.self);
}

void mz_signal_look(const void *pc, const void *frame, enum mz_access access)
{
    if (alone()) return;
    event(MZ_OP_SIGPOINT, rt.self, access, pc, frame);
    mz_sync_acquire_all(rt.self, mz_last_object());
}

/* ---- points ---- */

static bool has_arrived(int slot)
{
    const struct mz_signal_thread *t = &si.threads[slot];
    return t->queue.count && mz_signal_set(&t->queue, true) & ~t->mask;
}

/* Run the handlers of the signals that have arrived. */
static enum mz_interruption handle_arrived(const void *pc, const void *frame)
{
    static const struct mz_call nowhere = {.number = SYS_tgkill};
    struct mz_signal s;
    enum mz_interruption result = MZ_UNDISTURBED;
    do {
        mz_sync_acquire_all(rt.self, mz_last_object());
        mz_signal_keep(rt.self);
        if (!mz_signal_take(&self()->queue, ~self()->mask, true, &s)) break;
        if (mz_signal_ignored(s.number)) continue;
        if (result != MZ_INTERRUPTED) result = mz_signal_restarts(s.number) ? MZ_DISTURBED : MZ_INTERRUPTED;
        mz_signal_handle(&s, &nowhere);
        event(MZ_OP_SIGPOINT, rt.self, MZ_READS, pc, frame);
    } while (has_arrived(rt.self));
    return result;
}

enum mz_interruption mz_signal_point(const void *pc, const void *frame)
{
    struct mz_thread *t = &rt.run.threads[rt.self];
    if (alone()) return MZ_UNDISTURBED;
    uint8_t simple = t->simple;
    t->simple = 0; /* handlers may run before the operation that the thread is about to post */
    event(MZ_OP_SIGPOINT, rt.self, MZ_READS, pc, frame);
    enum mz_interruption result = has_arrived(rt.self) ? handle_arrived(pc, frame) : MZ_UNDISTURBED;
    t->simple = simple;
    return result;
}

bool mz_signal_interrupted(void)
{
    return has_arrived(rt.self) && handle_arrived(MZ_PC(), MZ_FRAME()) == MZ_INTERRUPTED;
}

/* A call is about to wait. If a handler runs now, the search explores two cases: it ran before the call
 * (return false), or it interrupts the call (return true). `always`: the handler interrupts the call even
 * with SA_RESTART. */
bool mz_signal_interrupts_wait(bool always, const void *pc, const void *frame)
{
    if (mz_likely(!rt.uses.signals)) return false;
    enum mz_interruption how = mz_signal_point(pc, frame);
    if (how == MZ_UNDISTURBED || (how == MZ_DISTURBED && !always)) return false;
    return mz_choose_of(2, pc, frame);
}

/* A SIGPOINT before an access to a volatile variable. A loop may wait for a handler to change the
 * variable. */
void mz_signal_point_volatile(const void *pc, const void *frame, bool write)
{
    if (alone()) return;
    if (!write) mz_spin(key_of(rt.self), pc, frame);
    mz_signal_point(pc, frame);
}

/* The running thread ends. A signal that arrives later is lost, or goes to another thread. */
void mz_signal_end(void)
{
    if (alone()) return;
    for (;;) {
        event(MZ_OP_SIGPOINT, rt.self, MZ_WRITES, MZ_PC(), MZ_FRAME());
        if (!has_arrived(rt.self)) break;
        handle_arrived(MZ_PC(), MZ_FRAME());
    }
    mz_signal_keep(rt.self);
    self()->ended = 1;
    mz_signal_rehome(rt.self);
    self()->queue = (struct mz_signal_queue){0};
}

/* At the end of an execution: does a thread wait although a signal has arrived whose handler would run? */
bool mz_signal_left(void)
{
    for (uint64_t t = rt.uses.signals ? rt.view.alive : 0; t; t &= t - 1) {
        int slot = __builtin_ctzll(t);
        if (!is_carrier(slot) && has_arrived(slot)) return true;
    }
    return false;
}

/* ---- waiting for a signal ---- */

void mz_signal_sleep(uint64_t *why, uint64_t set, const struct mz_call *call)
{
    uint64_t pc = 0;
    if (call->context) mz_kernel_frame(call->context, &pc);
    mz_signal_keep(rt.self);
    *why = set;
    mz_post(MZ_OP_NONE, key_of(rt.self), MZ_READS, false, (void *)(uintptr_t)pc);
    rt.run.threads[rt.self].state = MZ_THREAD_SIGWAIT;
    mz_dispatch();
}

/* Does the thread sleep until this signal comes? */
static bool sleeps_for(int slot, int number)
{
    const struct mz_signal_thread *t = &si.threads[slot];
    return (t->waits_for & mz_signal_bit(number)) || (t->suspended && !(t->mask & mz_signal_bit(number)));
}

/* Wake the thread: it looks at its signals again, within this step. */
static void rouse(int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    mz_signal_keep(slot);
    si.threads[slot].waits_for = si.threads[slot].suspended = 0;
    mz_undo_thread(slot);
    mz_explore_wake(rt.x, rt.path->depth, slot);
    t->state = MZ_THREAD_RUNNABLE;
    t->changes++;
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)slot;
}

/* ---- the carrier ---- */

static uint64_t pack(int slot, int number) { return (uint64_t)slot << 8 | (uint64_t)number; }

static void say_what_is_not_seen(int slot)
{
    uint8_t state = rt.run.threads[slot].state;
    mz_unseen("signal handlers run between visible operations and volatile accesses only: plain variables "
              "that a handler shares with the thread that it interrupts are not checked");
    if (state == MZ_THREAD_WAITING || state == MZ_THREAD_FUTEX || state == MZ_THREAD_BARRIER)
        mz_unseen(
            "a signal to a thread that waits on a condition variable, a futex or at a barrier is handled "
            "before or after the wait only");
}

static void arrive(int slot, int number)
{
    struct mz_signal_queue *q = &si.threads[slot].queue;
    mz_signal_keep(slot);
    for (uint64_t i = 0; i < q->count; i++) {
        if (q->entries[i].number != number || q->entries[i].arrived) continue;
        q->entries[i].arrived = 1;
        break;
    }
    if (!has_arrived(slot)) return;
    say_what_is_not_seen(slot);
    if (rt.run.threads[slot].state == MZ_THREAD_SIGWAIT) rouse(slot);
}

static void *signal_carrier(void *what)
{
    int slot = (int)((uintptr_t)what >> 8), number = (int)((uintptr_t)what & 0xff);
    mz_changed();
    event(MZ_OP_SIGARRIVE, slot, MZ_WRITES, MZ_PC(), MZ_FRAME());
    mz_sync_release_part(mz_last_object());
    arrive(slot, number);
    return NULL;
}

static void start_carrier(int slot, int number)
{
    int parent = rt.self, child = mz_spawn(signal_carrier, (void *)(uintptr_t)pack(slot, number));
    rt.run.threads[child].detached = 1;
    MZ_RECORD(MZ_OP_SPAWN, 0, 0, 0, 0, 0, child, MZ_FRAME());
    rt.run.interrupted[rt.run.interrupted_count++] = (uint8_t)parent;
    mz_fiber_go(child);
}

/* ---- sending ---- */

static void refuse_unforeseen(const struct mz_call *call)
{
    if (!rt.uses.signals)
        mz_kernel_refuse(call, "a signal to another thread by a direct system call", "use pthread_kill");
}

static void place_of_call(const struct mz_call *call, const void **pc, const void **frame)
{
    uint64_t at = 0;
    *frame = call->context ? mz_kernel_frame(call->context, &at) : MZ_FRAME();
    *pc = call->context ? (const void *)(uintptr_t)at : MZ_PC();
}

/* Give the signal to the thread, in the step of a SIGSEND. */
static void give(int slot, const struct mz_signal *s, const struct mz_call *call)
{
    struct mz_signal_thread *t = &si.threads[slot];
    bool blocked = t->mask & mz_signal_bit(s->number);
    if (!blocked && mz_signal_ignored(s->number)) return;
    if (!blocked && si.process.actions[s->number].handler == (uintptr_t)SIG_DFL) {
        mz_signal_handle(s, call); /* ends the program, whatever the target does */
        return;
    }
    mz_signal_keep(slot);
    mz_signal_put(&t->queue, s, call);
    mz_sync_release_part(mz_last_object());
    if (sleeps_for(slot, s->number))
        rouse(slot);
    else if (!blocked)
        start_carrier(slot, s->number);
}

void mz_signal_send(int slot, const struct mz_signal *s, const struct mz_call *call)
{
    const void *pc, *frame;
    const struct mz_thread *t = &rt.run.threads[slot];
    refuse_unforeseen(call);
    place_of_call(call, &pc, &frame);
    if (rt.trial) mz_fiber_leave();
    mz_changed();
    mz_signal_point(pc, frame);
    event(MZ_OP_SIGSEND, slot, MZ_WRITES, pc, frame);
    if (!si.threads[slot].ended) {
        give(slot, s, call);
    } else if (t->detached) {
        mz_misuse("a signal to a detached thread that has ended", NULL);
    }
}

/* Return the threads that may take a signal that was sent to the process. */
static uint64_t takers(int number)
{
    uint64_t found = 0;
    for (uint64_t t = rt.view.alive; t; t &= t - 1) {
        int slot = __builtin_ctzll(t);
        const struct mz_signal_thread *s = &si.threads[slot];
        if (is_carrier(slot) || s->ended) continue;
        if (!(s->mask & mz_signal_bit(number)) || sleeps_for(slot, number)) found |= t & -t;
    }
    return found;
}

static int nth(uint64_t set, uint64_t n)
{
    while (n--) set &= set - 1;
    return __builtin_ctzll(set);
}

static bool to_self(uint64_t set, const struct mz_signal *s, const struct mz_call *call)
{
    if (set != mz_slot_bit(rt.self)) return false;
    mz_signal_handle(s, call);
    return true;
}

/* Send a signal to the process. The search chooses the thread that takes it. If that thread has blocked the
 * signal before the choice takes effect, the search chooses again. */
void mz_signal_send_process(const struct mz_signal *s, const struct mz_call *call)
{
    const void *pc, *frame;
    place_of_call(call, &pc, &frame);
    if (rt.trial) mz_fiber_leave();
    mz_changed();
    bool others = !alone();
    if (rt.run.thread_count > 1) refuse_unforeseen(call);
    if (others) mz_signal_point(pc, frame);
    for (uint64_t chosen = ~(uint64_t)0, set;;) {
        if (others) event(MZ_OP_SIGSEND, rt.self, MZ_WRITES, pc, frame);
        set = takers(s->number);
        if (set & chosen && chosen != ~(uint64_t)0) set &= chosen;
        if (!set) {
            if (mz_signal_ignored(s->number)) return;
            mz_signal_keep_process();
            mz_signal_put(&si.process.queue, s, call);
            mz_sync_release_part(mz_last_object());
            return;
        }
        if (to_self(set, s, call)) return;
        if (!(set & (set - 1))) {
            give(__builtin_ctzll(set), s, call);
            return;
        }
        uint64_t n = (uint64_t)__builtin_popcountll(set);
        chosen = mz_slot_bit(nth(set, mz_choose_of(n, pc, frame)));
    }
}

/* The thread has blocked signals that were sent to the process, or it has ended: give these signals to the
 * first other thread that takes them. The search does not explore other takers; if there are several, the
 * report says so. */
void mz_signal_rehome(int slot)
{
    static const struct mz_call nowhere = {.number = SYS_tgkill};
    struct mz_signal_thread *t = &si.threads[slot];
    struct mz_signal_queue rest = {0};
    struct mz_signal_queue moved = {0};
    for (uint64_t i = 0; i < t->queue.count; i++) {
        const struct mz_signal *s = &t->queue.entries[i];
        bool moves = s->process && (t->ended || t->mask & mz_signal_bit(s->number));
        struct mz_signal_queue *to = moves ? &moved : &rest;
        to->entries[to->count++] = *s;
    }
    if (!moved.count) return;
    mz_signal_keep(slot);
    t->queue = rest;
    for (uint64_t i = 0; i < moved.count; i++) {
        struct mz_signal s = moved.entries[i];
        uint64_t set = takers(s.number) & ~mz_slot_bit(slot);
        s.arrived = 0;
        if (set & (set - 1))
            mz_unseen(
                "a thread blocked a signal to the process before it arrived: of the other threads that could "
                "take it, only one is explored");
        mz_signal_keep_process();
        if (set)
            give(__builtin_ctzll(set), &s, &nowhere);
        else
            mz_signal_put(&si.process.queue, &s, &nowhere);
    }
}

/* A disposition changes. Dispositions belong to all threads, so the change is an operation on the signals of
 * all threads. */
void mz_signal_change_all(const struct mz_call *call)
{
    const void *pc, *frame;
    if (alone()) return;
    place_of_call(call, &pc, &frame);
    for (uint32_t s = 1; !rt.uses.kill && s < rt.slots_known; s++)
        mz_explore_unite(rt.x, key_of(0), key_of((int)s), 8);
    event(MZ_OP_SIGPOINT, rt.self, MZ_WRITES, pc, frame);
}
