/* Compiling and linking for checking. */
#ifndef MZ_CMD_CC_H
#define MZ_CMD_CC_H

#include "cc_line.h"
#include "compiler.h"
#include "paths.h"

/* Does what the line says, with instrumentation. Returns the compiler's exit status, or -1 after one line if
 * it could not be run. failed (may be NULL): names the source that did not compile, NULL if it was the link.
 */
int mz_cc_run(const struct mz_compiler *compiler, const struct mz_paths *paths, const struct mz_cc_line *line,
              const char **failed);

/* The flags that every compilation gets: before the user's, and behind them. */
void mz_cc_flags_before(const struct mz_paths *paths, struct mz_list *to);
void mz_cc_flags_behind(const struct mz_compiler *compiler, struct mz_list *to);
/* What the link gets before everything else, so that our library precedes libc in the search order. */
void mz_cc_flags_link(const struct mz_paths *paths, const struct mz_cc_line *line, struct mz_list *to);

#endif
