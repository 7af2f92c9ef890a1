/* One of several searches for the same answer, in a child of the command. The child does everything that the command
 * would do, with its output into memory and its reports into temporary files. So its result is either passed on as a
 * whole, or never seen. */
#ifndef MZ_CMD_MEMBER_H
#define MZ_CMD_MEMBER_H

#include <sys/types.h>
#include "cmd/options.h"
#include "launch/progress.h"

typedef int mz_member_run(void *data, const struct mz_settings *settings);

struct mz_member {
    const char *name;
    pid_t pid; /* 0: has ended, or was not started */
    int out, err;
    char *files[MZ_MAX_WRITERS]; /* report files, as in mz_settings.output_files */
    int status;                  /* exit status, once it has ended */
};

/* Must be called before the first member starts. Return false after one line. */
bool mz_member_prepare(const struct mz_settings *settings);
/* Start a child that calls run(data, settings), with output files of its own. On failure, pid is 0. */
void mz_member_start(struct mz_member *m, struct mz_settings *settings, mz_member_run *run, void *data);
/* Has the member ended? Call this when it may have: it does not wait. */
bool mz_member_has_ended(struct mz_member *m);
void mz_member_signal(const struct mz_member *m, int number);
/* End the member at once, and wait for its end. */
void mz_member_kill(struct mz_member *m);
/* Did it find an answer: an error, or that there is none? */
bool mz_member_has_answer(const struct mz_member *m);
/* Pass on the output and the reports. Return its exit status, or MZ_STATUS_FAILED after one line. */
int mz_member_pass_on(const struct mz_member *m, const struct mz_settings *settings);
void mz_member_release(struct mz_member *m);

#endif
