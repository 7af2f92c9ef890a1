/* Several searches for the same answer: see member.h. */
#define _GNU_SOURCE
#include "cmd/member.h"

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
#include "launch/tempdir.h"
#include "report/report.h"

static bool writes_files(const struct mz_settings *settings)
{
    for (int k = 0; mz_writers[k]; k++)
        if (settings->output_files[k]) return true;
    return false;
}

bool mz_member_prepare(const struct mz_settings *settings) { return !writes_files(settings) || mz_tempdir(); }

static void use_own_files(struct mz_member *m, struct mz_settings *settings)
{
    for (int k = 0; mz_writers[k]; k++)
        if (settings->output_files[k])
            settings->output_files[k] = m->files[k] =
                mz_format("%s/%s%s", mz_tempdir(), m->name, mz_writers[k]->suffix);
}

void mz_member_start(struct mz_member *m, struct mz_settings *settings, mz_member_run *run, void *data)
{
    pid_t parent = getpid();
    use_own_files(m, settings);
    m->out = memfd_create("out", MFD_CLOEXEC);
    m->err = memfd_create("err", MFD_CLOEXEC);
    fflush(NULL);
    m->pid = fork();
    if (m->pid > 0) return;
    if (m->pid < 0) {
        m->pid = 0;
        m->status = MZ_STATUS_FAILED;
        return;
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(MZ_STATUS_FAILED);
    dup2(m->out, STDOUT_FILENO);
    dup2(m->err, STDERR_FILENO);
    int status = run(data, settings);
    fflush(NULL);
    _exit(status);
}

static bool wait_for(struct mz_member *m, int flags)
{
    int status;
    pid_t done;
    if (m->pid <= 0) return true;
    do done = waitpid(m->pid, &status, flags);
    while (done < 0 && errno == EINTR);
    if (done == 0) return false;
    m->status = done > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : MZ_STATUS_FAILED;
    m->pid = 0;
    return true;
}

bool mz_member_has_ended(struct mz_member *m) { return wait_for(m, WNOHANG); }

void mz_member_signal(const struct mz_member *m, int number)
{
    if (m->pid > 0) kill(m->pid, number);
}

void mz_member_kill(struct mz_member *m)
{
    mz_member_signal(m, SIGKILL);
    wait_for(m, 0);
}

bool mz_member_has_answer(const struct mz_member *m)
{
    return m->status != MZ_STATUS_FAILED && m->status != MZ_STATUS_INCOMPLETE;
}

static void copy(int from, int to)
{
    char buffer[1 << 16];
    ssize_t n;
    lseek(from, 0, SEEK_SET);
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(to, buffer + done, (size_t)(n - done))) < 0) return;
}

static int copy_file(const char *from, const char *to)
{
    char *text = mz_files_read(from);
    int status = text ? mz_files_write(to, text) : -1;
    free(text);
    return status < 0 ? mz_fail("cannot write %s: %s", to, mz_reason(errno)) : 0;
}

int mz_member_pass_on(const struct mz_member *m, const struct mz_settings *settings)
{
    int status = m->status;
    copy(m->out, STDOUT_FILENO);
    copy(m->err, STDERR_FILENO);
    for (int k = 0; mz_writers[k]; k++)
        if (m->files[k] && copy_file(m->files[k], settings->output_files[k])) status = MZ_STATUS_FAILED;
    return status;
}

void mz_member_release(struct mz_member *m)
{
    for (int k = 0; mz_writers[k]; k++) free(m->files[k]);
    if (m->out > 0) close(m->out);
    if (m->err > 0) close(m->err);
    *m = (struct mz_member){.name = m->name};
}
