/* From sources to a program to check, through a cache.
 *
 * The key is a hash of the request: the words, the compiler, the directory, the environment variables that compilers
 * read, our own version and location. Under this key the cache has a manifest: the name of a program, its identity,
 * and every file that compiler, assembler and linker looked for during the build (inputs.h), found or not. The
 * program is used again if none of these files has changed. So the cache need not understand any flag. A program in
 * the cache is never overwritten, so a check that runs it can continue.
 *
 * Files appear by rename and are touched when used. When the cache is too large, the oldest files are removed.
 * Without a cache the program is built in the temporary directory. If a compiler cannot be followed, there is no
 * manifest, and the program is built each time. */
#ifndef MZ_BUILD_BUILD_H
#define MZ_BUILD_BUILD_H

#include <stdbool.h>
#include "launch/program.h"

/* words: sources and flags for the compiler. setting: the compiler; NULL: MAZURKA_CC. Return 0, or MZ_STATUS_FAILED
 * after one line. */
int mz_build(const struct mz_list *words, const char *setting, struct mz_program *program);
/* Take a program that was built with `mazurka cc`: check that it is one, and compute its identity. */
int mz_build_take(const char *path, struct mz_program *program);

#endif
