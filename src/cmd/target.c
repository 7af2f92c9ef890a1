/* Running the program under test: see target.h. */
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../report/memory.h"
#include "capture.h"
#include "paths.h"
#include "process.h"
#include "sample.h"

#define GRACE       2.0  /* seconds between asking to stop and killing */
#define POLL        0.1  /* seconds */
#define STALL       20.0 /* seconds without a step: it will not come back */
#define BLOCKED     4.0  /* seconds inside of one system call */
#define RECORDS     (1u << 19)
#define BLOCKS      (1u << 18)
#define LEAST_ARENA (64ull << 20)
#define MOST_ARENA  (1ull << 30)

/* ---- the channel ---- */

static uint64_t align(uint64_t n) { return (n + 4095) & ~4095ull; }

static uint64_t arena_size(uint64_t steps)
{
    uint64_t want = steps * sizeof(struct mz_step) * MZ_MAX_FINDINGS;
    return align(want < LEAST_ARENA ? LEAST_ARENA : want > MOST_ARENA ? MOST_ARENA : want);
}

/* header | live schedule | schedule to replay | records | blocks | schedules of findings
 * The same whether exploring or replaying, or what the program maps later would lie elsewhere. Pages that
 * nobody touches cost nothing. */
static void lay_out(struct mz_channel *c, const struct mz_options_block *options)
{
    uint64_t at = align(sizeof *c), steps = options->max_steps;
    if (options->schedule_length > steps) steps = options->schedule_length;
    c->magic = MZ_CHANNEL_MAGIC;
    c->version = MZ_CHANNEL_VERSION;
    c->size_of_header = sizeof *c;
    c->options = *options;
    c->live_offset = at;
    c->live_capacity = steps + 1;
    at += align(c->live_capacity * sizeof(struct mz_step));
    c->options.schedule_offset = at;
    at += align(steps * sizeof(struct mz_step));
    c->records_offset = at;
    c->records_capacity = RECORDS;
    at += align(RECORDS * sizeof(struct mz_record));
    c->blocks_offset = at;
    c->blocks_capacity = BLOCKS;
    at += align(BLOCKS * sizeof(struct mz_block_history));
    c->arena_offset = at;
    c->arena_size = arena_size(steps);
    c->size = at + c->arena_size;
}

static int create_channel(const struct mz_target *t, struct mz_channel **channel)
{
    struct mz_channel *plan = mz_memory_new(sizeof *plan);
    lay_out(plan, &t->options);
    int fd = memfd_create("mazurka-channel", MFD_CLOEXEC);
    struct mz_channel *c = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)plan->size) == 0)
        c = mmap(NULL, plan->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (c == MAP_FAILED) {
        mz_fail("cannot make the memory shared with the program: %s (is --max-steps too large?)",
                strerror(errno));
        if (fd >= 0) close(fd);
        free(plan);
        return -1;
    }
    /* Not the whole header: pages of findings that never come are never touched. */
    c->magic = plan->magic, c->version = plan->version, c->size_of_header = plan->size_of_header;
    c->size = plan->size, c->options = plan->options;
    c->live_offset = plan->live_offset, c->live_capacity = plan->live_capacity;
    c->records_offset = plan->records_offset, c->records_capacity = plan->records_capacity;
    c->blocks_offset = plan->blocks_offset, c->blocks_capacity = plan->blocks_capacity;
    c->arena_offset = plan->arena_offset, c->arena_size = plan->arena_size;
    if (t->options.mode == MZ_MODE_REPLAY && t->location_count) {
        c->location_count =
            (uint32_t)(t->location_count < MZ_MAX_LOCATIONS ? t->location_count : MZ_MAX_LOCATIONS);
        memcpy(c->locations, t->locations, c->location_count * sizeof *c->locations);
    }
    if (t->options.mode == MZ_MODE_REPLAY)
        memcpy((char *)c + c->options.schedule_offset, t->schedule,
               t->options.schedule_length * sizeof(struct mz_step));
    free(plan);
    *channel = c;
    return fd;
}

/* What the target wrote is believed only within bounds: it may have been damaged by the program. */
static void tidy(struct mz_channel *c, const struct mz_options_block *options)
{
    struct mz_channel *plan = mz_memory_new(sizeof *plan);
    lay_out(plan, options);
    c->size = plan->size;
    c->live_offset = plan->live_offset, c->live_capacity = plan->live_capacity;
    c->records_offset = plan->records_offset, c->records_capacity = plan->records_capacity;
    c->blocks_offset = plan->blocks_offset, c->blocks_capacity = plan->blocks_capacity;
    free(plan);
    if (c->live_length > c->live_capacity) c->live_length = c->live_capacity;
    if (c->record_count > c->records_capacity) c->record_count = (uint32_t)c->records_capacity;
    if (c->block_count > c->blocks_capacity) c->block_count = (uint32_t)c->blocks_capacity;
    if (c->finding_count > MZ_MAX_FINDINGS) c->finding_count = MZ_MAX_FINDINGS;
    if (c->location_count > MZ_MAX_LOCATIONS) c->location_count = MZ_MAX_LOCATIONS;
    if (c->warning_count > MZ_MAX_WARNINGS) c->warning_count = MZ_MAX_WARNINGS;
    if (c->module_count > MZ_MAX_MODULES) c->module_count = MZ_MAX_MODULES;
    c->end_text[sizeof c->end_text - 1] = '\0';
    for (int i = 0; i < MZ_MAX_THREADS; i++) c->threads[i].name[sizeof c->threads[i].name - 1] = '\0';
    for (uint32_t i = 0; i < c->module_count; i++) c->modules[i].path[sizeof c->modules[i].path - 1] = '\0';
    for (size_t i = 0; i < sizeof c->notes / MZ_TEXT; i++) c->notes[i][MZ_TEXT - 1] = '\0';
    for (uint32_t i = 0; i < c->finding_count; i++) {
        struct mz_finding *f = &c->findings[i];
        f->text[MZ_TEXT - 1] = f->file[MZ_TEXT - 1] = '\0';
        if (f->thread >= MZ_MAX_THREADS) f->thread = 0;
        if (f->other_thread >= MZ_MAX_THREADS) f->other_thread = 0;
        if (f->block > c->block_count) f->block = 0;
        if (f->op >= MZ_OP_COUNT) f->op = MZ_OP_NONE;
        if (f->other_op >= MZ_OP_COUNT) f->other_op = MZ_OP_NONE;
        if (f->steps_offset > c->size || f->steps > (c->size - f->steps_offset) / sizeof(struct mz_step))
            f->steps = 0;
    }
}

const struct mz_step *mz_outcome_schedule(const struct mz_outcome *outcome, const struct mz_finding *finding)
{
    return (const void *)((const char *)outcome->channel + finding->steps_offset);
}

/* ---- the child ---- */

static void redirect(const struct mz_target *t)
{
    struct stat in;
    int nowhere = open("/dev/null", O_RDWR);
    if (fstat(STDIN_FILENO, &in) < 0 || !S_ISREG(in.st_mode)) dup2(nowhere, STDIN_FILENO);
    if (!t->show_output) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    } else if (t->output_to_stderr) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    if (nowhere > STDERR_FILENO) close(nowhere);
}

/* The same library as the command's, wherever the program was linked. */
static void set_library_path(void)
{
    struct mz_paths paths;
    const char *old = getenv("LD_LIBRARY_PATH");
    if (mz_paths_find(&paths) != 0) return;
    char *value = mz_format("%s%s%s", paths.library_dir, old ? ":" : "", old ? old : "");
    setenv("LD_LIBRARY_PATH", value, 1);
    free(value);
}

static char **child_argv(const struct mz_target *t)
{
    struct mz_list argv = {0};
    mz_list_add(&argv, t->program->name);
    mz_list_append(&argv, t->arguments);
    return mz_list_argv(&argv);
}

static _Noreturn void run_child(const struct mz_target *t, int channel, int report, pid_t parent)
{
    struct rlimit no_core = {0, 0};
    char number[16];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    setrlimit(RLIMIT_CORE, &no_core);
    personality(
        ADDR_NO_RANDOMIZE); /* where it is forbidden, addresses differ between runs; no harm but names */
    redirect(t);
    fcntl(channel, F_SETFD, 0);
    snprintf(number, sizeof number, "%d", channel);
    setenv(MZ_CHANNEL_ENV, number, 1);
    set_library_path();
    mz_process_restore_signals();
    char **argv = child_argv(t);
    execv(t->program->path, argv);
    int error = errno;
    if (write(report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

static pid_t start(const struct mz_target *t, int channel)
{
    int report[2], error = 0;
    pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) < 0) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) run_child(t, channel, report[1], parent);
    if (pid < 0) error = errno;
    close(report[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        if (read(report[0], &error, sizeof error) != (ssize_t)sizeof error) error = 0;
    }
    close(report[0]);
    if (pid > 0 && error) waitpid(pid, NULL, 0);
    errno = error;
    return error ? -1 : pid;
}

/* ---- watching ---- */

struct watch {
    struct mz_target *target;
    struct mz_outcome *outcome;
    pid_t pid;
    double started, asked; /* asked: when we asked it to stop; 0: not yet */
    uint64_t last_sign;    /* of life, and when it changed */
    double last_change;
};

static void ask_to_stop(struct watch *w, double now)
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

/* It does not come back: look where it is, then end it. */
static void kill_target(struct watch *w)
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

static void look_at_time(struct watch *w, double now)
{
    double limit = w->target->time_limit;
    if (limit > 0 && now - w->started >= limit && w->asked <= 0) {
        w->outcome->timed_out = true;
        ask_to_stop(w, now);
    }
    if (w->asked > 0 && now - w->asked >= GRACE) kill_target(w);
}

/* A system call that does not return stops all threads, as they share one thread of the system. */
static void end_blocked(struct watch *w)
{
    struct mz_channel *c = w->outcome->channel;
    c->kernel_call[sizeof c->kernel_call - 1] = '\0';
    kill_target(w);
    c->end_place = c->kernel_place;
    c->end_thread = c->kernel_thread;
    snprintf(
        c->end_text, sizeof c->end_text,
        "the system call %s does not return: a thread may wait for other threads only by locks, condition "
        "variables, semaphores and joins",
        c->kernel_call);
    c->end = MZ_END_UNSUPPORTED;
}

/* A thread that loops without a visible operation never lets the search go on. */
static void look_for_life(struct watch *w, double now)
{
    const struct mz_channel *c = w->outcome->channel;
    uint64_t sign =
        c->counters.executions * 1000003 + c->counters.blocked * 101 + c->live_length + c->finding_count;
    if (sign != w->last_sign || c->analysing) w->last_sign = sign, w->last_change = now;
    if (c->in_kernel && now - w->last_change >= BLOCKED) {
        end_blocked(w);
        return;
    }
    if (now - w->last_change < STALL || w->asked > 0) return;
    w->outcome->stalled = true;
    kill_target(w);
}

static void handle(struct watch *w, int signal)
{
    if (signal == 0 || signal == SIGCHLD) return;
    if (w->outcome->interrupted) kill_target(w); /* the second time: at once */
    w->outcome->interrupted = true;
    ask_to_stop(w, mz_process_clock());
}

static double patience(const struct watch *w, double now)
{
    double limit = w->target->time_limit, left = limit > 0 && w->asked <= 0 ? w->started + limit - now : POLL;
    return left < 0 ? 0 : left < POLL ? left : POLL;
}

static void watch(struct watch *w)
{
    struct rusage usage = {0};
    w->started = w->last_change = mz_process_clock();
    for (;;) {
        pid_t done = wait4(w->pid, &w->outcome->wait_status, WNOHANG, &usage);
        double now = mz_process_clock();
        if (done == w->pid || (done < 0 && errno != EINTR)) break;
        look_at_time(w, now);
        look_for_life(w, now);
        mz_progress_update(&w->target->progress, w->outcome->channel, now - w->started);
        handle(w, mz_process_next_signal(patience(w, now)));
    }
    kill(-w->pid, SIGKILL); /* whatever it started itself */
    mz_progress_erase(&w->target->progress);
    w->outcome->seconds = mz_process_clock() - w->started;
    w->outcome->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- a target that never got to us ---- */

/* Asks the dynamic linker which library is missing. */
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

static int explain_no_start(const struct mz_target *t, const struct mz_outcome *outcome)
{
    const char *name = t->program->name;
    int status = outcome->wait_status;
    if (outcome->interrupted) return mz_fail("%s: interrupted before it started", name);
    char *missing = missing_library(t->program->path);
    if (missing)
        mz_fail("%s cannot start: %s is missing", name, missing);
    else if (WIFSIGNALED(status))
        mz_fail("%s died before main (signal %d): build it again with this version of mazurka", name,
                WTERMSIG(status));
    else
        mz_fail("%s ended before main (exit status %d): build it again with this version of mazurka", name,
                WEXITSTATUS(status));
    free(missing);
    return MZ_STATUS_FAILED;
}

int mz_target_run(struct mz_target *t, struct mz_outcome *outcome)
{
    *outcome = (struct mz_outcome){.program = t->program->path, .time_limit = t->time_limit};
    int fd = create_channel(t, &outcome->channel);
    if (fd < 0) return MZ_STATUS_FAILED;
    struct watch w = {.target = t, .outcome = outcome, .pid = start(t, fd)};
    int error = errno;
    close(fd);
    if (w.pid < 0) return mz_fail("cannot run %s: %s", t->program->name, strerror(error));
    watch(&w);
    tidy(outcome->channel, &t->options);
    return outcome->channel->started ? 0 : explain_no_start(t, outcome);
}

void mz_outcome_release(struct mz_outcome *outcome)
{
    if (outcome->channel) munmap(outcome->channel, outcome->channel->size);
    *outcome = (struct mz_outcome){0};
}
