/* Random models. The same seed and knobs give the same model on every machine. */
#ifndef MZ_RANDOM_GENERATE_H
#define MZ_RANDOM_GENERATE_H

#include "model/model.h"

struct mz_knobs {
    int max_threads;    /* mostly 2 up to this, sometimes one more */
    int max_operations; /* about, of one thread: blocks of a lock and its unlock count one each */
    int themes;         /* kinds of operations that meet in one program, at most */
    unsigned always;    /* set of themes that are in every program */
    bool tail;          /* threads that run after the others: executions of more than 64 events */
};

/* The number of a theme, or -1. */
int mz_theme(const char *name);

void mz_generate(uint64_t seed, const struct mz_knobs *knobs, struct mz_model *m);
/* Removes about a quarter of the operations, chosen by the seed. */
void mz_generate_smaller(uint64_t seed, struct mz_model *m);

#endif
