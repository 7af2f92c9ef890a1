/* The program under test, as src/build makes it and as a target runs it. */
#ifndef MZ_LAUNCH_PROGRAM_H
#define MZ_LAUNCH_PROGRAM_H

#include <stdbool.h>
#include "base/list.h"

struct mz_program {
    char *path;            /* to execute */
    char *name;            /* for people, and its argv[0] */
    char identity[65];     /* of the source as the compiler sees it, or of the file */
    char *compiler;        /* that built it; NULL if it was given as a program */
    struct mz_list unseen; /* code of it that has no hooks, in words */
    bool unseen_code;      /* there are functions without hooks */
};

void mz_program_release(struct mz_program *program);

#endif
