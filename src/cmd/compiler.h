/* The compiler behind `mazurka cc`: MAZURKA_CC, or cc; behind `mazurka c++`: MAZURKA_CXX, or c++. What it is
 * and which flags it knows is asked once and kept in the cache, under a name that depends on the compiler's
 * file (path, size, time). */
#ifndef MZ_CMD_COMPILER_H
#define MZ_CMD_COMPILER_H

#include <stdbool.h>
#include "../report/list.h"

enum mz_language { MZ_C, MZ_CXX };

struct mz_compiler {
    enum mz_language language; /* of what it links, and of files without another */
    char *setting;             /* as in MAZURKA_CC */
    struct mz_list words;      /* the command: "ccache gcc" has two */
    bool clang;                /* else gcc, or one that behaves like it */
    char *version;             /* its first line of --version */
    struct mz_inputs *inputs;  /* notes what it looks at; NULL: does not matter */
    struct mz_list instrument; /* flags that make it call our hooks; they go behind the user's */
};

/* setting NULL: from the environment. Returns 0, or says what is wrong and returns MZ_STATUS_FAILED.
 * (mz_process_stopped(): the caller says it.) */
int mz_compiler_find(struct mz_compiler *c, enum mz_language language, const char *setting);
/* Is it a script, or some other program around a compiler? Then it may look at any variable of the environment. */
bool mz_compiler_is_wrapped(const struct mz_compiler *c);
void mz_compiler_release(struct mz_compiler *c);

#endif
