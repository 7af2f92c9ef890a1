/* From sources to a program to check, by way of a cache.
 *
 * The name of a cache entry is a hash of everything that goes into it: the preprocessed sources, the flags,
 * the compiler, the directory, and our own version and place. So an entry is never wrong, only unused.
 * Entries appear by rename, are touched when used, and the oldest go when all together are too big. Without a
 * cache the program is built in the temporary directory.
 */
#ifndef MZ_CMD_BUILD_H
#define MZ_CMD_BUILD_H

#include "../report/list.h"

struct mz_program {
    char *path;        /* to execute */
    char *name;        /* for people, and its argv[0] */
    char identity[65]; /* of the source as the compiler sees it, or of the file */
    char *compiler;    /* that built it; NULL if it was given as a program */
};

/* words: sources and flags for the compiler. setting: the compiler, NULL for MAZURKA_CC. Returns 0, or
 * MZ_STATUS_FAILED after one line. */
int mz_build(const struct mz_list *words, const char *setting, struct mz_program *program);
/* A program that was built with `mazurka cc` before: is it one, and what is its identity? */
int mz_build_take(const char *path, struct mz_program *program);
void mz_program_release(struct mz_program *program);

#endif
