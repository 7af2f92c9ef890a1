/* The compiler behind `mazurka cc` is MAZURKA_CC, or cc; behind `mazurka c++` it is MAZURKA_CXX, or c++. mazurka
 * asks once which compiler it is and which flags it knows, and keeps the answer in the cache under a name that
 * depends on the compiler's file (path, size, time). */
#ifndef MZ_BUILD_COMPILER_H
#define MZ_BUILD_COMPILER_H

#include <stdbool.h>
#include "base/list.h"

enum mz_language { MZ_C, MZ_CXX };

struct mz_compiler {
    enum mz_language language; /* language of the link, and of files that do not show theirs */
    char *setting;             /* as in MAZURKA_CC */
    struct mz_list words;      /* the command: "ccache gcc" has two */
    bool clang;                /* otherwise gcc, or a compiler that behaves like gcc */
    char *version;             /* its first line of --version */
    struct mz_inputs *inputs;  /* collects the files that it looks for; NULL: not needed */
    bool plugin;               /* it loads our plug-in */
    struct mz_list instrument; /* flags that make it call our hooks; they come after the user's */
};

/* setting NULL: read the environment. Return 0, or MZ_STATUS_FAILED after one line. (mz_process_stopped(): the
 * caller prints the line.) */
int mz_compiler_find(struct mz_compiler *c, enum mz_language language, const char *setting);
/* Is it a script or another program that calls a compiler? Then it may read any environment variable. */
bool mz_compiler_is_wrapped(const struct mz_compiler *c);
void mz_compiler_release(struct mz_compiler *c);

#endif
