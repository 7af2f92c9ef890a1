/* Each algorithm runs in a child of the command, which does all that the command would, with its output into
 * memory. The first child that has an answer wins: the other one is asked to stop and its output thrown away.
 * A child whose search is incomplete (a limit was reached) or failed only counts if the other does no better.
 */
#define _GNU_SOURCE
#include "portfolio.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../report/memory.h"
#include "../report/report.h"
#include "help.h"

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
} members[] = {{"s-por", MZ_ALG_S_POR}, {"dl-s-por", MZ_ALG_DL_S_POR}};
#define MEMBERS (sizeof members / sizeof *members)

static struct {
    pid_t pid; /* 0: has ended */
    int out, err;
    char *json; /* where it writes its JSON, if to a file */
    int status;
} children[MEMBERS];

/* A signal for the command is one for both. */
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
    own.progress = MZ_NEVER;
    if (own.json_file) own.json_file = children[i].json = mz_format("%s.%s", own.json_file, members[i].name);
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

/* Waits for one to end; which one, or -1. */
static int wait_for_one(void)
{
    int status;
    pid_t pid;
    do {
        pid = wait(&status);
    } while (pid < 0 && errno == EINTR);
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

int mz_portfolio(const struct mz_settings *settings,
                 int (*run)(void *data, const struct mz_settings *settings), void *data)
{
    int best = -1, one;
    fflush(NULL);
    signal(SIGINT, forward);
    signal(SIGTERM, forward);
    for (size_t i = 0; i < MEMBERS; i++) start(i, settings, run, data);
    while ((one = wait_for_one()) >= 0) {
        bool answer = is_answer(children[one].status);
        if (best < 0 || (answer && !is_answer(children[best].status)) ||
            (children[best].status == MZ_STATUS_FAILED && children[one].status != MZ_STATUS_FAILED))
            best = one;
        if (answer) forward(SIGTERM);
    }
    if (best < 0) return mz_fail("check: cannot start processes for the portfolio");
    pass_on(children[best].out, STDOUT_FILENO);
    pass_on(children[best].err, STDERR_FILENO);
    for (size_t i = 0; i < MEMBERS; i++) {
        if (!children[i].json) continue;
        if ((int)i == best)
            rename(children[i].json, settings->json_file);
        else
            unlink(children[i].json);
        free(children[i].json);
    }
    return children[best].status;
}
