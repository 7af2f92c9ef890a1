/* The arguments of mz-simulate. All are checked before anything is computed or written. An option that has no
 * meaning in the chosen mode is refused, in one line that names the option and the reason. */
#ifndef MZ_SIMULATE_OPTIONS_H
#define MZ_SIMULATE_OPTIONS_H

#include "simulate.h"

#define MOST_ROWS 64

enum mode { OURS = 1, PAPER = 2, LIVE = 4, RECORD = 8 };

struct arguments {
    struct parameters p;
    enum mode mode;
    bool live, help;
    const char *protocol, *workers, *tsv, *name, *record, *algorithm, *file;
    uint32_t counts[MOST_ROWS], rows; /* of workers, in each row of the table */
};

void read_arguments(struct arguments *a, char **argv);
/* One line on stderr, and status 2. */
_Noreturn void fail(const char *what, const char *why);

#endif
