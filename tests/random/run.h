/* Runs checks in processes of their own: a crash or a hang of the engine counts as a difference. It is reported with
 * its program, which can be shrunk. */
#ifndef MZ_RANDOM_RUN_H
#define MZ_RANDOM_RUN_H

#include "check.h"
#include "generate.h"
#include "stats.h"

struct mz_run {
    uint64_t seed, count; /* programs are those of seed, seed + 1, ...; count 0: no limit */
    double seconds;       /* 0: no limit */
    int jobs;
    unsigned max_differences;
    bool shrink;
    struct mz_knobs knobs;
    struct mz_limits limits;
};

/* Random programs. Returns the number of differences. */
unsigned mz_run_random(const struct mz_run *run);
/* Draw the program of a seed, and make it smaller until it is within the limits; c then has the oracle's answer. */
enum mz_answer mz_run_draw(struct mz_checker *c, const struct mz_knobs *knobs, uint64_t seed,
                           struct mz_model *m, bool *smaller);
/* One program, in a process of its own. Differences are printed; c gets the numbers if there are none. */
enum mz_answer mz_run_one(const struct mz_run *run, const struct mz_model *m, struct mz_checker *c);

#endif
