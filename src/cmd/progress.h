/* The line that shows, on a terminal, how a long search is getting on. It goes to standard error and is
 * erased before anything else is written. */
#ifndef MZ_CMD_PROGRESS_H
#define MZ_CMD_PROGRESS_H

#include <stdbool.h>
#include "../event/channel.h"

struct mz_progress {
    bool on;
    bool terminal; /* overwrite the line; else a new line now and then */
    double next;   /* seconds since the start: when to write again */
    bool visible;  /* something stands on the line */
};

void mz_progress_update(struct mz_progress *p, const struct mz_counters *counters, double seconds);
void mz_progress_erase(struct mz_progress *p);

#endif
