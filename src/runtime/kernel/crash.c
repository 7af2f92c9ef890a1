/* Signals that the program itself causes: the first write to a protected page (snapshot.c), crashes, and the
 * timer that ends endless loops. Only mz_signals_init and mz_signal_install are called from outside.
 *
 * The signal handler does not report a crash itself. It returns into crash_landing, which reports the crash
 * as code of the fiber that crashed. crash_landing has its own stack, because the fiber's stack may have
 * overflowed. */
#define _GNU_SOURCE
#include "base/region.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/room.h"
#include "runtime/loops/loops.h"
#include "runtime/rewind/rewind.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK ((size_t)256 << 10)

#define crash mz_kernel_room.crash
#define seen  mz_kernel_room.progress

__asm__(".pushsection .text\n"
        ".hidden mz_signal_return\n"
        ".globl mz_signal_return\n"
        ".type mz_signal_return, @function\n"
        "mz_signal_return:\n\t"
        "movl $15, %eax\n\t"
        "syscall\n"
        ".popsection");

/* Call the kernel's sigaction. `function` NULL: the default action. */
void mz_signal_install(int number, void (*function)(int, siginfo_t *, void *), int flags)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        uint64_t flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {function, (uint64_t)flags | 0x04000000u /* SA_RESTORER */, mz_signal_return, 0};
    MZ_ASSERT(mz_sys(SYS_rt_sigaction, number, &action, NULL, sizeof action.mask) == 0);
}

static const char *describe(void)
{
    switch (crash.signal) {
    case SIGSEGV:
        if (mz_fiber_guard_contains(rt.self, crash.address)) return "stack overflow";
        return crash.address < 4096 ? "null pointer access (SIGSEGV)" : "invalid memory access (SIGSEGV)";
    case SIGBUS:
        return "bus error (SIGBUS)";
    case SIGFPE:
        return "arithmetic error, such as division by zero (SIGFPE)";
    case SIGILL:
        return "illegal instruction or trap (SIGILL)";
    case SIGTRAP:
        return "trap (SIGTRAP)";
    default:
        return "signal";
    }
}

static _Noreturn void crash_landing(void)
{
    mz_finding_at(MZ_KIND_CRASH, describe(), crash.signal, crash.address, crash.pc, crash.frame);
}

static void handler(int signal, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    uint64_t address = (uintptr_t)info->si_addr;
    if (signal == SIGSEGV && mz_snapshot_fault(address)) return;
    if (signal == SIGTRAP && mz_idle_step(context)) return;
    if (!rt.active) {
        mz_signal_install(signal, NULL, 0);
        return;
    }
    crash.signal = signal;
    crash.address = signal == SIGFPE || signal == SIGILL ? 0 : address;
    crash.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
    crash.frame = (void *)u->uc_mcontext.gregs[REG_RBP];
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(crash.stack + STACK - 128 - 8);
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)crash_landing;
}

/* A thread that never posts a visible operation would run for ever. The timer counts processor time, so a
 * busy machine does not matter. */
#define TICK     100000 /* microseconds */
#define PATIENCE 50     /* ticks */

static void look_for_progress(int number, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    (void)number, (void)info;
    uint64_t reads = mz_spin_reads_counted(), hooks = rt.hooks + reads;
    bool reading = reads != seen.reads;
    seen.reads = reads;
    bool progress = seen.execution != rt.execution || seen.depth != rt.path->depth;
    seen.execution = rt.execution;
    seen.depth = rt.path->depth;
    seen.idle = progress || !rt.active ? 0 : seen.idle + 1;
    if (seen.idle && hooks == seen.hooks)
        mz_idle_look(context);
    else
        mz_idle_none();
    seen.hooks = hooks;
    if (seen.idle < PATIENCE) return;
    if (mz_spin_tired()) {
        seen.idle = PATIENCE / 2; /* gives the thread time to reach a read */
        if (!reading) mz_idle_stop(context);
        return;
    }
    struct mz_channel *c = rt.channel;
    mz_walk(&c->end_place, rt.self, (void *)u->uc_mcontext.gregs[REG_RBP]);
    for (int i = MZ_MAX_FRAMES - 1; i > 0; i--) c->end_place.pc[i] = c->end_place.pc[i - 1];
    c->end_place.pc[0] = (uint64_t)u->uc_mcontext.gregs[REG_RIP] + 1;
    mz_text_copy(c->end_text, sizeof c->end_text,
                 "a thread ran for 5 seconds of processor time without any shared operation");
    c->end_thread = rt.self;
    c->end = MZ_END_STEPS;
    rt.active = false;
    mz_quit(0);
}

void mz_signals_init(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    const struct itimerval ticks = {{0, TICK}, {0, TICK}};
    const stack_t alternate = {.ss_sp = mz_region_reserve(STACK), .ss_size = STACK};
    mz_idle_none();
    crash.stack = mz_region_reserve(STACK);
    MZ_ASSERT(alternate.ss_sp && crash.stack && mz_sys(SYS_sigaltstack, &alternate, NULL) == 0);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        mz_signal_install(signals[i], handler, SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
    mz_signal_install(SIGVTALRM, look_for_progress, SA_SIGINFO | SA_ONSTACK | SA_RESTART);
    MZ_ASSERT(mz_sys(SYS_setitimer, ITIMER_VIRTUAL, &ticks, NULL) == 0);
}
