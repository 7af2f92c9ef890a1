/* What `check` and `replay` have in common: running a schedule again and comparing findings. */
#ifndef MZ_CMD_RERUN_H
#define MZ_CMD_RERUN_H

#include "report/report.h"
#include "report/tracefile.h"
#include "cmd/options.h"
#include "launch/target.h"

/* Set the options of the runtime that both use. */
void mz_rerun_target(struct mz_target *target, const struct mz_settings *s, const struct mz_program *program,
                     const struct mz_list *arguments);

struct mz_replay { /* a schedule to run again, and its expected result */
    enum mz_kind kind;
    uint8_t thread;
    int code;
    const struct mz_step *schedule;
    size_t length;
    uint64_t address, size;              /* data race: what to watch */
    uint64_t hash;                       /* of the finding, to tell it from others of its kind */
    uint64_t block;                      /* heap: the block to watch; 0: none */
    const struct mz_location *locations; /* locations whose accesses were operations */
    size_t location_count;
    const struct mz_thread_info *threads; /* the slots of the schedule */
};

/* Run the schedule and explain the result. Return 0 and set finding->replayed if the result was the same; return
 * MZ_STATUS_FAILED after one line if it could not be run at all. */
int mz_rerun_replay(struct mz_target *target, const struct mz_replay *replay, struct mz_outcome *outcome,
                    struct mz_finding_report *finding);

#endif
