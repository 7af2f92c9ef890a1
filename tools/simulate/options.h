/* What mz-simulate is asked to do. All of it is checked before anything is computed or written: options that
 * mean nothing to what is asked for are refused, in one line that says which and why. */
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
