/* Signals from one thread to another, and to the process.
 *
 * A signal that its target does not block may arrive at any time after it was sent, and interrupts the target
 * wherever that is. So there are three operations on the signals of a thread, all on one object (for programs
 * that send signals to the process: one object for the signals of all threads):
 *
 *   SIGSEND    the signal is pending: sigwait and sigpending see it. If the target does not block it, a
 *              carrier, a thread of our own, is started.
 *   SIGARRIVE  the only operation of the carrier: from now on the target will not go on without running the
 *              handler. When that is, is up to the search, as for any operation.
 *   SIGPOINT   the target looks whether something has arrived. That is done before every visible operation,
 *              before every access to a volatile variable, and at the end of the thread.
 *
 * To the engine SIGPOINT is a read, the others are writes; none is ever disabled. Nothing else is needed to
 * explore the ways in which handlers interrupt threads: a handler sees, and changes for others, only what
 * visible operations and volatile accesses show (C11 7.14.1.1: handlers may use nothing else).
 *
 * Threads that wait. To be blocked at a lock, a semaphore or a join is not to be scheduled, and the point before
 * it could as well come at the moment of the interruption: nothing is lost. If such a thread still waits at the
 * end of an execution and a signal has arrived since its last point, then the execution is none: there its
 * handler would run, as it does where the point comes later (mz_signal_left). Waits that change something when
 * they begin (condition variables, barriers, futexes) are different: the handler runs before or after the wait
 * only, and the report says so. sigwait and sigsuspend are woken.
 *
 * To send synchronizes with the handler, and with what waits for the signal. C11 does not say so, but every
 * kernel does. */
#define _GNU_SOURCE
#include "signal_state.h"

#include "pthread_objects.h"

#include <errno.h>

static struct mz_signal_thread *self(void) { return &mz_signal_threads[rt.self]; }

static uint64_t key_of(int slot)
{
    return rt.kill_used ? (uintptr_t)&mz_signal_process : (uintptr_t)&mz_signal_threads[slot];
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
    if (!mz_commit_replayed()) mz_commit_live(access, 0);
    MZ_RECORD(op, 0, 0, 0, 0, 0, slot, frame);
}

static void *signal_carrier(void *what);
static bool is_carrier(int slot) { return rt.run.threads[slot].start == signal_carrier; }

/* Can anybody send the running thread a signal? */
static bool alone(void)
{
    return !rt.signals_used || !rt.active || rt.section || rt.run.thread_count == 1 || is_carrier(rt.self);
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
    const struct mz_signal_thread *t = &mz_signal_threads[slot];
    return t->queue.count && mz_signal_set(&t->queue, true) & ~t->mask;
}

/* The handlers of what has arrived. */
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
    t->simple = 0; /* more than the operation that is about to be posted may follow */
    event(MZ_OP_SIGPOINT, rt.self, MZ_READS, pc, frame);
    enum mz_interruption result = has_arrived(rt.self) ? handle_arrived(pc, frame) : MZ_UNDISTURBED;
    t->simple = simple;
    return result;
}

bool mz_signal_interrupted(void)
{
    return has_arrived(rt.self) && handle_arrived(MZ_PC(), MZ_FRAME()) == MZ_INTERRUPTED;
}

/* A call that is about to wait: a handler that runs now ran before the call, or interrupts it. */
bool mz_signal_interrupts_wait(bool always, const void *pc, const void *frame)
{
    if (mz_likely(!rt.signals_used)) return false;
    enum mz_interruption how = mz_signal_point(pc, frame);
    if (how == MZ_UNDISTURBED || (how == MZ_DISTURBED && !always)) return false;
    return mz_choose_of(2, pc, frame);
}

/* A loop may wait for a handler to change a volatile variable. */
void mz_signal_point_volatile(const void *pc, const void *frame, bool write)
{
    if (alone()) return;
    if (!write) mz_spin(key_of(rt.self), pc, frame);
    mz_signal_point(pc, frame);
}

/* The running thread ends: what arrives later is lost, or goes to another thread. */
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

/* At the end of an execution: does a thread wait though its handler would run? */
bool mz_signal_left(void)
{
    for (uint64_t t = rt.signals_used ? rt.view.alive : 0; t; t &= t - 1) {
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
    mz_post(rt.self, MZ_OP_NONE, key_of(rt.self), MZ_READS, false, (void *)(uintptr_t)pc);
    rt.run.threads[rt.self].state = MZ_THREAD_SIGWAIT;
    mz_dispatch();
}

/* Does it sleep until this signal comes? */
static bool sleeps_for(int slot, int number)
{
    const struct mz_signal_thread *t = &mz_signal_threads[slot];
    return (t->waits_for & mz_signal_bit(number)) || (t->suspended && !(t->mask & mz_signal_bit(number)));
}

/* It looks again, within this step. */
static void rouse(int slot)
{
    struct mz_thread *t = &rt.run.threads[slot];
    mz_signal_keep(slot);
    mz_signal_threads[slot].waits_for = mz_signal_threads[slot].suspended = 0;
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
    struct mz_signal_queue *q = &mz_signal_threads[slot].queue;
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
    if (!rt.signals_used)
        mz_kernel_refuse(call, "a signal to another thread by a system call of the program's own",
                         "use pthread_kill");
}

static void place_of_call(const struct mz_call *call, const void **pc, const void **frame)
{
    uint64_t at = 0;
    *frame = call->context ? mz_kernel_frame(call->context, &at) : MZ_FRAME();
    *pc = call->context ? (const void *)(uintptr_t)at : MZ_PC();
}

/* In the step of a SIGSEND. */
static void give(int slot, const struct mz_signal *s, const struct mz_call *call)
{
    struct mz_signal_thread *t = &mz_signal_threads[slot];
    bool blocked = t->mask & mz_signal_bit(s->number);
    if (!blocked && mz_signal_ignored(s->number)) return;
    if (!blocked && mz_signal_process.actions[s->number].handler == (uintptr_t)SIG_DFL) {
        mz_signal_handle(s, call); /* ends the program, whatever the target is doing */
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
    if (!mz_signal_threads[slot].ended) {
        give(slot, s, call);
    } else if (t->detached) {
        mz_misuse("a signal to a detached thread that has ended", NULL);
    }
}

/* Who may take a signal that was sent to the process. */
static uint64_t takers(int number)
{
    uint64_t found = 0;
    for (uint64_t t = rt.view.alive; t; t &= t - 1) {
        int slot = __builtin_ctzll(t);
        const struct mz_signal_thread *s = &mz_signal_threads[slot];
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

/* Which thread takes it is a choice; who has blocked it before the choice is made does not. */
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
            mz_signal_put(&mz_signal_process.queue, s, call);
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

/* The process's signals that the thread has blocked, or that it will not see any more, go to another one: to
 * the first that takes them. (Which one is not explored: it is rare enough to be refused where it matters.) */
void mz_signal_rehome(int slot)
{
    static const struct mz_call nowhere = {.number = SYS_tgkill};
    struct mz_signal_thread *t = &mz_signal_threads[slot];
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
            mz_unseen("a signal to the process that its thread blocked meanwhile: only one other thread that "
                      "could take it does");
        mz_signal_keep_process();
        if (set)
            give(__builtin_ctzll(set), &s, &nowhere);
        else
            mz_signal_put(&mz_signal_process.queue, &s, &nowhere);
    }
}

/* Dispositions belong to all threads: a change of one is an operation on the signals of all. */
void mz_signal_change_all(const struct mz_call *call)
{
    const void *pc, *frame;
    if (alone()) return;
    place_of_call(call, &pc, &frame);
    for (uint32_t s = 1; !rt.kill_used && s < rt.slots_known; s++)
        mz_explore_unite(rt.x, key_of(0), key_of((int)s), 8);
    event(MZ_OP_SIGPOINT, rt.self, MZ_WRITES, pc, frame);
}
