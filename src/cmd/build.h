/* From sources to a program to check, by way of a cache.
 *
 * The key is a hash of what we are asked for: the words, the compiler, the directory, the environment that compilers
 * look at, our own version and place. Under it the cache has a manifest: the name of a program, its identity, and
 * every file that compiler, assembler and linker looked for when it was built (inputs.h), found or not. The
 * program is used if none of these has changed; whatever a flag means. Programs have names of their own and are
 * never overwritten, so a check that runs one goes on with it.
 *
 * Files appear by rename, are touched when used, and the oldest go when all together are too big. Without a
 * cache the program is built in the temporary directory. Where a compiler cannot be followed there is no manifest, and
 * it is built each time.
 */
#ifndef MZ_CMD_BUILD_H
#define MZ_CMD_BUILD_H

#include <stdbool.h>
#include "../report/list.h"

struct mz_program {
    char *path;            /* to execute */
    char *name;            /* for people, and its argv[0] */
    char identity[65];     /* of the source as the compiler sees it, or of the file */
    char *compiler;        /* that built it; NULL if it was given as a program */
    struct mz_list unseen; /* code of it that has no hooks, in words */
    bool unseen_code;      /* there are functions without hooks */
};

/* words: sources and flags for the compiler. setting: the compiler, NULL for MAZURKA_CC. Returns 0, or
 * MZ_STATUS_FAILED after one line. */
int mz_build(const struct mz_list *words, const char *setting, struct mz_program *program);
/* A program that was built with `mazurka cc` before: is it one, and what is its identity? */
int mz_build_take(const char *path, struct mz_program *program);
void mz_program_release(struct mz_program *program);

#endif
