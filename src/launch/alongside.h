/* Searches that run beside this one and take turns with it on the processors (cmd/companions.c). The code that watches
 * targets calls look() about ten times a second, and lets as many targets rest as look() has asked for. */
#ifndef MZ_LAUNCH_ALONGSIDE_H
#define MZ_LAUNCH_ALONGSIDE_H

#include "launch/progress.h"

#define MZ_ALONGSIDE_EVERY 0.1 /* seconds between two looks */

struct mz_alongside {
    void *data;
    /* Return true if the search is not needed any more. */
    bool (*look)(void *data, const struct mz_progress_view *view);
    uint32_t resting; /* number of targets of this search that must rest now */
    uint32_t turn;    /* the first of them */
};

/* Must the target with this number rest now? count: targets of the search. a may be NULL. */
static inline bool mz_alongside_rests(const struct mz_alongside *a, uint32_t number, uint32_t count)
{
    return a && count && (number + count - a->turn % count) % count < a->resting;
}

#endif
