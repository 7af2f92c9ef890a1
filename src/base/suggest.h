/* "Did you mean": the known word nearest to a mistyped one. */
#ifndef MZ_BASE_SUGGEST_H
#define MZ_BASE_SUGGEST_H

#include <stddef.h>

/* Return NULL when no word is near enough. */
const char *mz_suggest(const char *word, const char *const *known, size_t count);

#endif
