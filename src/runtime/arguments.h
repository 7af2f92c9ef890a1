/* arguments.c: memory that functions of libc access through their arguments. Called by imports.c. */
#ifndef MZ_RUNTIME_ARGUMENTS_H
#define MZ_RUNTIME_ARGUMENTS_H

#include "runtime.h"

#define MZ_ARGUMENTS 8

struct mz_arguments { /* of a function that are known */
    uint16_t count;
    uint16_t entries[MZ_ARGUMENTS]; /* of the table */
};

void mz_arguments_find(struct mz_arguments *out, const char *function);
void mz_arguments_announce(const struct mz_arguments *which, const uint64_t *a, void *pc, const void *frame);

#endif
