/* Start the program under test, watch it, and keep what it left in the channel.
 *
 * The target runs in its own process group, so that Ctrl-C reaches only the command, which asks the target to stop
 * and then reports. The target dies with the command. Its standard input is empty unless ours is a file; its output
 * is discarded unless the user asks for it; it leaves no core file. */
#ifndef MZ_LAUNCH_TARGET_H
#define MZ_LAUNCH_TARGET_H

#include "launch/alongside.h"
#include "report/collect.h"
#include "launch/program.h"
#include "launch/progress.h"
#include "launch/survey.h"

struct mz_target {
    const struct mz_program *program;
    const struct mz_list *arguments; /* without its name */
    bool show_output;
    bool output_to_stderr; /* standard output is for JSON */
    double time_limit;     /* seconds; 0: none */
    double rival;          /* executions per second: after a while, a slower target is ended; 0: no limit */
    bool cluster;          /* what is open besides the channel is not the program's */
    char **environment;    /* NULL: ours */
    uint64_t stack_limit;  /* 0: ours */
    struct mz_progress progress;
    struct mz_survey survey;
    struct mz_alongside *alongside;      /* NULL: no other search runs beside this one */
    struct mz_options_block options;     /* mode, algorithm and so on; offsets are filled in */
    const struct mz_location *locations; /* MZ_MODE_REPLAY: those that are visible */
    size_t location_count;
    char *tree_file;                /* NULL: the tree is not recorded */
    const struct mz_step *schedule; /* MZ_MODE_REPLAY; options.schedule_length says how long */
    /* MZ_MODE_REPLAY: MZ_MAX_THREADS of them, the slots of the schedule */
    const struct mz_thread_info *threads;
};

/* Run the program to its end. Return 0 and the outcome, or MZ_STATUS_FAILED after one line if it could not be run at
 * all. */
int mz_target_run(struct mz_target *target, struct mz_outcome *outcome);
void mz_outcome_release(struct mz_outcome *outcome);

/* The schedule of a finding, inside the channel. */
const struct mz_step *mz_outcome_schedule(const struct mz_outcome *outcome, const struct mz_finding *finding);

#endif
