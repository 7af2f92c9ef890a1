/* Other programs and our own signals: see process.h. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tempdir.h"

static sigset_t original_mask, our_signals; /* set once, in mz_process_init() */

static void open_standard_descriptors(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

void mz_process_init(void)
{
    open_standard_descriptors();
    sigemptyset(&our_signals);
    sigaddset(&our_signals, SIGINT);
    sigaddset(&our_signals, SIGTERM);
    sigaddset(&our_signals, SIGHUP);
    sigaddset(&our_signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &our_signals, &original_mask);
    signal(SIGCHLD, SIG_DFL); /* if it was ignored, children would vanish before we wait */
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a write error, not our end */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that must not grow (ulimit -f) */
}

void mz_process_restore_signals(void)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &original_mask, NULL);
}

static void replace(int fd, int by)
{
    if (by >= 0 && by != fd) dup2(by, fd);
}

/* A compiler starts others, which must end with it: a group of its own can be signalled as a whole. But only
 * the group in the foreground may read from a terminal, and there Ctrl-C reaches everyone anyway. */
static bool has_own_group(void) { return !isatty(STDIN_FILENO); }

static void signal_child(pid_t pid, int signal) { kill(has_own_group() ? -pid : pid, signal); }

static _Noreturn void run_child(const struct mz_command *c, int report)
{
    mz_process_restore_signals();
    if (has_own_group()) setpgid(0, 0);
    replace(STDIN_FILENO, c->in);
    replace(STDOUT_FILENO, c->out);
    replace(STDERR_FILENO, c->err);
    execvp(c->argv[0], c->argv);
    int error = errno;
    if (write(report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

pid_t mz_process_start(const struct mz_command *command)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) < 0) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) run_child(command, report[1]);
    int fork_error = errno;
    if (pid > 0 && has_own_group()) setpgid(pid, pid);
    close(report[1]);
    ssize_t n = pid > 0 ? read(report[0], &error, sizeof error) : 0;
    close(report[0]);
    if (pid < 0) {
        errno = fork_error;
        return -1;
    }
    if (n != (ssize_t)sizeof error) return pid;
    waitpid(pid, NULL, 0);
    errno = error;
    return -1;
}

int mz_process_next_signal(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds,
                         .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    int signal = sigtimedwait(&our_signals, NULL, &t);
    return signal < 0 ? 0 : signal;
}

static _Noreturn void die_by(int signal_number)
{
    sigset_t only;
    mz_tempdir_remove();
    fflush(NULL);
    signal(signal_number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + signal_number);
}

int mz_process_wait(pid_t pid)
{
    int status, stop = 0;
    for (;;) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid) break;
        if (done < 0 && errno != EINTR) return 127 << 8;
        int s = mz_process_next_signal(1.0);
        if (s == 0 && stop) signal_child(pid, SIGTERM); /* in the background of a script SIGINT is ignored */
        if (s == 0 || s == SIGCHLD) continue;
        stop = s;
        signal_child(pid, s);
    }
    if (stop) die_by(stop);
    return status;
}

int mz_process_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int mz_process_run(const struct mz_command *command)
{
    pid_t pid = mz_process_start(command);
    return pid < 0 ? -1 : mz_process_status(mz_process_wait(pid));
}

double mz_process_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
