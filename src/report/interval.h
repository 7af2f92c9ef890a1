/* What a survey (event/survey.h) says about the number of executions: an estimate, and an interval that contains the
 * true number in 90 of 100 surveys. */
#ifndef MZ_REPORT_INTERVAL_H
#define MZ_REPORT_INTERVAL_H

#include <stdbool.h>
#include "event/survey.h"

#define MZ_CONFIDENCE 0.9

struct mz_interval {
    double mean, low, high; /* executions; mean 0: not known */
    uint64_t tours;         /* samples */
    bool at_least;          /* some executions were too long to be counted: there are more than this */
};

/* Not known if there are too few samples. */
struct mz_interval mz_interval_of(const struct mz_tour_sums *sums);

#endif
