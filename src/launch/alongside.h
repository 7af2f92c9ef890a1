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
    uint32_t resting; /* so many targets of this search must rest now; at most all */
    uint32_t turn;    /* which ones: they are counted from this one */
};

/* Must the target with this number, of so many, rest now? alongside may be NULL. */
static inline bool mz_alongside_rests(const struct mz_alongside *a, uint32_t number, uint32_t count)
{
    return a && count && (number + count - a->turn % count) % count < a->resting;
}

#endif
