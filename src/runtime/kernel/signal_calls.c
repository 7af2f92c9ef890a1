/* The program's calls about signals. signal_delivery.c delivers signals from thread to thread. For kernel.c.
 *
 * None of these calls reaches the kernel: the runtime keeps dispositions, masks (one for each program thread)
 * and pending signals itself. A signal that a thread sends to itself is handled at once, on its own stack,
 * within the call: raise, or the change of the mask that unblocks a pending signal. The handler is ordinary
 * code of that thread.
 *
 * If threads can send signals to each other (rt.uses.signals), each call that looks at the signals of its
 * thread is a visible operation on them. In other programs, no other thread can change them.
 *
 * A crash is a finding, even if the program has a handler for its signal. */
#define _GNU_SOURCE
#include "runtime/core/libc_functions.h"
#include "runtime/core/operation.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/kernel/signal_state.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <ucontext.h>
#include <unistd.h>

static void *pointer(uint64_t a) { return (void *)(uintptr_t)a; }
static uint64_t bit(int number) { return mz_signal_bit(number); }
static struct mz_signal_thread *self(void) { return &si.threads[rt.self]; }

#define UNBLOCKABLE (bit(SIGKILL) | bit(SIGSTOP))

void mz_signal_keep(int slot)
{
    mz_keep_state(&si.threads[slot], sizeof si.threads[slot]);
    si.changed = true;
}

void mz_signal_keep_process(void)
{
    mz_keep_state(&si.process, sizeof si.process);
    si.changed = true;
}

static void begin_thread(int slot, uint64_t mask)
{
    si.threads[slot] = (struct mz_signal_thread){.mask = mask, .alternate = {.ss_flags = SS_DISABLE}};
}

/* Take over the handlers that constructors have installed as the program's first state, and remove them from
 * the kernel. */
void mz_signal_calls_init(void)
{
    const struct mz_signal_action none = {0}, ignore = {.handler = (uintptr_t)SIG_IGN};
    uint64_t open = 0;
    for (int n = 1; n <= MZ_SIGNALS; n++) {
        struct mz_signal_action *a = &si.first.actions[n];
        mz_sys(SYS_rt_sigaction, n, NULL, a, 8);
        if (a->handler > (uintptr_t)SIG_IGN) mz_sys(SYS_rt_sigaction, n, &none, NULL, 8);
    }
    mz_sys(SYS_rt_sigaction, SIGPIPE, &ignore, NULL, 8); /* perform() raises it */
    mz_sys(SYS_rt_sigprocmask, SIG_SETMASK, &open, &si.first_mask, 8);
    si.process = si.first;
    for (int s = 0; s < MZ_SLOTS; s++) begin_thread(s, si.first_mask);
}

void mz_signal_calls_reset(void)
{
    if (!si.changed) return;
    si.process = si.first;
    for (uint32_t s = 0; s < rt.slots_known; s++) begin_thread((int)s, si.first_mask);
    si.changed = false;
}

void mz_signals_spawn(int parent, int child)
{
    struct mz_signal_thread *c = &si.threads[child];
    if (c->mask == si.threads[parent].mask && !c->ended && !c->queue.count &&
        c->alternate.ss_flags == SS_DISABLE)
        return;
    mz_signal_keep(child);
    begin_thread(child, si.threads[parent].mask);
}

/* ---- queues ---- */

void mz_signal_put(struct mz_signal_queue *q, const struct mz_signal *s, const struct mz_call *call)
{
    for (uint64_t i = 0; s->number < SIGRTMIN && i < q->count; i++)
        if (q->entries[i].number == s->number) return;
    if (q->count == MZ_SIGNAL_QUEUE)
        mz_kernel_refuse(call, "more than 16 signals that wait to be handled", "send fewer");
    q->entries[q->count++] = *s;
}

uint64_t mz_signal_set(const struct mz_signal_queue *q, bool arrived)
{
    uint64_t set = 0;
    for (uint64_t i = 0; i < q->count; i++)
        if (q->entries[i].arrived || !arrived) set |= bit(q->entries[i].number);
    return set;
}

/* Take from the queue the oldest signal with the lowest number in `set`; with `arrived`, only signals that
 * have arrived. Return false if there is none. */
bool mz_signal_take(struct mz_signal_queue *q, uint64_t set, bool arrived, struct mz_signal *out)
{
    set &= mz_signal_set(q, arrived);
    if (!set) return false;
    int number = __builtin_ctzll(set) + 1;
    uint64_t i = 0;
    while (q->entries[i].number != number || (arrived && !q->entries[i].arrived)) i++;
    *out = q->entries[i];
    q->count--;
    for (; i < q->count; i++) q->entries[i] = q->entries[i + 1];
    q->entries[q->count] = (struct mz_signal){0};
    return true;
}

/* ---- handling ---- */

bool mz_signal_ignored(int number)
{
    uint64_t h = si.process.actions[number].handler;
    bool by_default = number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH;
    return h == (uintptr_t)SIG_IGN || (h == (uintptr_t)SIG_DFL && by_default);
}

bool mz_signal_restarts(int number) { return si.process.actions[number].flags & SA_RESTART; }

static const char *name_of(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
        [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM"};
    if (number < (int)(sizeof names / sizeof *names) && names[number]) return names[number];
    return "a signal";
}

static _Noreturn void die(int number, bool by_other, const struct mz_call *call)
{
    char text[96], *end = text + sizeof text;
    uint64_t pc = 0;
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        mz_kernel_refuse(call, "a signal that stops the process", "leave it out");
    char *t = mz_text_add(text, end, "the program was ended by ");
    t = mz_text_add(t, end, name_of(number));
    mz_text_add(t, end, by_other ? ", which another thread sent" : ", which it sent to itself");
    if (!call->context) mz_finding_here(MZ_KIND_CRASH, text, number, 0);
    const void *frame = mz_kernel_frame(call->context, &pc);
    mz_finding_at(MZ_KIND_CRASH, text, number, 0, pc - 1, frame);
}

static siginfo_t information(const struct mz_signal *s)
{
    siginfo_t info = {.si_signo = s->number, .si_code = s->code};
    info.si_pid = (pid_t)mz_sys(SYS_getpid);
    info.si_uid = (uid_t)mz_sys(SYS_getuid);
    info.si_value.sival_ptr = pointer(s->value);
    return info;
}

void mz_signal_handle(const struct mz_signal *s, const struct mz_call *call)
{
    int number = s->number, error = errno;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the array is static */
    struct mz_signal_action a = si.process.actions[number];
    if (mz_signal_ignored(number)) return;
    if (rt.trial) mz_fiber_leave();
    if (a.handler == (uintptr_t)SIG_DFL) die(number, s->sender != rt.self + 1u || s->arrived, call);
    uint64_t before = self()->mask;
    siginfo_t info = information(s);
    mz_changed();
    mz_signal_keep(rt.self);
    self()->mask |= a.mask | (a.flags & SA_NODEFER ? 0 : bit(number));
    if (a.flags & SA_RESETHAND) {
        mz_signal_keep_process();
        si.process.actions[number].handler = (uintptr_t)SIG_DFL;
    }
    MZ_RECORD(MZ_OP_HANDLER, 0, 0, MZ_RECORD_HAS_VALUE, (uint64_t)number, 0, 0, MZ_FRAME());
    ((void (*)(int, siginfo_t *, void *))pointer(a.handler))(number, &info,
                                                             call->context ? call->context : &si.nowhere);
    mz_signal_keep(rt.self); /* again: the handler may have made events */
    self()->mask = before;
    if (s->arrived) errno = error; /* the interrupted code does not expect errno to change */
}

/* Handle the pending signals that the mask does not block any more. */
static void let_through(const struct mz_call *call)
{
    struct mz_signal s;
    uint64_t open;
    while ((open = ~self()->mask) &
           (mz_signal_set(&self()->queue, false) | mz_signal_set(&si.process.queue, false))) {
        mz_signal_keep(rt.self);
        mz_signal_keep_process();
        if (!mz_signal_take(&self()->queue, open, false, &s))
            mz_signal_take(&si.process.queue, open, false, &s);
        mz_signal_handle(&s, call);
    }
}

static void send_here(const struct mz_signal *s, const struct mz_call *call)
{
    if (!(self()->mask & bit(s->number))) {
        mz_signal_handle(s, call);
        let_through(call);
        return;
    }
    mz_signal_keep(rt.self);
    mz_signal_put(&self()->queue, s, call);
}

static void look(const struct mz_call *call, enum mz_access access)
{
    uint64_t pc = 0;
    const void *frame = call->context ? mz_kernel_frame(call->context, &pc) : MZ_FRAME();
    mz_signal_look(call->context ? pointer(pc) : MZ_PC(), frame, access);
}

/* A call begins: signals may interrupt the thread before it. */
static void enter(const struct mz_call *call)
{
    uint64_t pc = 0;
    if (!rt.uses.signals) return;
    const void *frame = call->context ? mz_kernel_frame(call->context, &pc) : MZ_FRAME();
    mz_signal_point(call->context ? pointer(pc) : MZ_PC(), frame);
}

void mz_signals_raise(int number, void *context)
{
    struct mz_call call = {.number = SYS_tgkill, .context = context};
    send_here(&(struct mz_signal){.number = number, .code = SI_TKILL, .sender = (uint8_t)(rt.self + 1)},
              &call);
}

/* abort(): run the program's handler for SIGABRT. The handler may leave by longjmp; if it returns, abort()
 * ends the program. */
void mz_signals_abort(void)
{
    struct mz_call call = {.number = SYS_tgkill};
    mz_signal_keep(rt.self);
    self()->mask &= ~bit(SIGABRT);
    if (si.process.actions[SIGABRT].handler > (uintptr_t)SIG_IGN)
        mz_signal_handle(
            &(struct mz_signal){.number = SIGABRT, .code = SI_TKILL, .sender = (uint8_t)(rt.self + 1)},
            &call);
}

/* ---- calls ---- */

static bool shows_crashes(int n)
{
    return n == SIGSEGV || n == SIGBUS || n == SIGFPE || n == SIGILL || n == SIGTRAP;
}

/* The program ignores this signal from now on: drop the pending ones. */
static void forget_ignored(int number)
{
    struct mz_signal dropped;
    while (mz_signal_take(&si.process.queue, bit(number), false, &dropped)) continue;
    for (uint32_t s = 0; s < rt.slots_known; s++) {
        if (!(mz_signal_set(&si.threads[s].queue, false) & bit(number))) continue;
        mz_signal_keep((int)s);
        while (mz_signal_take(&si.threads[s].queue, bit(number), false, &dropped)) continue;
    }
}

long mz_signals_action(struct mz_call *call)
{
    const struct mz_signal_action *new = pointer(call->a[1]);
    struct mz_signal_action *old = pointer(call->a[2]);
    int n = (int)call->a[0];
    if (n < 1 || n > MZ_SIGNALS || (new &&bit(n) & UNBLOCKABLE)) return -EINVAL;
    enter(call);
    if (new)
        mz_signal_change_all(call);
    else
        look(call, MZ_READS);
    struct mz_signal_action before = si.process.actions[n];
    if (new) {
        if (shows_crashes(n) && new->handler > (uintptr_t)SIG_IGN)
            mz_unseen(
                "handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP only run for signals that the "
                "program sends: crashes are findings");
        mz_signal_keep_process();
        si.process.actions[n] = *new;
        si.process.actions[n].mask &= ~UNBLOCKABLE;
        if (mz_signal_ignored(n)) forget_ignored(n);
    }
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    return 0;
}

long mz_signals_mask(struct mz_call *call)
{
    const uint64_t *set = pointer(call->a[1]);
    uint64_t *old = pointer(call->a[2]), *mask = &self()->mask, before = *mask;
    if (set) {
        if (call->a[0] != SIG_BLOCK && call->a[0] != SIG_UNBLOCK && call->a[0] != SIG_SETMASK) return -EINVAL;
        uint64_t wish = *set & ~UNBLOCKABLE;
        enter(call);
        look(call, MZ_WRITES);
        mz_signal_keep(rt.self);
        *mask = call->a[0] == SIG_BLOCK ? before | wish : call->a[0] == SIG_UNBLOCK ? before & ~wish : wish;
        mz_signal_rehome(rt.self);
    }
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    let_through(call);
    return 0;
}

long mz_signals_pending(struct mz_call *call)
{
    uint64_t *set = pointer(call->a[0]);
    look(call, MZ_READS);
    mz_snapshot_touch(set, sizeof *set);
    *set = (mz_signal_set(&self()->queue, false) | mz_signal_set(&si.process.queue, false)) & self()->mask;
    return 0;
}

long mz_signals_altstack(struct mz_call *call)
{
    const stack_t *new = pointer(call->a[0]);
    stack_t *old = pointer(call->a[1]), before = self()->alternate;
    if (new) mz_signal_keep(rt.self), self()->alternate = *new;
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    return 0;
}

static bool take_either(uint64_t set, struct mz_signal *s)
{
    mz_signal_keep(rt.self);
    mz_signal_keep_process();
    return mz_signal_take(&self()->queue, set, false, s) || mz_signal_take(&si.process.queue, set, false, s);
}

/* sigwait and similar calls. With a time limit the call does not wait, as with timed locks: if no signal is
 * pending, it times out. */
long mz_signals_wait(struct mz_call *call)
{
    const uint64_t set = *(const uint64_t *)pointer(call->a[0]);
    const struct timespec *limit = pointer(call->a[2]);
    struct mz_signal s;
    enter(call);
    for (;;) {
        look(call, MZ_WRITES);
        if (take_either(set, &s)) break;
        if (limit && (limit->tv_sec || limit->tv_nsec)) mz_time_passes_by(limit, MZ_PC());
        if (limit) return -EAGAIN;
        mz_signal_sleep(&self()->waits_for, set, call);
        if (mz_signal_interrupted()) return -EINTR;
    }
    if (call->a[1]) {
        mz_snapshot_touch(pointer(call->a[1]), sizeof(siginfo_t));
        *(siginfo_t *)pointer(call->a[1]) = information(&s);
    }
    return s.number;
}

/* Use the mask and block until a handler has run. An ignored signal does not end the wait. */
static long suspend(uint64_t mask, struct mz_call *call)
{
    uint64_t before = self()->mask;
    struct mz_signal s;
    enter(call);
    look(call, MZ_WRITES);
    mz_signal_keep(rt.self);
    self()->mask = mask & ~UNBLOCKABLE;
    while (!take_either(~self()->mask, &s)) {
        mz_signal_sleep(&self()->suspended, 1, call);
        look(call, MZ_WRITES);
    }
    mz_signal_handle(&s, call);
    mz_signal_keep(rt.self);
    self()->mask = before;
    let_through(call);
    return -EINTR;
}

long mz_signals_suspend(struct mz_call *call)
{
    return suspend(*(const uint64_t *)pointer(call->a[0]), call);
}

long mz_signals_pause(struct mz_call *call) { return suspend(self()->mask, call); }

static int slot_of_tid(uint64_t tid)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if ((uint64_t)rt.slots[s].tid == tid && rt.run.threads[s].state != MZ_THREAD_ABSENT) return (int)s;
    return -1;
}

static long to_thread(int slot, const struct mz_signal *s, const struct mz_call *call)
{
    if (!s->number) return 0;
    if (slot != rt.self) {
        mz_signal_send(slot, s, call);
        return 0;
    }
    enter(call);
    look(call, MZ_READS);
    send_here(s, call);
    return 0;
}

/* kill(pid, n), tkill(tid, n), tgkill(pid, tid, n), rt_sigqueueinfo(pid, n, info),
 * rt_tgsigqueueinfo(pid, tid, n, info) */
long mz_signals_kill(struct mz_call *call)
{
    long c = call->number;
    bool process = c == SYS_kill || c == SYS_rt_sigqueueinfo,
         group = c == SYS_tgkill || c == SYS_rt_tgsigqueueinfo;
    const siginfo_t *info = pointer(c == SYS_rt_sigqueueinfo     ? call->a[2]
                                    : c == SYS_rt_tgsigqueueinfo ? call->a[3]
                                                                 : 0);
    int number = (int)call->a[group ? 2 : 1], pid = (int)mz_sys(SYS_getpid);
    struct mz_signal s = {.number = number,
                          .code = info      ? info->si_code
                                  : process ? SI_USER
                                            : SI_TKILL,
                          .value = info ? (uintptr_t)info->si_value.sival_ptr : 0,
                          .process = process,
                          .sender = (uint8_t)(rt.self + 1)};
    if (number < 0 || number > MZ_SIGNALS) return -EINVAL;
    if (process) {
        if (!number && (int)call->a[0] != 0) return mz_sys(SYS_kill, call->a[0], 0);
        if ((int)call->a[0] != pid && (int)call->a[0] != 0)
            mz_kernel_refuse(call, "a signal to another process", "check one process at a time");
        if (number) mz_signal_send_process(&s, call);
        return 0;
    }
    int slot = slot_of_tid(call->a[group ? 1 : 0]);
    return slot < 0 ? -ESRCH : to_thread(slot, &s, call);
}

static int thread_kill(pthread_t thread, const struct mz_signal *s)
{
    struct mz_call call = {.number = SYS_tgkill};
    int slot = rt.active ? mz_thread_slot((uint64_t)thread) : -1;
    if (slot < 0) return ESRCH;
    if (s->number < 0 || s->number > MZ_SIGNALS) return EINVAL;
    if (rt.run.threads[slot].joined && rt.run.threads[slot].state == MZ_THREAD_FINISHED)
        mz_misuse("pthread_kill of a thread that was already joined", NULL);
    return (int)to_thread(slot, s, &call);
}

MZ_EXPORT int pthread_kill(pthread_t thread, int number)
{
    return thread_kill(
        thread, &(struct mz_signal){.number = number, .code = SI_TKILL, .sender = (uint8_t)(rt.self + 1)});
}
MZ_EXPORT int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
    const struct mz_signal s = {.number = number,
                                .code = SI_QUEUE,
                                .value = (uintptr_t)value.sival_ptr,
                                .sender = (uint8_t)(rt.self + 1)};
    return thread_kill(thread, &s);
}

/* Check what sigwait and similar calls write for data races after the wait: the sending of the signal happens
 * before the write. */
typedef int wait_fn(const sigset_t *set, siginfo_t *info, const struct timespec *limit);

static int wait_for(wait_fn *libc, const sigset_t *set, siginfo_t *out, const struct timespec *limit,
                    void *pc, const void *frame)
{
    siginfo_t info;
    mz_test_cancel(pc);
    int number = libc(set, &info, limit);
    if (number < 0 || !out) return number;
    mz_access_by(out, sizeof *out, true, pc, frame);
    mz_keep_program(out, sizeof *out);
    mz_raw_memcpy(out, &info, sizeof info);
    return number;
}

static wait_fn *libc_wait(void) { return (wait_fn *)mz_libc_function(MZ_LIBC_sigtimedwait, "sigtimedwait"); }

MZ_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    return wait_for(libc_wait(), set, info, limit, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return wait_for(libc_wait(), set, info, NULL, MZ_PC(), MZ_FRAME());
}

MZ_EXPORT int sigwait(const sigset_t *set, int *number)
{
    int error = errno, found;
    do {
        found = wait_for(libc_wait(), set, NULL, NULL, MZ_PC(), MZ_FRAME());
    } while (found < 0 && errno == EINTR);
    if (found < 0) {
        found = errno;
        errno = error;
        return found;
    }
    errno = error;
    mz_access_by(number, sizeof *number, true, MZ_PC(), MZ_FRAME());
    mz_keep_program(number, sizeof *number);
    *number = found;
    return 0;
}
