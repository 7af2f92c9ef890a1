/* The cache of built programs: files in one directory, see build.h. */
#ifndef MZ_CMD_CACHE_H
#define MZ_CMD_CACHE_H

#include <stdbool.h>

char *mz_cache_manifest(const char *key); /* path of what is known under that key; NULL without a cache */
char *mz_cache_entry(const char *key, const char *name); /* path of a program */
char *mz_cache_named(const char *name); /* path of the program of that name; NULL if it is no such name */
char *mz_cache_temporary(const char *entry);    /* where to build it, to be renamed when complete */
bool mz_cache_use(const char *entry, int mode); /* can it be read, and X_OK? Then it is young again */
void mz_cache_evict(const char *keep);          /* the oldest go, until the rest is small enough */

#endif
