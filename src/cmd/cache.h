/* The cache of built programs: files in one directory, see build.h. */
#ifndef MZ_CMD_CACHE_H
#define MZ_CMD_CACHE_H

#include <stdbool.h>

char *mz_cache_entry(const char *key, const char *name); /* its path; NULL without a cache */
char *mz_cache_temporary(const char *entry);             /* where to build it, to be renamed when complete */
bool mz_cache_use(const char *entry);                    /* is it there? Then it is young again */
void mz_cache_evict(const char *keep);                   /* the oldest go, until the rest is small enough */

#endif
