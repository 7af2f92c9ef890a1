/* How a long search is getting on, on standard error:
 *
 *   on a terminal   one line, written over and over, erased before anything else is written
 *   into a log      a line now and then, the later the less often
 *   as JSON         an object on each line, every half second and at the end, for other programs
 *
 * The share that is done is an estimate, and so is the time left (docs/PAPERS.md: how good they are). Time is
 * shown only while estimates agree with each other, and with those of when half as much was done. */
#ifndef MZ_CMD_PROGRESS_H
#define MZ_CMD_PROGRESS_H

#include <stdbool.h>
#include "../event/channel.h"

enum mz_progress_form { MZ_PROGRESS_NONE, MZ_PROGRESS_LINE, MZ_PROGRESS_LOG, MZ_PROGRESS_JSON };

struct mz_progress_view { /* what there is to show */
    struct mz_counters counters;
    double share; /* done, estimated; 0: not known */
    uint32_t errors, workers;
};

#define MZ_PROGRESS_SAMPLES 16

struct mz_progress {
    enum mz_progress_form form;
    const char *algorithm;
    double next;   /* seconds since the start: when to write again */
    bool visible;  /* something stands on the line */
    double before; /* leaves of the tree that were explored when this run began */
    double so_far; /* seconds of runs that were given up before this one; shown, and nothing else */
    /* What was seen: for the rate, and to see whether estimates agree. */
    struct {
        double seconds, leaves, total; /* total: estimated; 0: not known */
    } samples[MZ_PROGRESS_SAMPLES];
    uint32_t sample_count;
    double sampled; /* when the last one was taken */
    struct {
        double leaves, total;
    } earlier[2];                   /* when there were half as many leaves or less, and half of that */
    double soon_since;              /* for how long it has been said that it is about to end */
    struct mz_progress_view *board; /* a member of a portfolio writes here instead */
    struct mz_progress_view last;   /* mz_progress_end() */
    double ended;                   /* when; 0: it has not */
};

/* Of one target. */
struct mz_progress_view mz_progress_of(const struct mz_channel *channel);
/* Is it time to look? Looking may cost something. */
bool mz_progress_due(const struct mz_progress *p, double seconds);
void mz_progress_update(struct mz_progress *p, const struct mz_progress_view *view, double seconds);
/* The run has ended: the line goes. */
void mz_progress_end(struct mz_progress *p, const struct mz_progress_view *view, double seconds);
/* There is to be another one, of the same search from its beginning. */
void mz_progress_restart(struct mz_progress *p, double seconds);
/* There is none: the last object comes. */
void mz_progress_close(const struct mz_progress *p);

#endif
