/* Running the program under test: see target.h. */
#define _GNU_SOURCE
#include "launch/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <linux/close_range.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "launch/capture.h"
#include "launch/paths.h"
#include "launch/process.h"
#include "launch/sample.h"

#define TRIAL 0.15 /* seconds over which the speed is measured */
#define POLL  0.1  /* seconds */
#define STALL                                                                                                \
    20.0 /* processor seconds without a step, or seconds asleep, after which the target counts as hanging */
#define BLOCKED 4.0 /* seconds asleep inside one system call */
#define LOOK                                                                                                 \
    0.6 /* seconds: a longer time since the last look is not counted, because nobody saw how it was spent */

/* ---- the child ---- */

/* Open standard input again: targets would otherwise share one file position, and workers and replays would miss
 * what another target has read. */
static void own_input(off_t start)
{
    int fd = open("/proc/self/fd/0", fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE);
    if (fd >= 0) {
        dup2(fd, STDIN_FILENO);
        close(fd);
    }
    lseek(STDIN_FILENO, start, SEEK_SET);
}

static void redirect(const struct mz_target *t, off_t input)
{
    struct stat in;
    int nowhere = open("/dev/null", O_RDWR);
    if (fstat(STDIN_FILENO, &in) < 0 || !S_ISREG(in.st_mode))
        dup2(nowhere, STDIN_FILENO);
    else
        own_input(input);
    if (!t->show_output) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    } else if (t->output_to_stderr) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    if (nowhere > STDERR_FILENO) close(nowhere);
}

/* The stack limit decides where memory is mapped, and the size of stacks. */
static void set_stack_limit(uint64_t limit)
{
    struct rlimit stack;
    if (!limit || getrlimit(RLIMIT_STACK, &stack) < 0) return;
    stack.rlim_cur = limit < stack.rlim_max ? limit : stack.rlim_max;
    setrlimit(RLIMIT_STACK, &stack);
}

/* Everything that a child needs. The child shares our memory until exec: it changes only `error`, and we wait. (A
 * copy of our memory would cost as much as the rest of the start.) */
struct start {
    const struct mz_target *target;
    int channel, common;
    off_t input; /* position of standard input when we were started */
    pid_t parent;
    struct mz_list arguments, environment;
    int error;
};

static int run_child(void *data)
{
    struct start *s = data;
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    while (mz_process_next_signal(
        0)) { /* sent to our whole process group until now: the command has received it, too */
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent) _exit(126);
    setrlimit(RLIMIT_CORE, &no_core);
    /* Turn off address randomization. Where that is not allowed, addresses differ between runs, which only affects
     * names. (Tests want that, too.) */
    if (!getenv("MAZURKA_RANDOM_ADDRESSES")) personality(ADDR_NO_RANDOMIZE);
    set_stack_limit(s->target->stack_limit);
    redirect(s->target, s->input);
    if (s->target->cluster) close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    fcntl(s->channel, F_SETFD, 0);
    if (s->common >= 0) fcntl(s->common, F_SETFD, 0);
    mz_process_restore_signals();
    execve(s->target->program->path, s->arguments.items, s->environment.items);
    s->error = errno;
    _exit(127);
}

/* The environment of the child: the channel, and the same library as the command's, wherever the program was linked. */
static void set_environment(struct start *s)
{
    static const char library[] = "LD_LIBRARY_PATH=", channel[] = MZ_CHANNEL_ENV "=";
    struct mz_paths paths;
    const char *old = NULL;
    for (char **e = s->target->environment ? s->target->environment : environ; *e; e++) {
        if (strncmp(*e, library, strlen(library)) == 0)
            old = *e + strlen(library);
        else if (strncmp(*e, channel, strlen(channel)) != 0)
            mz_list_add(&s->environment, *e);
    }
    if (mz_paths_find(&paths) == 0)
        mz_list_addf(&s->environment, "%s%s%s%s", library, paths.library_dir, old ? ":" : "", old ? old : "");
    else if (old)
        mz_list_addf(&s->environment, "%s%s", library, old);
    /* Numbers of one length: the arguments of all workers lie at the same addresses. */
    if (s->common >= 0)
        mz_list_addf(&s->environment, "%s%06d,%06d", channel, s->channel, s->common);
    else
        mz_list_addf(&s->environment, "%s%06d", channel, s->channel);
    mz_list_argv(&s->environment);
}

pid_t mz_target_start(const struct mz_target *t, int channel, int common)
{
    static _Alignas(16) char stack[64 << 10];
    static off_t input = -1;
    if (input < 0) input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    struct start s = {.target = t,
                      .channel = channel,
                      .common = common,
                      .input = input < 0 ? 0 : input,
                      .parent = getpid()};
    mz_list_add(&s.arguments, t->program->name);
    mz_list_append(&s.arguments, t->arguments);
    mz_list_argv(&s.arguments);
    set_environment(&s);
    pid_t pid = clone(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &s);
    if (pid < 0) s.error = errno;
    if (pid > 0 && s.error) waitpid(pid, NULL, 0);
    mz_list_release(&s.arguments);
    mz_list_release(&s.environment);
    errno = s.error;
    return s.error ? -1 : pid;
}

/* ---- watching ---- */

static void ask_to_stop(struct mz_watch *w, double now)
{
    if (w->asked <= 0) w->asked = now;
    w->outcome->channel->options.stop = 1;
}

static uint32_t thread_of_stack(const struct mz_channel *c, uint64_t address)
{
    for (uint32_t i = 0; i < c->area_count && i < MZ_MAX_AREAS; i++)
        if (c->areas[i].kind == MZ_AREA_STACK && address >= c->areas[i].start && address < c->areas[i].end)
            return c->areas[i].thread;
    return MZ_MAX_THREADS;
}

/* The target hangs: find out where it is, then kill it. */
void mz_watch_kill(struct mz_watch *w)
{
    struct mz_channel *c = w->outcome->channel;
    struct mz_place place;
    uint64_t stack;
    if (w->outcome->killed) return;
    if (c->started && mz_sample(w->pid, c, &place, &stack)) {
        c->end_place = place;
        c->end_thread = thread_of_stack(c, stack);
    }
    w->outcome->killed = true;
    kill(w->pid, SIGKILL);
}

static void look_at_time(struct mz_watch *w, double now)
{
    double limit = w->target->time_limit;
    if (limit > 0 && now - w->started >= limit && w->asked <= 0) {
        w->outcome->timed_out = true;
        ask_to_stop(w, now);
    }
    if (w->asked > 0 && now - w->asked >= mz_grace(w->outcome)) mz_watch_kill(w);
}

/* A system call that does not return stops all threads, because they share one kernel thread. */
static void end_blocked(struct mz_watch *w)
{
    struct mz_channel *c = w->outcome->channel;
    c->kernel_call[sizeof c->kernel_call - 1] = '\0';
    mz_watch_kill(w);
    c->end_place = c->kernel_place;
    c->end_thread = c->kernel_thread;
    snprintf(
        c->end_text, sizeof c->end_text,
        "the system call %s does not return: a thread may wait for other threads only by locks, condition "
        "variables, semaphores and joins",
        c->kernel_call);
    c->end = MZ_END_UNSUPPORTED;
}

/* Is the target asleep, waiting for something other than a processor or a disk? */
static bool is_asleep(pid_t pid)
{
    char path[32], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    line[n] = '\0';
    const char *state = strrchr(line, ')'); /* after the name, which may contain any character */
    return state && state[1] == ' ' && state[2] == 'S';
}

static void look_at_life(struct mz_watch *w, double now, bool idle)
{
    const struct mz_channel *c = w->outcome->channel;
    struct mz_life *l = &w->life;
    uint64_t sign = c->counters.executions * 1000003 + c->counters.blocked * 101 + c->live_length +
                    c->finding_count + c->kernel_calls * 257;
    double used = mz_process_used_of(w->pid), since = now - l->looked;
    bool runs = used > l->used;
    /* Between executions the engine may work for a long time; that ends by itself. */
    if (sign != l->sign || idle || (c->analysing && runs)) {
        l->sign = sign;
        l->used_then = used;
        l->asleep = 0;
    } else if (runs) {
        l->asleep = 0;
    } else if (l->looked > 0 && is_asleep(w->pid)) {
        l->asleep += since < LOOK ? since : LOOK;
    }
    l->used = used;
    l->looked = now;
}

/* A thread that loops without a visible operation stops the search. */
void mz_watch_life(struct mz_watch *w, double now, bool idle)
{
    const struct mz_channel *c = w->outcome->channel;
    look_at_life(w, now, idle);
    if (c->in_kernel && w->life.asleep >= BLOCKED) {
        end_blocked(w);
        return;
    }
    if ((w->life.used - w->life.used_then < STALL && w->life.asleep < STALL) || w->asked > 0) return;
    w->outcome->stalled = true;
    mz_watch_kill(w);
}

/* Is the target at least as fast as its rival? The time that a program needs to start does not count. */
static void look_at_rival(struct mz_watch *w, double now)
{
    uint64_t executions = w->outcome->channel->counters.executions;
    if (w->target->rival <= 0 || w->judged || w->asked > 0 || w->outcome->channel->finding_count) return;
    if (!w->first_executions) {
        w->first = now;
        w->first_executions = executions;
    }
    if (now - w->first < TRIAL) return;
    w->judged = true;
    if ((double)(executions - w->first_executions) >= (now - w->first) * w->target->rival) return;
    w->outcome->slower = w->outcome->killed = true;
    kill(w->pid, SIGKILL);
}

void mz_watch_rest(struct mz_watch *w, bool rest)
{
    if (w->rests == rest) return;
    w->rests = rest;
    kill(-w->pid, rest ? SIGSTOP : SIGCONT);
}

/* Other searches have their turns, and may make this one unnecessary. */
static void look_alongside(struct mz_watch *w, const struct mz_progress_view *view)
{
    struct mz_alongside *a = w->target->alongside;
    if (!a) return;
    if (w->asked <= 0 && a->look(a->data, view)) {
        w->outcome->interrupted = true;
        ask_to_stop(w, mz_process_clock());
    }
    mz_watch_rest(w, w->asked <= 0 && mz_alongside_rests(a, 0, 1));
}

static void handle(struct mz_watch *w, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    if (w->outcome->interrupted) mz_watch_kill(w); /* the second time: at once */
    w->outcome->interrupted = true;
    ask_to_stop(w, mz_process_clock());
}

static double patience(const struct mz_watch *w, double now)
{
    double limit = w->target->time_limit, left = limit > 0 && w->asked <= 0 ? w->started + limit - now : POLL;
    return left < 0 ? 0 : left < POLL ? left : POLL;
}

static void watch(struct mz_watch *w)
{
    struct rusage usage = {0};
    for (;;) {
        pid_t done = wait4(w->pid, &w->outcome->wait_status, WNOHANG, &usage);
        double now = mz_process_clock();
        if (done == w->pid || (done < 0 && errno != EINTR)) break;
        look_at_time(w, now);
        mz_watch_life(w, now, false);
        look_at_rival(w, now);
        mz_survey_look(&w->target->survey, w->target, now - w->started);
        struct mz_progress_view view = mz_progress_of(w->outcome->channel, &w->target->survey);
        mz_progress_update(&w->target->progress, &view, now - w->started);
        look_alongside(w, &view);
        handle(w, mz_process_next_signal(patience(w, now)));
    }
    kill(-w->pid, SIGKILL);                                          /* all processes that it started */
    w->outcome->slower &= WIFSIGNALED(w->outcome->wait_status) != 0; /* otherwise it had ended by then */
    w->outcome->seconds = mz_process_clock() - w->started;
    mz_survey_end(&w->target->survey);
    struct mz_progress_view view = mz_progress_of(w->outcome->channel, &w->target->survey);
    mz_progress_end(&w->target->progress, &view, w->outcome->seconds);
    w->outcome->estimate = view.total;
    w->outcome->channel->counters.work_done = (uint64_t)(view.work_done * (double)MZ_ALL_WORK);
    w->outcome->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
    w->outcome->processor = mz_process_used_by(&usage);
}

/* ---- a target that did not start ---- */

/* Ask the dynamic linker which library is missing. */
static char *missing_library(const char *program)
{
    char *argv[] = {(char *)"/usr/bin/env", (char *)"LD_TRACE_LOADED_OBJECTS=1", (char *)program, NULL};
    struct mz_strbuf out = {0};
    char *name = NULL;
    mz_capture(argv, MZ_CAPTURE_QUIET, mz_capture_to_strbuf, &out);
    char *found = strstr(mz_strbuf_text(&out), " => not found");
    if (found) {
        char *begin = found;
        while (begin > out.data && begin[-1] != '\t' && begin[-1] != '\n') begin--;
        name = mz_memory_stringn(begin, (size_t)(found - begin));
    }
    mz_strbuf_release(&out);
    return name;
}

/* Are so few descriptors left that the dynamic linker may have had none? It opens one library at a time. */
static bool few_descriptors(void)
{
    int spare[4];
    size_t n = 0;
    while (n < sizeof spare / sizeof spare[0] && (spare[n] = open("/", O_RDONLY | O_CLOEXEC)) >= 0) n++;
    bool few = n < sizeof spare / sizeof spare[0] && errno == EMFILE;
    while (n > 0) close(spare[--n]);
    return few;
}

#define OR_BUILD_AGAIN                                                                                       \
    "look at its constructors if it does so without mazurka, else build it again with this version of "      \
    "mazurka"

int mz_target_no_start(const struct mz_target *t, const struct mz_outcome *outcome)
{
    const char *name = t->program->name;
    int status = outcome->wait_status;
    if (outcome->interrupted) return mz_fail("%s: interrupted before it started", name);
    if (outcome->channel && outcome->channel->end_text[0]) /* the runtime wrote the reason */
        return mz_fail("%s cannot start: %s", name, outcome->channel->end_text);
    if (few_descriptors()) return mz_fail("%s cannot start: %s", name, mz_reason(EMFILE));
    char *missing = missing_library(t->program->path);
    if (missing)
        mz_fail("%s cannot start: %s is missing", name, missing);
    else if (outcome->timed_out)
        mz_fail("%s: the time limit of %g s was reached before main", name, outcome->time_limit);
    else if (WIFSIGNALED(status))
        mz_fail("%s died before main (signal %d, %s): " OR_BUILD_AGAIN, name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        mz_fail("%s ended before main (exit status %d): " OR_BUILD_AGAIN, name, WEXITSTATUS(status));
    free(missing);
    return MZ_STATUS_FAILED;
}

int mz_target_run(struct mz_target *t, struct mz_outcome *outcome)
{
    *outcome = (struct mz_outcome){.program = t->program->path, .time_limit = t->time_limit};
    int fd = mz_channel_create(t, outcome);
    if (fd < 0) return mz_channel_failed(errno);
    struct mz_watch w = {.target = t, .outcome = outcome, .started = mz_process_clock()};
    w.pid = mz_target_start(t, fd, -1);
    int error = errno;
    close(fd);
    if (w.pid < 0) return mz_fail("cannot run %s: %s", t->program->name, mz_reason(error));
    watch(&w);
    mz_channel_tidy(outcome->channel, &t->options);
    return outcome->channel->started ? 0 : mz_target_no_start(t, outcome);
}

void mz_outcome_release(struct mz_outcome *outcome)
{
    if (outcome->channel) munmap(outcome->channel, outcome->channel_size);
    *outcome = (struct mz_outcome){0};
}
