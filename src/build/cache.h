/* The cache of built programs: files in one directory, see build.h. */
#ifndef MZ_BUILD_CACHE_H
#define MZ_BUILD_CACHE_H

#include <stdbool.h>

char *mz_cache_manifest(const char *key); /* path of the manifest with that key; NULL without a cache */
char *mz_cache_entry(const char *key, const char *name); /* path of a program */
char *
mz_cache_named(const char *name); /* path of the program with that name; NULL if the name is not valid */
char *
mz_cache_temporary(const char *entry); /* a temporary path to build it at; rename it when it is complete */
bool mz_cache_use(const char *entry,
                  int mode); /* can it be read, and with X_OK executed? If so, mark it as used now */
void mz_cache_evict(const char *keep); /* remove the oldest files until the cache is small enough */

#endif
