/* Following a compiler: see follow.h. */
#define _GNU_SOURCE
#include "launch/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/strbuf.h"

#define COUNT(a)    (sizeof(a) / sizeof *(a))
#define NONE        (-1)
#define OTHER_CALLS 1 /* of a 32-bit program: not understood */
#define OPTIONS                                                                                              \
    (PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |                  \
     PTRACE_O_TRACECLONE)

/* A system call that names a file: the argument with the directory (NONE: the current one), with the path, and with
 * the flags of open (NONE: `use` says what the call does). */
static const struct call {
    int number;
    signed char directory, path, flags;
    enum mz_input_use use;
} calls[] = {
    {SYS_open, NONE, 0, 1, MZ_INPUT_READ},        {SYS_openat, 0, 1, 2, MZ_INPUT_READ},
    {SYS_openat2, 0, 1, NONE, MZ_INPUT_READ},     {SYS_creat, NONE, 0, NONE, MZ_INPUT_WRITE},
    {SYS_stat, NONE, 0, NONE, MZ_INPUT_LOOK},     {SYS_lstat, NONE, 0, NONE, MZ_INPUT_LOOK},
    {SYS_newfstatat, 0, 1, NONE, MZ_INPUT_LOOK},  {SYS_statx, 0, 1, NONE, MZ_INPUT_LOOK},
    {SYS_access, NONE, 0, NONE, MZ_INPUT_LOOK},   {SYS_faccessat, 0, 1, NONE, MZ_INPUT_LOOK},
    {SYS_faccessat2, 0, 1, NONE, MZ_INPUT_LOOK},  {SYS_readlink, NONE, 0, NONE, MZ_INPUT_LOOK},
    {SYS_readlinkat, 0, 1, NONE, MZ_INPUT_LOOK},  {SYS_execve, NONE, 0, NONE, MZ_INPUT_EXECUTE},
    {SYS_execveat, 0, 1, NONE, MZ_INPUT_EXECUTE}, {SYS_getdents64, 0, NONE, NONE, MZ_INPUT_LIST},
    {SYS_rename, NONE, 1, NONE, MZ_INPUT_WRITE},  {SYS_renameat, 2, 3, NONE, MZ_INPUT_WRITE},
    {SYS_renameat2, 2, 3, NONE, MZ_INPUT_WRITE},  {SYS_link, NONE, 1, NONE, MZ_INPUT_WRITE},
    {SYS_linkat, 2, 3, NONE, MZ_INPUT_WRITE},     {SYS_symlink, NONE, 1, NONE, MZ_INPUT_WRITE},
    {SYS_symlinkat, 1, 2, NONE, MZ_INPUT_WRITE},  {SYS_unlink, NONE, 0, NONE, MZ_INPUT_WRITE},
    {SYS_unlinkat, 0, 1, NONE, MZ_INPUT_WRITE},   {SYS_mkdir, NONE, 0, NONE, MZ_INPUT_WRITE},
    {SYS_mkdirat, 0, 1, NONE, MZ_INPUT_WRITE},    {SYS_truncate, NONE, 0, NONE, MZ_INPUT_WRITE},
    {SYS_utimensat, 0, 1, NONE, MZ_INPUT_WRITE},
};

/* ---- the child ---- */

static bool install_filter(void)
{
    struct sock_filter code[2 * COUNT(calls) + 5];
    unsigned n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | OTHER_CALLS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT(calls); i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void mz_follow_child(int go)
{
    char attached = 0;
    if (read(go, &attached, 1) != 1 || !attached) return;
    if (!install_filter())
        kill(getpid(), SIGSTOP); /* see stopped(): the parent lets us continue, and knows */
}

/* ---- on one processor ---- */

#define NEAR  0.3 /* seconds */
#define FEWER 16u /* processes that run at the same time, at most; others may stay on their processor */

static struct {
    bool on;
    cpu_set_t all; /* the processors that we may use */
    double since;
    pid_t processes[FEWER];
    unsigned count;
} near;

static double seconds(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void mz_follow_near(void)
{
    cpu_set_t one;
    int cpu = sched_getcpu();
    if (near.on || cpu < 0 || sched_getaffinity(0, sizeof near.all, &near.all) < 0) return;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    near.on = sched_setaffinity(0, sizeof one, &one) == 0;
    near.since = seconds();
    near.count = 0;
}

static void remember_process(pid_t pid)
{
    for (unsigned i = 0; i < near.count && i < FEWER; i++)
        if (near.processes[i] == pid) return;
    near.processes[near.count++ % FEWER] = pid;
}

/* All may use all processors again. Processes that they start later inherit that. */
void mz_follow_spread(void)
{
    if (!near.on) return;
    near.on = false;
    for (unsigned i = 0; i < near.count && i < FEWER; i++)
        sched_setaffinity(near.processes[i], sizeof near.all, &near.all);
    sched_setaffinity(0, sizeof near.all, &near.all);
}

/* ---- the parent ---- */

void mz_follow_parent(struct mz_inputs *inputs, pid_t child, int go)
{
    char attached = ptrace(PTRACE_SEIZE, child, NULL, (void *)OPTIONS) == 0;
    if (!attached) inputs->complete = false;
    if (write(go, &attached, 1) != 1) inputs->complete = false;
    if (near.on) remember_process(child);
}

static bool read_path(pid_t pid, uint64_t address, char path[PATH_MAX])
{
    size_t n = 0;
    while (n < PATH_MAX) { /* read page by page: the next page may not be mapped */
        size_t left = 4096 - (address + n) % 4096;
        if (left > PATH_MAX - n) left = PATH_MAX - n;
        struct iovec here = {path + n, left}, there = {(void *)(uintptr_t)(address + n), left};
        ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (got <= 0) return false;
        if (memchr(path + n, '\0', (size_t)got)) return true;
        n += (size_t)got;
    }
    return false;
}

/* Make the path absolute, as this process can use it; NULL: not known. */
static char *whole_path(pid_t pid, int directory, const char *path)
{
    char base[PATH_MAX];
    if (path[0] == '/') return mz_memory_string(path);
    char *link = directory == AT_FDCWD ? mz_format("/proc/%d/cwd", (int)pid)
                                       : mz_format("/proc/%d/fd/%d", (int)pid, directory);
    ssize_t n = readlink(link, base, sizeof base - 1);
    free(link);
    if (n <= 0) return NULL;
    base[n] = '\0';
    return path[0] ? mz_format("%s/%s", base, path) : mz_memory_string(base);
}

static enum mz_input_use use_of(const struct call *c, const uint64_t *arguments, pid_t pid)
{
    uint64_t flags = c->flags == NONE ? 0 : arguments[(int)c->flags];
    if (c->number == SYS_openat2) { /* struct open_how begins with the flags */
        struct iovec here = {&flags, sizeof flags}, there = {(void *)(uintptr_t)arguments[2], sizeof flags};
        if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof flags) return MZ_INPUT_READ;
    }
    if (c->use != MZ_INPUT_READ) return c->use;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC))) return MZ_INPUT_WRITE;
    return MZ_INPUT_READ;
}

static void note_call(struct mz_inputs *inputs, pid_t pid, const struct call *c, const uint64_t *arguments)
{
    char path[PATH_MAX] = "";
    int directory = c->directory == NONE ? AT_FDCWD : (int)arguments[(int)c->directory];
    if (c->path != NONE) {
        if (!arguments[(int)c->path]) return; /* utimensat and the like of a descriptor */
        if (!read_path(pid, arguments[(int)c->path], path)) {
            inputs->complete = false;
            return;
        }
        if (!path[0]) return; /* of a descriptor, too */
    }
    char *whole = whole_path(pid, directory, path);
    if (whole)
        mz_inputs_note(inputs, whole, use_of(c, arguments, pid));
    else
        inputs->complete = false;
    free(whole);
}

static void look_at_call(struct mz_inputs *inputs, pid_t pid)
{
    struct user_regs_struct r;
    unsigned long message = 0;
    ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message);
    if (message == OTHER_CALLS) inputs->complete = false;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0) return; /* killed meanwhile */
    const uint64_t arguments[] = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9};
    for (size_t i = 0; i < COUNT(calls); i++)
        if (r.orig_rax == (uint64_t)calls[i].number) note_call(inputs, pid, &calls[i], arguments);
}

/* A process has stopped: handle the reason, and let the process continue. */
static void stopped(struct mz_inputs *inputs, pid_t root, pid_t pid, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status), pass = 0;
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) { /* with its group, until it is continued */
        ptrace(PTRACE_LISTEN, pid, NULL, NULL);
        return;
    }
    if (event == PTRACE_EVENT_SECCOMP)
        look_at_call(inputs, pid);
    else if (event == 0 && signal == SIGSTOP && pid == root)
        inputs->complete = false; /* mz_follow_child(): no filter */
    else if (event == 0)
        pass = signal;
    ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)pass);
}

void mz_follow_ended(struct mz_inputs *inputs, int status)
{
    inputs->ended = true;
    inputs->status = status;
}

pid_t mz_follow_wait(struct mz_inputs *inputs, pid_t child, int *status)
{
    if (inputs->ended) {
        inputs->ended = false;
        *status = inputs->status;
        return child;
    }
    if (near.on && seconds() - near.since > NEAR) mz_follow_spread();
    for (;;) {
        int how;
        pid_t pid = waitpid(-1, &how, __WALL | WNOHANG);
        if (pid < 0 && errno == ECHILD) mz_follow_spread();
        if (pid <= 0) return pid < 0 && errno == ECHILD ? -1 : 0;
        if (WIFSTOPPED(how)) {
            if (near.on) remember_process(pid);
            stopped(inputs, child, pid, how);
        } else if (pid == child) {
            mz_follow_spread();
            *status = how;
            return child;
        }
    }
}
