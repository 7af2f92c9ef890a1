/* What a survey has found so far (engine/tours.c): part of the channel. */
#ifndef MZ_EVENT_SURVEY_H
#define MZ_EVENT_SURVEY_H

#include <stdint.h>

/* The values of tours are samples: their mean is the estimated number of executions. */
struct mz_tour_sums {
    uint64_t tours;
    uint64_t hits;     /* tours with a value above 0 */
    uint64_t too_long; /* executions that have reached the limit of steps: they count as 0 */
    uint64_t reserved;
    long double sum, squares;
    long double logs, log_squares; /* of the binary logarithms of the values above 0 */
};

/* The target writes it while the command reads it: `version` is odd while it changes. */
struct mz_survey_board {
    uint32_t version, reserved[3];
    struct mz_tour_sums sums;
};

#endif
