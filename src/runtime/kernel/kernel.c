/* Catches the system calls of the program, checks them and performs them.
 *
 * A seccomp filter lets only this library enter the kernel. Every other system call raises SIGSYS instead,
 * wherever it is made (the program, libc, the loader, inline assembly). The signal handler runs on the stack
 * of the calling fiber. So it may do everything that a function called by the thread may do: switch fibers,
 * run handlers of the program, end the thread. kernel.def says what happens then:
 *
 *  - Memory that the kernel will write is unprotected first (snapshot.c), or the call would fail with EFAULT.
 *  - Calls that change the kernel's state for the process (mappings, descriptors, signals, ...) go to the
 *    file that can undo the change before the next execution.
 *  - Calls that affect other processes, or that take effect later, are refused by name.
 *
 * All fibers run on one OS thread, so a call that blocks, blocks the program. The channel says that the
 * target is inside a call, and where. The command ends a target that does not return from the call. */
#define _GNU_SOURCE
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/core/operation.h"
#include "runtime/memory/memory.h"
#include "runtime/rewind/rewind.h"
#include "runtime/sync/sync.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <linux/futex.h>

enum { FD = 1, NEW = 2, MAKES_TWO = 4, CONNECTS = 8, SOCKET = 16, THREAD = 32, SECOND = 64 };
enum size_of { NONE, BYTES, ARGUMENT, ELEMENTS, VECTOR, MESSAGE, LENGTH, PAGES };

struct output {
    uint8_t argument, how, by;
    uint16_t size;
};

struct rule {
    const char *name;
    uint8_t flags;
    struct output outputs[4];
    long (*own)(struct mz_call *);
    const char *refusal;
};

#define CALLS 512

/* ---- calls that the runtime performs itself ---- */

static void *pointer(uint64_t a) { return (void *)(uintptr_t)a; }

static long yield(struct mz_call *call)
{
    (void)call;
    return sched_yield();
}

static long own_gettid(struct mz_call *call)
{
    (void)call;
    return rt.slots[rt.self].tid;
}

static long own_prctl(struct mz_call *call)
{
    const char *name = mz_name_of(rt.self);
    switch (call->a[0]) {
    case PR_SET_NAME:
        mz_name_give(rt.self, pointer(call->a[1]));
        return 0;
    case PR_GET_NAME:
        mz_kernel_will_write(call, pointer(call->a[1]), 16);
        if (name)
            mz_raw_memcpy(pointer(call->a[1]), name, 16);
        else if (mz_sys(SYS_prctl, PR_GET_NAME, call->a[1]) != 0)
            return -EFAULT;
        mz_kernel_has_written(call, pointer(call->a[1]), 16);
        return 0;
    case PR_GET_DUMPABLE:
    case PR_CAPBSET_READ:
    case PR_GET_NO_NEW_PRIVS:
        return mz_sys(SYS_prctl, call->a[0], call->a[1]);
    default:
        mz_kernel_refuse(call, "prctl of this kind", "leave it out of the test");
    }
}

static long own_arch_prctl(struct mz_call *call)
{
    if (call->a[0] == ARCH_SET_FS || call->a[0] == ARCH_SET_GS)
        mz_kernel_refuse(call, "changing the thread pointer", "use __thread variables");
    if (call->a[0] == ARCH_GET_FS || call->a[0] == ARCH_GET_GS) mz_snapshot_touch(pointer(call->a[1]), 8);
    return mz_sys(SYS_arch_prctl, call->a[0], call->a[1]);
}

static long own_exit(struct mz_call *call)
{
    if (call->number == SYS_exit) mz_kernel_refuse(call, "the system call exit", "use pthread_exit");
    mz_exit_program((int)call->a[0], false);
}

static bool from_program(const struct mz_call *call);

static bool is_wait(const struct mz_call *call)
{
    uint64_t op = call->a[1] & (uint64_t)FUTEX_CMD_MASK;
    return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI;
}

static long own_futex(struct mz_call *call)
{
    uint64_t op = call->a[1] & (uint64_t)FUTEX_CMD_MASK;
    if (from_program(call)) { /* by an instruction in the program; futex.c handles syscall() */
        uint64_t pc;
        const void *frame = mz_kernel_frame(call->context, &pc);
        return mz_futex(call->a[0], (int)call->a[1], (uint32_t)call->a[2], pointer(call->a[3]), call->a[4],
                        (uint32_t)call->a[5], false, pointer(pc), frame);
    }
    if (!is_wait(call)) return 0;
    if (op != FUTEX_LOCK_PI && *(volatile uint32_t *)pointer(call->a[0]) != (uint32_t)call->a[2])
        return -EAGAIN;
    mz_kernel_refuse(call, "waiting for a lock inside the C library (a FILE, dlopen)",
                     "do not let a thread block while it holds such a lock (flockfile)");
}

static long own_clock_gettime(struct mz_call *call)
{
    return clock_gettime((clockid_t)call->a[0], pointer(call->a[1]));
}
static long own_gettimeofday(struct mz_call *call) { return gettimeofday(pointer(call->a[0]), NULL); }
static long own_time(struct mz_call *call) { return time(pointer(call->a[0])); }
static long own_nanosleep(struct mz_call *call)
{
    return nanosleep(pointer(call->a[0]), pointer(call->a[1])) ? -errno : 0;
}
static long own_clock_nanosleep(struct mz_call *call)
{
    struct timespec now, t = *(const struct timespec *)pointer(call->a[2]);
    if (!(call->a[1] & TIMER_ABSTIME)) return nanosleep(&t, pointer(call->a[3])) ? -errno : 0;
    clock_gettime((clockid_t)call->a[0], &now);
    int64_t ns = (t.tv_sec - now.tv_sec) * 1000000000ll + (t.tv_nsec - now.tv_nsec);
    if (ns <= 0) return 0;
    t = (struct timespec){ns / 1000000000ll, ns % 1000000000ll};
    return nanosleep(&t, NULL) ? -errno : 0;
}
static long own_getrandom(struct mz_call *call)
{
    return getrandom(pointer(call->a[0]), call->a[1], (unsigned)call->a[2]);
}

static long absent(struct mz_call *call)
{
    (void)call;
    return -ENOSYS;
}

/* ---- the table ---- */

/* clang-format off */
#define NOTHING                      {0, NONE, 0, 0}
#define TO(argument, size)           {argument, BYTES, 0, size}
#define TO_ARG(argument, by)         {argument, ARGUMENT, by, 0}
#define TO_TIMES(argument, by, size) {argument, ELEMENTS, by, size}
#define TO_VECTOR(argument, by)      {argument, VECTOR, by, 0}
#define TO_MESSAGE(argument)         {argument, MESSAGE, 0, 0}
#define TO_LENGTH(argument, by)      {argument, LENGTH, by, 0}
#define TO_PAGES(argument, by)       {argument, PAGES, by, 0}
/* clang-format on */
#define PASS(call, flag, ...)  [SYS_##call] = {#call, flag, {__VA_ARGS__}, NULL, NULL},
#define OWN(call, function)    [SYS_##call] = {#call, 0, {NOTHING}, function, NULL},
#define WAITS(call, flag, ...) [SYS_##call] = {#call, flag, {__VA_ARGS__}, mz_poll_wait, NULL},
#define ABSENT(call)           [SYS_##call] = {#call, 0, {NOTHING}, absent, NULL},
#define REFUSE(call, instead)  [SYS_##call] = {#call, 0, {NOTHING}, NULL, instead},

static const struct rule rules[CALLS] = {
#include "runtime/kernel/kernel.def"
};

/* The functions each... call `f` for each piece of memory that the kernel writes. `got`: the result of the
 * call, which limits the number of bytes; -1 before the call. */
typedef void each_output(const struct mz_call *call, void *to, size_t size);

static size_t at_most(uint64_t size, long got)
{
    return got >= 0 && (uint64_t)got < size ? (size_t)got : size;
}

static void each_of_vector(const struct mz_call *call, const struct iovec *v, uint64_t n, long got,
                           each_output *f)
{
    for (uint64_t i = 0; v && i < n; i++) {
        size_t size = at_most(v[i].iov_len, got);
        f(call, v[i].iov_base, size);
        if (got >= 0) got -= (long)size;
    }
}

static void each_of_message(const struct mz_call *call, struct msghdr *m, long got, each_output *f)
{
    f(call, m, sizeof *m);
    if (m->msg_name) f(call, m->msg_name, m->msg_namelen);
    each_of_vector(call, m->msg_iov, m->msg_iovlen, got, f);
    if (m->msg_control) f(call, m->msg_control, m->msg_controllen);
}

static void each(const struct output *o, const struct mz_call *call, long got, each_output *f)
{
    void *to = pointer(call->a[o->argument]);
    uint64_t by = call->a[o->by];
    if (!to) return;
    switch ((enum size_of)o->how) {
    case NONE:
        return;
    case BYTES:
        f(call, to, o->size);
        return;
    case ARGUMENT:
        f(call, to, at_most(by, got));
        return;
    case ELEMENTS:
        f(call, to, (by & 0xffffffff) * o->size);
        return;
    case VECTOR:
        each_of_vector(call, to, by, got, f);
        return;
    case MESSAGE:
        each_of_message(call, to, got, f);
        return;
    case LENGTH:
        if (by) f(call, to, *(const uint32_t *)pointer(by));
        return;
    case PAGES:
        f(call, to, by / 4096 + 1);
        return;
    }
}

/* ---- the place of a call ---- */

static const struct mz_module *module_of(uint64_t pc)
{
    const struct mz_channel *c = rt.channel;
    for (uint32_t i = 0; i < c->module_count; i++)
        if (pc >= c->modules[i].start && pc < c->modules[i].end) return &c->modules[i];
    return NULL;
}

static bool in_program(uint64_t pc)
{
    const struct mz_module *m = module_of(pc);
    return m && m->instrumented;
}

static uint64_t pc_of(const struct mz_call *call)
{
    return (uint64_t)((const ucontext_t *)call->context)->uc_mcontext.gregs[REG_RIP];
}

static bool from_program(const struct mz_call *call) { return !call->context || in_program(pc_of(call)); }

/* Find where the program made the call. Return the frame from which mz_walk can go on, and the address in
 * *pc. libc has no frame pointers, so look on the stack for a return address into the program, then for a
 * frame above it. */
const void *mz_kernel_frame(const void *context, uint64_t *pc)
{
    const greg_t *r = ((const ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t *p = pointer((uint64_t)r[REG_RSP]),
                   *high = (const uint64_t *)(const void *)rt.slots[rt.self].stack_high - 2;
    *pc = (uint64_t)r[REG_RIP];
    if (!mz_fiber_stack_contains(rt.self, (uintptr_t)p) || in_program(*pc))
        return pointer((uint64_t)r[REG_RBP]);
    while (p < high && !in_program(*p)) p++;
    if (p >= high) return NULL;
    *pc = *p++;
    while (p < high && !(p[0] > (uintptr_t)p && p[0] <= (uintptr_t)high && module_of(p[1]))) p++;
    return p < high ? p : NULL;
}

static void place_of(const struct mz_call *call, struct mz_place *place)
{
    uint64_t pc;
    if (!call->context) {
        mz_walk(place, rt.self, MZ_FRAME());
        return;
    }
    mz_walk(place, rt.self, mz_kernel_frame(call->context, &pc));
    mz_raw_memmove(&place->pc[1], &place->pc[0], sizeof place->pc - sizeof place->pc[0]);
    place->pc[0] = pc;
}

_Noreturn void mz_kernel_refuse(const struct mz_call *call, const char *what, const char *instead)
{
    struct mz_place place;
    place_of(call, &place);
    mz_unsupported_at(what, instead, &place);
}

static _Noreturn void refuse(const struct mz_call *call, const struct rule *rule)
{
    char text[64], *t = text, *end = text + sizeof text;
    t = mz_text_add(t, end, "the system call ");
    if (rule->name)
        mz_text_add(t, end, rule->name);
    else
        mz_text_number(t, end, (uint64_t)call->number, 10);
    mz_kernel_refuse(call, text, rule->refusal ? rule->refusal : "leave it out of the test");
}

/* ---- memory that the kernel writes ---- */

/* Is it a variable of the program? Other memory may belong to libc, such as the buffer of a FILE, which a
 * lock of libc protects. */
static bool is_variable(const void *p, size_t size)
{
    return mz_is_instrumented((uintptr_t)p) && mz_snapshot_contains((uintptr_t)p, size);
}

/* Before a call: make the memory writable, and keep its contents in the undo log. */
void mz_kernel_will_write(const struct mz_call *call, void *to, size_t size)
{
    (void)call;
    mz_snapshot_touch(to, size);
    if (is_variable(to, size)) mz_keep_program(to, size);
}

/* After a call: check the write like a plain write of the calling thread. */
void mz_kernel_has_written(const struct mz_call *call, void *to, size_t size)
{
    uint64_t pc = (uintptr_t)call->pc;
    if (!size || !is_variable(to, size)) return;
    const void *frame = call->context ? mz_kernel_frame(call->context, &pc) : call->frame;
    if (frame) mz_access_range(to, size, true, pointer(pc), frame);
}

/* ---- performing a call ---- */

static bool quiet(const struct mz_call *call)
{
    return (call->number == SYS_sendto && call->a[3] & MSG_NOSIGNAL) ||
           (call->number == SYS_sendmsg && call->a[2] & MSG_NOSIGNAL);
}

/* For the kernel there is only one thread: replace the id of a program thread by 0, the calling thread. */
static void name_thread(uint64_t *tid)
{
    for (uint32_t s = 0; s < rt.slots_known; s++)
        if (*tid == (uint64_t)rt.slots[s].tid) *tid = 0;
}

static long perform(struct mz_call *call, const struct rule *rule)
{
    struct mz_channel *c = rt.channel;
    const uint64_t *a = call->a;
    if (rule->flags & FD) mz_files_use(call, (int)a[0]);
    if (rule->flags & THREAD) name_thread(&call->a[rule->flags & SECOND ? 1 : 0]);
    for (int i = 0; i < 4; i++) each(&rule->outputs[i], call, -1, mz_kernel_will_write);
    place_of(call, &c->kernel_place);
    mz_text_copy(c->kernel_call, sizeof c->kernel_call, rule->name);
    c->kernel_thread = rt.self;
    c->in_kernel = 1;
    long r = mz_sys6(call->number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5]);
    c->in_kernel = 0;
    c->kernel_calls++;
    if (r == -EPIPE && rule->flags & FD && !quiet(call)) mz_signals_raise(SIGPIPE, call->context);
    if (mz_sys_failed(r)) return r;
    for (int i = 0; i < 4; i++) each(&rule->outputs[i], call, r, mz_kernel_has_written);
    if (rule->flags & SOCKET)
        mz_files_new_socket((int)r);
    else if (rule->flags & NEW)
        mz_files_new((int)r, -1, rule->flags & CONNECTS);
    if (rule->flags & MAKES_TWO) {
        const int *both = pointer(a[rule->outputs[0].argument]);
        mz_files_new(both[0], -1, true);
        mz_files_new(both[1], both[0], true);
    }
    return r;
}

long mz_kernel_perform(struct mz_call *call) { return perform(call, &rules[call->number]); }

/* Does the call change nothing except the memory that is passed to it? */
static bool leaves_no_trace(const struct mz_call *call)
{
    switch (call->number) {
    case SYS_write:
    case SYS_writev:
        return call->a[0] <= 2 && !rt.channel->options.show_output;
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_ioctl:
        return call->a[0] <= 2;
    case SYS_getpid:
    case SYS_getppid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_getcpu:
    case SYS_sched_getaffinity:
    case SYS_sched_yield:
    case SYS_prctl:
    case SYS_exit_group:
    case SYS_futex:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_getrandom:
        return true;
    default:
        return false;
    }
}

static bool changes_mappings(const struct mz_call *call)
{
    return call->number == SYS_mmap || call->number == SYS_munmap || call->number == SYS_mremap ||
           call->number == SYS_mprotect || call->number == SYS_madvise || call->number == SYS_brk;
}

long mz_kernel_call(struct mz_call *call)
{
    static const struct rule unknown;
    if (mz_poll_only_sleeps(call)) return mz_poll_wait(call);
    if (rt.trial) mz_fiber_leave(); /* a trial must not have effects that cannot be undone */
    mz_changed();
    bool traceless = leaves_no_trace(call), known = !traceless && mz_kernel_state_knows(call);
    if (!traceless) mz_undo_barrier();
    if (!traceless && !known) mz_kernel_state_unknown();
    if (changes_mappings(call) && !known) mz_undo_give_up();
    const struct rule *rule = (uint64_t)call->number < CALLS ? &rules[call->number] : &unknown;
    if (!rule->own && (!rule->name || rule->refusal)) refuse(call, rule);
    long r = rule->own ? rule->own(call) : perform(call, rule);
    if (known) mz_kernel_state_after(call, r);
    return r;
}

static void caught(int number, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct mz_call call = {.number = info->si_syscall,
                           .a = {(uint64_t)r[REG_RDI], (uint64_t)r[REG_RSI], (uint64_t)r[REG_RDX],
                                 (uint64_t)r[REG_R10], (uint64_t)r[REG_R8], (uint64_t)r[REG_R9]},
                           .context = context};
    (void)number;
    long result;
    if (info->si_arch != AUDIT_ARCH_X86_64)
        mz_kernel_refuse(&call, "a 32-bit system call", "use the 64-bit one");
    if (rt.active)
        result = mz_kernel_call(&call);
    else if (call.number == SYS_futex && is_wait(&call))
        mz_quit(1); /* the search is over, and the flush waits for a FILE that a stopped thread holds */
    else
        result = mz_sys6(call.number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = result;
}

/* ---- the filter ---- */

#define LOAD(field)                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define WHEN(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, (uint32_t)(value), yes, no)
#define RETURN(what)               BPF_STMT(BPF_RET | BPF_K, what)

/* The kernel refused the filter: the runtime does not see system calls. Memory stays correct. No page stays
 * protected, because the kernel does not write to protected pages. The undo log does not go back over steps,
 * because the runtime does not know which steps made system calls. */
static void no_filter(void)
{
    mz_unseen("the kernel refused the seccomp filter: system calls are not seen, and their effects are "
              "not undone between executions (in a container, allow seccomp(2))");
    rt.unfiltered = rt.writes_unknown = true;
    mz_snapshot_touch_all();
}

/* Install the filter. From here on, only this library enters the kernel directly. There must be no other OS
 * thread. */
void mz_kernel_init(void)
{
    uint64_t start, end;
    mz_our_code(&start, &end);
    uint32_t low_end = start >> 32 == end >> 32 ? (uint32_t)end : UINT32_MAX; /* our code may cross 4 GiB */
    struct sock_filter code[] = {
        LOAD(arch),
        WHEN(BPF_JEQ, AUDIT_ARCH_X86_64, 0, 11),
        LOAD(nr),
        WHEN(BPF_JEQ, SYS_rt_sigreturn, 8, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        WHEN(BPF_JEQ, start >> 32, 0, 3),
        LOAD(instruction_pointer),
        WHEN(BPF_JGE, start, 0, 5),
        WHEN(BPF_JGT, low_end, 4, 3),
        WHEN(BPF_JEQ, end >> 32, 0, 3),
        LOAD(instruction_pointer),
        WHEN(BPF_JGT, end, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    mz_signal_install(SIGSYS, caught, SA_SIGINFO | SA_NODEFER);
    mz_sys(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
    long r = mz_sys(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
    if (r < 0) no_filter();
}
