/* Other programs and our own signals: see process.h. */
#define _GNU_SOURCE
#include "launch/process.h"
#include "launch/mpirun.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "launch/follow.h"
#include "launch/tempdir.h"

/* Seconds from one signal to the next, stronger one. Open MPI gives us 1 s for all of them. */
#define GRACE      0.3
#define LAST_GRACE 0.2

static sigset_t original_mask, our_signals; /* set once, in mz_process_init() */
static int stopped;                         /* by which signal */

static void open_standard_descriptors(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

/* Is it a signal that would end us? Not the signals of a fault, and not ignored ones: nohup must work. (A script
 * ignores SIGINT in the background, but does not mean it.) */
static bool asks_to_end(int s)
{
    static const int ending[] = {SIGHUP,  SIGQUIT,   SIGUSR1, SIGUSR2, SIGALRM, SIGSTKFLT,
                                 SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};
    struct sigaction now;
    if (s == SIGINT || s == SIGTERM) return true;
    if (s != SIGHUP && mz_mpirun_is_parent())
        return false; /* MPI may use it: MPICH tells by SIGUSR1 that a rank died */
    bool ends = s >= SIGRTMIN;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) ends |= s == ending[i];
    return ends && sigaction(s, NULL, &now) == 0 && now.sa_handler != SIG_IGN;
}

void mz_process_init(void)
{
    open_standard_descriptors();
    sigemptyset(&our_signals);
    sigaddset(&our_signals, SIGCHLD);
    for (int s = 1; s <= SIGRTMAX; s++)
        if (asks_to_end(s)) sigaddset(&our_signals, s);
    sigprocmask(SIG_BLOCK, &our_signals, &original_mask);
    signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, children would vanish before we wait */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, and does not end us */
    signal(SIGXFSZ, SIG_IGN); /* the same for a file that reached its limit (ulimit -f) */
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

/* A compiler starts other programs, which must end with it: a process group can be signalled as a whole. But only
 * the foreground group may read from a terminal, and there Ctrl-C reaches all processes anyway. (Others may write to
 * the terminal if they ignore SIGTTOU.) */
static bool has_own_group(const struct mz_command *c) { return c->in >= 0 || !isatty(STDIN_FILENO); }

static _Noreturn void run_child(const struct mz_command *c, int report, int go)
{
    prctl(PR_SET_PDEATHSIG,
          SIGTERM); /* a compiler removes its temporary files; a followed process is killed with us */
    mz_process_restore_signals();
    if (has_own_group(c)) {
        setpgid(0, 0);
        signal(SIGTTOU, SIG_IGN);
    }
    replace(STDIN_FILENO, c->in);
    replace(STDOUT_FILENO, c->out);
    replace(STDERR_FILENO, c->err);
    if (c->inputs) mz_follow_child(go);
    execvp(c->argv[0], c->argv);
    int error = errno;
    if (write(report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

static int wait_for(pid_t pid, struct mz_inputs *inputs);

/* A followed process stops before exec, and must be continued. */
static void wait_for_exec(pid_t pid, struct mz_inputs *inputs, int report)
{
    struct pollfd p = {.fd = report, .events = POLLIN};
    int status;
    while (poll(&p, 1, 0) == 0) {
        if (mz_follow_wait(inputs, pid, &status) != 0) {
            mz_follow_ended(inputs, status);
            return;
        }
        mz_process_look(LAST_GRACE);
    }
}

pid_t mz_process_start(const struct mz_command *command)
{
    int report[2], go[2] = {-1, -1}, error = 0;
    if (stopped) {
        errno = EINTR;
        return -1;
    }
    if (pipe2(report, O_CLOEXEC) < 0) return -1;
    if (command->inputs && pipe2(go, O_CLOEXEC) < 0) go[0] = go[1] = -1; /* then it is not followed */
    fflush(NULL);
    if (command->inputs) mz_follow_near();
    pid_t pid = fork();
    if (pid == 0) run_child(command, report[1], go[0]);
    int fork_error = errno;
    if (pid > 0 && command->inputs) mz_follow_parent(command->inputs, pid, go[1]);
    for (int i = 0; i < 2; i++)
        if (go[i] >= 0) close(go[i]);
    if (pid > 0 && has_own_group(command)) setpgid(pid, pid);
    close(report[1]);
    if (pid > 0 && command->inputs) wait_for_exec(pid, command->inputs, report[0]);
    ssize_t n = pid > 0 ? read(report[0], &error, sizeof error) : 0;
    close(report[0]);
    if (pid < 0) {
        mz_follow_spread();
        errno = fork_error;
        return -1;
    }
    if (n != (ssize_t)sizeof error) return pid;
    wait_for(pid, command->inputs);
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

/* ---- asked to stop while another program runs ---- */

int mz_process_stopped(void) { return stopped; }

bool mz_process_look(double seconds)
{
    int s = mz_process_next_signal(seconds);
    if (s != 0 && s != SIGCHLD) stopped = s;
    return stopped != 0;
}

/* Signal the whole group, if there is one. */
static void signal_child(pid_t pid, int signal_number)
{
    if (kill(-pid, signal_number) < 0) kill(pid, signal_number);
}

/* First the signal that we got; then SIGTERM, because a script in the background ignores SIGINT; then SIGKILL. */
static void stop_child(pid_t pid, int times)
{
    signal_child(pid, times == 0 ? stopped : times == 1 ? SIGTERM : SIGKILL);
}

/* Programs that it has started may have files to remove. */
static void end_group(pid_t group)
{
    struct timespec nap = {0, 5000000};
    for (double start = mz_process_clock(); kill(-group, 0) == 0 && mz_process_clock() - start < LAST_GRACE;)
        nanosleep(&nap, NULL);
    kill(-group, SIGKILL);
}

static int wait_for(pid_t pid, struct mz_inputs *inputs)
{
    int status, times = 0;
    double told = 0;
    for (;;) {
        pid_t done = inputs ? mz_follow_wait(inputs, pid, &status) : waitpid(pid, &status, WNOHANG);
        if (done == pid) break;
        if (done < 0 && errno != EINTR) return 127 << 8;
        if (stopped && (times == 0 || mz_process_clock() - told >= GRACE)) {
            stop_child(pid, times++);
            told = mz_process_clock();
        }
        mz_process_look(GRACE);
    }
    if (stopped) end_group(pid);
    return status;
}

int mz_process_wait(pid_t pid) { return wait_for(pid, NULL); }

void mz_process_die_if_stopped(void)
{
    sigset_t only;
    if (!stopped) return;
    mz_tempdir_remove();
    fflush(NULL);
    signal(stopped, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, stopped);
    raise(stopped);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + stopped);
}

int mz_process_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int mz_process_run(const struct mz_command *command)
{
    pid_t pid = mz_process_start(command);
    return pid < 0 ? -1 : mz_process_status(wait_for(pid, command->inputs));
}

static double read_clock(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double mz_process_clock(void) { return read_clock(CLOCK_MONOTONIC); }

double mz_process_used(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

double mz_process_used_of(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? read_clock(clock) : 0;
}

double mz_process_used_by(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

uint32_t mz_process_processors(void)
{
    cpu_set_t own;
    if (sched_getaffinity(0, sizeof own, &own) == 0) return (uint32_t)CPU_COUNT(&own);
    long all = sysconf(_SC_NPROCESSORS_ONLN); /* the mask has more processors than fit into `own` */
    return all > 0 ? (uint32_t)all : 1;
}

uint64_t mz_process_peak(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}
