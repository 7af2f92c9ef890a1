/* The cache of built programs: see cache.h. */
#define _GNU_SOURCE
#include "build/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "launch/paths.h"

#define LIMIT      (200ll << 20) /* bytes */
#define YOUNG      60            /* seconds: a younger file may be about to be started by another mazurka */
#define ABANDONED  3600          /* seconds: an older temporary file has no owner any more */
#define PROGRAM    "program-"
#define MANIFEST   "inputs-"
#define UNFINISHED "unfinished-"

struct entry {
    char *path;
    int64_t size;
    time_t used;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

char *mz_cache_manifest(const char *key)
{
    const char *cache = mz_paths_cache();
    return cache ? mz_format("%s/" MANIFEST "%.40s", cache, key) : NULL;
}

char *mz_cache_named(const char *name)
{
    if (strncmp(name, PROGRAM, strlen(PROGRAM)) != 0 || strchr(name, '/')) return NULL;
    return mz_format("%s/%s", mz_paths_cache(), name);
}

char *mz_cache_entry(const char *key, const char *name)
{
    const char *cache = mz_paths_cache();
    return cache ? mz_format("%s/" PROGRAM "%.40s-%.40s", cache, key, name) : NULL;
}

char *mz_cache_temporary(const char *entry)
{
    return mz_format("%s/" UNFINISHED "%ld-%.60s", mz_paths_cache(), (long)getpid(), mz_files_base(entry));
}

bool mz_cache_use(const char *entry, int mode)
{
    if (access(entry, R_OK | mode) != 0) return false;
    utimensat(AT_FDCWD, entry, NULL, 0); /* if this fails, only the order of removal changes */
    return true;
}

static int oldest_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->used < y->used ? -1 : x->used > y->used;
}

/* List the programs. Remove files that an interrupted mazurka left unfinished. */
static void list_entries(struct entries *e, const char *cache, time_t now)
{
    DIR *d = opendir(cache);
    struct dirent *found;
    while (d && (found = readdir(d))) {
        struct stat s;
        bool program = !strncmp(found->d_name, PROGRAM, strlen(PROGRAM)) ||
                       !strncmp(found->d_name, MANIFEST, strlen(MANIFEST));
        bool unfinished = !strncmp(found->d_name, UNFINISHED, strlen(UNFINISHED));
        if (!program && !unfinished) continue;
        char *path = mz_format("%s/%s", cache, found->d_name);
        if (stat(path, &s) == 0 && program) {
            MZ_GROW(e->items, e->count, e->capacity);
            e->items[e->count++] = (struct entry){path, s.st_size, s.st_mtime};
            continue;
        }
        if (unfinished && s.st_mtime + ABANDONED < now) unlink(path);
        free(path);
    }
    if (d) closedir(d);
}

void mz_cache_evict(const char *keep)
{
    struct entries e = {0};
    time_t now = time(NULL);
    int64_t total = 0;
    list_entries(&e, mz_paths_cache(), now);
    for (size_t i = 0; i < e.count; i++) total += e.items[i].size;
    if (e.count) qsort(e.items, e.count, sizeof *e.items, oldest_first);
    for (size_t i = 0; i < e.count; i++) {
        bool may_go = strcmp(e.items[i].path, keep) != 0 && e.items[i].used + YOUNG < now;
        if (total > LIMIT && may_go && unlink(e.items[i].path) == 0) total -= e.items[i].size;
        free(e.items[i].path);
    }
    free(e.items);
}
