/* A survey beside a search: another process of the same program that runs random executions (engine/tours.c), to estimate
 * how many the search will have.
 *
 * It starts when the search has lasted for a while, so a small search pays nothing. It may use a small part of the
 * processor time: the command stops it (SIGSTOP) while it has used more, and ends it when the estimate is good. What it
 * finds besides is not reported: what the search reports is its own.
 *
 *   waits -> runs <-> rests -> over */
#ifndef MZ_LAUNCH_SURVEY_H
#define MZ_LAUNCH_SURVEY_H

#include <sys/types.h>
#include "report/interval.h"

struct mz_target;
struct mz_outcome;

enum mz_survey_state { MZ_SURVEY_OFF, MZ_SURVEY_WAITS, MZ_SURVEY_RUNS, MZ_SURVEY_RESTS, MZ_SURVEY_OVER };

struct mz_survey {
    enum mz_survey_state state; /* OFF: not wanted */
    pid_t pid;
    struct mz_outcome *outcome; /* its channel; NULL: not started */
    double next;                /* seconds of the search: when to look again */
    struct mz_interval interval;
};

/* The search has lasted for so long. Call this about ten times a second. */
void mz_survey_look(struct mz_survey *s, const struct mz_target *target, double seconds);
/* The search has ended: end the survey. Its interval stays. */
void mz_survey_end(struct mz_survey *s);
/* The part of the search that is done, from 0 to 1; 0: not known. `path`: the same as the search itself estimates it. */
double mz_survey_share(const struct mz_survey *s, double executions, double path);
/* Of its random executions: always the same. */
uint64_t mz_survey_seed(void);
/* What the survey has found so far: consistent, though it may be written at this moment. */
struct mz_interval mz_survey_read(const struct mz_survey_board *board);

#endif
