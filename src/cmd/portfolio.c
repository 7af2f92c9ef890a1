/* Each algorithm runs in a child of the command. The child does everything that the command would do, with its
 * output into memory. The first child with an answer wins: the other child is asked to stop, and its output is
 * discarded. A child whose search is incomplete (a limit was reached) or failed counts only if the other child does
 * no better. */
#define _GNU_SOURCE
#include "cmd/portfolio.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "report/report.h"
#include "cmd/help.h"
#include "launch/process.h"
#include "launch/tempdir.h"

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
} members[] = {{"s-por", MZ_ALG_S_POR}, {"dl-s-por", MZ_ALG_DL_S_POR}};
#define MEMBERS (sizeof members / sizeof *members)

static struct {
    pid_t pid; /* 0: has ended */
    int out, err;
    char *files[MZ_MAX_WRITERS]; /* report files, as in mz_settings.output_files */
    int status;
} children[MEMBERS];

static struct mz_progress_view *boards; /* progress of each member, in shared memory */

/* A signal for the command is also for both children. */
static void forward(int number)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (children[i].pid > 0) kill(children[i].pid, number);
}

static void start(size_t i, const struct mz_settings *settings,
                  int (*run)(void *data, const struct mz_settings *settings), void *data)
{
    struct mz_settings own = *settings;
    own.algorithm = members[i].algorithm;
    own.algorithm_name = members[i].name;
    own.portfolio = false;
    own.jobs = 1;
    own.progress = MZ_NEVER;
    own.board = boards ? &boards[i] : NULL;
    for (int k = 0; mz_writers[k]; k++)
        if (own.output_files[k])
            own.output_files[k] = children[i].files[k] =
                mz_format("%s/%s%s", mz_tempdir(), members[i].name, mz_writers[k]->suffix);
    children[i].out = memfd_create("out", 0);
    children[i].err = memfd_create("err", 0);
    children[i].pid = fork();
    if (children[i].pid != 0) return;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(children[i].out, STDOUT_FILENO);
    dup2(children[i].err, STDERR_FILENO);
    int status = run(data, &own);
    fflush(NULL);
    _exit(status);
}

static bool is_answer(int status) { return status != MZ_STATUS_FAILED && status != MZ_STATUS_INCOMPLETE; }

/* Progress of both together. */
static struct mz_progress_view view(void)
{
    struct mz_progress_view all = {.workers = MEMBERS};
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct mz_counters *c = &boards[i].counters;
        all.counters.executions += c->executions;
        all.counters.states += c->states;
        all.counters.revisited += c->revisited;
        if (c->max_depth > all.counters.max_depth) all.counters.max_depth = c->max_depth;
        if (boards[i].errors > all.errors) all.errors = boards[i].errors;
    }
    return all;
}

/* A terminal sends a signal to all of us: pass it on only to children that still run later. */
#define LATER 0.5

static pid_t wait_and_show(struct mz_progress *progress, int *status)
{
    static double started, asked;
    static int which;
    if (started <= 0) started = mz_process_clock();
    for (;;) {
        pid_t pid = waitpid(-1, status, WNOHANG);
        if (pid > 0 || (pid < 0 && errno != EINTR)) return pid;
        double now = mz_process_clock();
        if (boards && mz_progress_due(progress, now - started)) {
            struct mz_progress_view all = view();
            mz_progress_update(progress, &all, now - started);
        }
        int signal = mz_process_next_signal(0.1);
        if (signal && signal != SIGCHLD) which = signal, asked = asked > 0 ? asked : now;
        if (which && now - asked >= LATER) {
            forward(which);
            which = 0;
        }
    }
}

/* Wait for a child to end. Return its number, or -1. */
static int wait_for_one(struct mz_progress *progress)
{
    int status;
    pid_t pid = wait_and_show(progress, &status);
    for (size_t i = 0; i < MEMBERS; i++) {
        if (pid <= 0 || children[i].pid != pid) continue;
        children[i].pid = 0;
        children[i].status = WIFEXITED(status) ? WEXITSTATUS(status) : MZ_STATUS_FAILED;
        return (int)i;
    }
    return -1;
}

static void pass_on(int from, int to)
{
    char buffer[1 << 16];
    ssize_t n;
    lseek(from, 0, SEEK_SET);
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(to, buffer + done, (size_t)(n - done))) < 0) return;
}

static int pass_on_file(const char *from, const char *to)
{
    char *text = mz_files_read(from);
    int status = text ? mz_files_write(to, text) : -1;
    free(text);
    return status < 0 ? mz_fail("cannot write %s: %s", to, mz_reason(errno)) : 0;
}

/* Pass on the reports of the winning child. Return 0, or MZ_STATUS_FAILED after one line. */
static int pass_on_reports(int child, const struct mz_settings *settings)
{
    int failed = 0;
    for (int k = 0; mz_writers[k]; k++)
        if (children[child].files[k] && pass_on_file(children[child].files[k], settings->output_files[k]))
            failed = MZ_STATUS_FAILED;
    for (size_t i = 0; i < MEMBERS; i++)
        for (int k = 0; mz_writers[k]; k++) free(children[i].files[k]);
    return failed;
}

static bool writes_files(const struct mz_settings *settings)
{
    for (int k = 0; mz_writers[k]; k++)
        if (settings->output_files[k]) return true;
    return false;
}

int mz_portfolio(const struct mz_settings *settings, struct mz_progress *progress,
                 int (*run)(void *data, const struct mz_settings *settings), void *data)
{
    int best = -1, one;
    if (writes_files(settings) && !mz_tempdir()) return MZ_STATUS_FAILED;
    fflush(NULL);
    boards = mmap(NULL, MEMBERS * sizeof *boards, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (boards == MAP_FAILED) boards = NULL; /* then there is no progress line */
    double started = mz_process_clock();
    for (size_t i = 0; i < MEMBERS; i++) start(i, settings, run, data);
    while ((one = wait_for_one(progress)) >= 0) {
        bool answer = is_answer(children[one].status);
        if (best < 0 || (answer && !is_answer(children[best].status)) ||
            (children[best].status == MZ_STATUS_FAILED && children[one].status != MZ_STATUS_FAILED))
            best = one;
        if (answer) forward(SIGTERM);
    }
    struct mz_progress_view all = boards ? view() : (struct mz_progress_view){0};
    all.work_done = best >= 0 && is_answer(children[best].status) ? 1 : 0;
    mz_progress_end(progress, &all, mz_process_clock() - started);
    mz_progress_close(progress);
    if (best < 0) return mz_fail("check: cannot start processes for the portfolio");
    pass_on(children[best].out, STDOUT_FILENO);
    pass_on(children[best].err, STDERR_FILENO);
    int failed = pass_on_reports(best, settings);
    return failed ? failed : children[best].status;
}
