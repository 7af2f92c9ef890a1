/* Compiling and linking for checking. */
#ifndef MZ_BUILD_CC_H
#define MZ_BUILD_CC_H

#include "build/command_line.h"
#include "build/compiler.h"
#include "launch/paths.h"

/* Run the line with instrumentation. Return the compiler's exit status, or -1 after one line if the compiler could
 * not be run. failed (may be NULL): set to the source that did not compile, or to NULL if the link failed. */
int mz_cc_run(const struct mz_compiler *compiler, const struct mz_paths *paths, const struct mz_cc_line *line,
              const char **failed);

/* Flags of every compilation: those before the user's flags, and those after them. */
void mz_cc_flags_before(const struct mz_paths *paths, struct mz_list *to);
void mz_cc_flags_behind(const struct mz_compiler *compiler, struct mz_list *to);
/* Flags that come first in a link, so that our library precedes libc in the search order. */
void mz_cc_flags_link(const struct mz_paths *paths, const struct mz_cc_line *line, struct mz_list *to);

#endif
