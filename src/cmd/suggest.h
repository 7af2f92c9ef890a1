/* "Did you mean": the known word nearest to a mistyped one. */
#ifndef MZ_CMD_SUGGEST_H
#define MZ_CMD_SUGGEST_H

#include <stddef.h>

/* NULL when nothing is near enough to be worth saying. */
const char *mz_suggest(const char *word, const char *const *known, size_t count);

#endif
