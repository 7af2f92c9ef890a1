/* What `check` and `replay` have in common: running a schedule again, comparing findings, writing results. */
#ifndef MZ_CMD_SESSION_H
#define MZ_CMD_SESSION_H

#include "../report/report.h"
#include "../report/text.h"
#include "../report/tracefile.h"
#include "options.h"
#include "target.h"

/* The options for the runtime that both have in common. */
void mz_session_target(struct mz_target *target, const struct mz_settings *s,
                       const struct mz_program *program, const struct mz_list *arguments);

struct mz_replay { /* a schedule to run again, and what is expected of it */
    enum mz_kind kind;
    uint8_t thread;
    int code;
    const struct mz_step *schedule;
    size_t length;
    uint64_t address, size;              /* data race: what to watch */
    uint64_t hash;                       /* of the finding, among several of its kind */
    uint64_t block;                      /* heap: the block to watch; 0: none */
    const struct mz_location *locations; /* that were visible */
    size_t location_count;
    const struct mz_thread_info *threads; /* the slots of the schedule */
};

/* Runs it and explains what came of it. Returns 0 with bug->replayed telling whether it was the same;
 * MZ_STATUS_FAILED after one line if it could not be run at all. */
int mz_session_replay(struct mz_target *target, const struct mz_replay *replay, struct mz_outcome *outcome,
                      struct mz_bug *bug);

/* Writes text and JSON as the settings say. Returns the exit status: that of the verdict, or MZ_STATUS_FAILED
 * if nothing could be written. */
int mz_session_write(struct mz_report *report, const struct mz_settings *s, bool sources);

/* Standard output; 0, or MZ_STATUS_FAILED after one line. */
int mz_session_print(const struct mz_strbuf *text);
unsigned mz_session_width(void); /* of the terminal, else 80 */

#endif
