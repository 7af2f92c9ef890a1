/* Progress of a long search, on standard error:
 *
 *   on a terminal   one line that is overwritten, and erased before anything else is written
 *   into a log      a line now and then, less often as time goes on
 *   as JSON         an object on each line, every half second and at the end, for other programs
 *
 * The part that is done and the time left are estimates (docs/PAPERS.md says how good they are). The time left is
 * shown only while the estimates agree with each other, and with those made when half as much was done. */
#ifndef MZ_LAUNCH_PROGRESS_H
#define MZ_LAUNCH_PROGRESS_H

#include <stdbool.h>
#include "event/channel.h"
#include "launch/survey.h"

enum mz_progress_form { MZ_PROGRESS_NONE, MZ_PROGRESS_LINE, MZ_PROGRESS_LOG, MZ_PROGRESS_JSON };

struct mz_progress_view { /* the values to show */
    struct mz_counters counters;
    uint64_t classes;         /* of a sample: that were met; 0: it is no sample */
    double work_done;         /* estimated part that is done, from 0 to 1; 0: not known */
    struct mz_interval total; /* all executions, as a survey estimates them */
    uint32_t errors, workers;
};

#define MZ_PROGRESS_SAMPLES 16

struct mz_progress {
    enum mz_progress_form form;
    const char *algorithm;
    double next;   /* seconds since the start: when to write again */
    bool visible;  /* a progress line is on the terminal */
    double before; /* leaves of the tree that were explored before this run */
    double so_far; /* seconds of earlier attempts of this search; only shown */
    /* Samples, for the rate and to see whether estimates agree. */
    struct {
        double seconds, leaves, total; /* total: estimated; 0: not known */
    } samples[MZ_PROGRESS_SAMPLES];
    uint32_t sample_count;
    double sampled; /* time of the last sample */
    struct {
        double leaves, total;
    } earlier[2];                   /* the samples with half as many leaves or fewer, and with half of that */
    double soon_since;              /* how long the line has said that the search is about to end */
    struct mz_progress_view *board; /* a member of a portfolio writes here instead */
    struct mz_progress_view last;   /* mz_progress_end() */
    double ended;                   /* time; 0: not yet */
};

/* The values of one target, and of the survey beside it. */
struct mz_progress_view mz_progress_of(const struct mz_channel *channel, const struct mz_survey *survey);
/* Is it time for a new sample? Collecting values may be expensive. */
bool mz_progress_due(const struct mz_progress *p, double seconds);
void mz_progress_update(struct mz_progress *p, const struct mz_progress_view *view, double seconds);
/* A run has ended: erase the line. */
void mz_progress_end(struct mz_progress *p, const struct mz_progress_view *view, double seconds);
/* The same search will start again from its beginning. */
void mz_progress_restart(struct mz_progress *p, double seconds);
/* The search has ended: write the last object. */
void mz_progress_close(const struct mz_progress *p);

#endif
