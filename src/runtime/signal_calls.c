/* Signals that the program sends to itself, and what it says about signals.
 *
 * None of it reaches the kernel: dispositions, masks and pending signals are kept here, a mask for each
 * program thread, and go back to their first state before every execution. A signal that a thread sends to
 * itself or to its process is handled at once, on its own stack, within the call (raise, kill, or the change
 * of the mask that lets a pending one through): the handler is ordinary code of that thread. A signal to
 * another thread could arrive anywhere in it; that is refused.
 *
 * A crash remains a finding, also when the program has a handler for it. */
#define _GNU_SOURCE
#include "kernel.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNALS 64

struct action { /* as the kernel has it */
    uint64_t handler, flags, restorer, mask;
};

static struct {
    struct action actions[SIGNALS + 1];
    uint64_t pending; /* for the process */
    uint64_t first_mask;
} now, first;

static struct {
    uint64_t mask, pending;
    stack_t alternate;
} threads[MZ_SLOTS];
static bool changed;

static uint64_t bit(int number) { return (uint64_t)1 << (number - 1); }
static void *pointer(uint64_t a) { return (void *)(uintptr_t)a; }

#define UNBLOCKABLE (bit(SIGKILL) | bit(SIGSTOP))

/* Handlers from constructors become the program's first state; the kernel forgets them. */
void mz_signal_calls_init(void)
{
    const struct action none = {0}, ignore = {.handler = (uintptr_t)SIG_IGN};
    uint64_t open = 0;
    for (int n = 1; n <= SIGNALS; n++) {
        struct action *a = &first.actions[n];
        mz_sys(SYS_rt_sigaction, n, NULL, a, 8);
        if (a->handler > (uintptr_t)SIG_IGN) mz_sys(SYS_rt_sigaction, n, &none, NULL, 8);
    }
    mz_sys(SYS_rt_sigaction, SIGPIPE, &ignore, NULL, 8); /* a failed write tells */
    mz_sys(SYS_rt_sigprocmask, SIG_SETMASK, &open, &first.first_mask, 8);
    now = first;
    for (int s = 0; s < MZ_SLOTS; s++) {
        threads[s].mask = first.first_mask;
        threads[s].alternate.ss_flags = SS_DISABLE;
    }
}

void mz_signal_calls_reset(void)
{
    if (!changed) return;
    now = first;
    threads[0].mask = first.first_mask;
    threads[0].pending = 0;
    threads[0].alternate = (stack_t){.ss_flags = SS_DISABLE};
    changed = false;
}

void mz_signals_spawn(int parent, int child)
{
    threads[child].mask = threads[parent].mask;
    threads[child].pending = 0;
    threads[child].alternate.ss_flags = SS_DISABLE;
}

/* ---- delivery ---- */

static bool ignored(int number)
{
    uint64_t h = now.actions[number].handler;
    bool by_default = number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH;
    return h == (uintptr_t)SIG_IGN || (h == (uintptr_t)SIG_DFL && by_default);
}

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

static _Noreturn void die(int number, const struct mz_call *call)
{
    char text[96], *end = text + sizeof text;
    uint64_t pc = 0;
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        mz_kernel_refuse(call, "a signal that stops the process", "leave it out");
    char *t = mz_text_add(text, end, "the program was ended by ");
    t = mz_text_add(t, end, name_of(number));
    mz_text_add(t, end, ", which it sent to itself");
    if (!call->context) mz_finding_here(MZ_KIND_CRASH, text, number, 0);
    const void *frame = mz_kernel_frame(call->context, &pc);
    mz_finding_at(MZ_KIND_CRASH, text, number, 0, pc - 1, frame);
}

static void handle(int number, const siginfo_t *info, const struct mz_call *call)
{
    static ucontext_t nowhere;
    struct action a = now.actions[number];
    if (ignored(number)) return;
    if (a.handler == (uintptr_t)SIG_DFL) die(number, call);
    uint64_t before = threads[rt.self].mask;
    siginfo_t copy = *info;
    threads[rt.self].mask |= a.mask | (a.flags & SA_NODEFER ? 0 : bit(number));
    changed = true;
    if (a.flags & SA_RESETHAND) now.actions[number].handler = (uintptr_t)SIG_DFL;
    ((void (*)(int, siginfo_t *, void *))pointer(a.handler))(number, &copy,
                                                             call->context ? call->context : &nowhere);
    mz_undo_barrier(); /* there may have been events since */
    threads[rt.self].mask = before;
}

static siginfo_t information(int number, int code)
{
    siginfo_t info = {.si_signo = number, .si_code = code};
    info.si_pid = (pid_t)mz_sys(SYS_getpid);
    info.si_uid = (uid_t)mz_sys(SYS_getuid);
    return info;
}

/* Pending signals that nothing holds back any more. */
static void let_through(const struct mz_call *call)
{
    uint64_t ready;
    while ((ready = (threads[rt.self].pending | now.pending) & ~threads[rt.self].mask)) {
        int number = __builtin_ctzll(ready) + 1;
        siginfo_t info = information(number, threads[rt.self].pending & bit(number) ? SI_TKILL : SI_USER);
        mz_undo_barrier();
        if (threads[rt.self].pending & bit(number))
            threads[rt.self].pending &= ~bit(number);
        else
            now.pending &= ~bit(number);
        handle(number, &info, call);
    }
}

static void send_here(int number, const siginfo_t *info, bool process, const struct mz_call *call)
{
    if (!(threads[rt.self].mask & bit(number))) {
        handle(number, info, call);
        let_through(call);
        return;
    }
    changed = true;
    if (!process) {
        threads[rt.self].pending |= bit(number);
        return;
    }
    for (uint64_t others = rt.view.alive & ~((uint64_t)1 << rt.self); others; others &= others - 1)
        if (!(threads[__builtin_ctzll(others)].mask & bit(number)) && !ignored(number))
            mz_kernel_refuse(call, "a signal that another thread would handle",
                             "call what the handler does from that thread");
    now.pending |= bit(number);
}

void mz_signals_raise(int number, void *context)
{
    struct mz_call call = {SYS_tgkill, {0}, context};
    siginfo_t info = information(number, SI_TKILL);
    send_here(number, &info, false, &call);
}

/* abort(): a handler may leave by longjmp; when it returns, the program ends all the same. */
void mz_signals_abort(void)
{
    struct mz_call call = {SYS_tgkill, {0}, NULL};
    siginfo_t info = information(SIGABRT, SI_TKILL);
    threads[rt.self].mask &= ~bit(SIGABRT);
    changed = true;
    if (now.actions[SIGABRT].handler > (uintptr_t)SIG_IGN) handle(SIGABRT, &info, &call);
}

/* ---- calls ---- */

static bool shows_crashes(int n)
{
    return n == SIGSEGV || n == SIGBUS || n == SIGFPE || n == SIGILL || n == SIGTRAP;
}

long mz_signals_action(struct mz_call *call)
{
    const struct action *new = pointer(call->a[1]);
    struct action *old = pointer(call->a[2]);
    int n = (int)call->a[0];
    if (n < 1 || n > SIGNALS || (new &&bit(n) & UNBLOCKABLE)) return -EINVAL;
    struct action before = now.actions[n];
    if (new) {
        if (shows_crashes(n) && new->handler > (uintptr_t)SIG_IGN)
            mz_note("handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP only run for signals that the "
                    "program "
                    "sends: crashes are findings");
        now.actions[n] = *new;
        now.actions[n].mask &= ~UNBLOCKABLE;
        changed = true;
        if (ignored(n)) threads[rt.self].pending &= ~bit(n), now.pending &= ~bit(n);
    }
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    return 0;
}

long mz_signals_mask(struct mz_call *call)
{
    const uint64_t *set = pointer(call->a[1]);
    uint64_t *old = pointer(call->a[2]), *mask = &threads[rt.self].mask, before = *mask;
    if (set) {
        switch (call->a[0]) {
        case SIG_BLOCK:
            *mask |= *set;
            break;
        case SIG_UNBLOCK:
            *mask &= ~*set;
            break;
        case SIG_SETMASK:
            *mask = *set;
            break;
        default:
            return -EINVAL;
        }
        *mask &= ~UNBLOCKABLE;
        changed = true;
    }
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    let_through(call);
    return 0;
}

long mz_signals_pending(struct mz_call *call)
{
    uint64_t *set = pointer(call->a[0]);
    mz_snapshot_touch(set, sizeof *set);
    *set = (threads[rt.self].pending | now.pending) & threads[rt.self].mask;
    return 0;
}

long mz_signals_altstack(struct mz_call *call)
{
    const stack_t *new = pointer(call->a[0]);
    stack_t *old = pointer(call->a[1]), before = threads[rt.self].alternate;
    if (new) threads[rt.self].alternate = *new, changed = true;
    if (old) mz_snapshot_touch(old, sizeof *old), *old = before;
    return 0;
}

/* sigwait and its like: only for what is already there. */
long mz_signals_wait(struct mz_call *call)
{
    const uint64_t *set = pointer(call->a[0]);
    const struct timespec *limit = pointer(call->a[2]);
    uint64_t here = threads[rt.self].pending & *set, ready = here | (now.pending & *set);
    if (!ready) {
        if (limit && !limit->tv_sec && !limit->tv_nsec) return -EAGAIN;
        mz_kernel_refuse(call, "waiting for a signal that nobody has sent yet",
                         "wait on a condition variable");
    }
    int number = __builtin_ctzll(ready) + 1;
    if (here & bit(number))
        threads[rt.self].pending &= ~bit(number);
    else
        now.pending &= ~bit(number);
    if (call->a[1]) {
        mz_snapshot_touch(pointer(call->a[1]), sizeof(siginfo_t));
        *(siginfo_t *)pointer(call->a[1]) = information(number, here & bit(number) ? SI_TKILL : SI_USER);
    }
    return number;
}

static int slot_of_tid(uint64_t tid)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if ((uint64_t)rt.slots[s].tid == tid && (rt.view.alive >> s & 1)) return (int)s;
    return -1;
}

/* kill(pid, n), tkill(tid, n), tgkill(pid, tid, n), rt_sigqueueinfo(pid, n, info),
 * rt_tgsigqueueinfo(pid, tid, n, info) */
long mz_signals_kill(struct mz_call *call)
{
    long c = call->number;
    bool process = c == SYS_kill || c == SYS_rt_sigqueueinfo,
         group = c == SYS_tgkill || c == SYS_rt_tgsigqueueinfo;
    int number = (int)call->a[group ? 2 : 1], pid = (int)mz_sys(SYS_getpid);
    siginfo_t info = information(number, process ? SI_USER : SI_TKILL);
    if (number < 0 || number > SIGNALS) return -EINVAL;
    if (c == SYS_rt_sigqueueinfo) info = *(const siginfo_t *)pointer(call->a[2]);
    if (c == SYS_rt_tgsigqueueinfo) info = *(const siginfo_t *)pointer(call->a[3]);
    if (process) {
        if (!number && (int)call->a[0] != 0) return mz_sys(SYS_kill, call->a[0], 0);
        if ((int)call->a[0] != pid && (int)call->a[0] != 0)
            mz_kernel_refuse(call, "a signal to another process", "check one process at a time");
        if (number) send_here(number, &info, true, call);
        return 0;
    }
    int slot = slot_of_tid(call->a[group ? 1 : 0]);
    if (slot < 0) return -ESRCH;
    if (!number || (slot != rt.self && ignored(number))) return 0;
    if (slot != rt.self)
        mz_kernel_refuse(call, "a signal to another thread", "call what the handler does from that thread");
    send_here(number, &info, false, call);
    return 0;
}
