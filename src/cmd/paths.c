/* Where things are: see paths.h. */
#define _GNU_SOURCE
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../report/memory.h"
#include "../report/message.h"
#include "../report/strbuf.h"

static char *own_directory(void)
{
    char buffer[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
    if (n <= 0) return NULL;
    buffer[n] = '\0';
    char *slash = strrchr(buffer, '/');
    return slash ? mz_memory_stringn(buffer, (size_t)(slash - buffer)) : NULL;
}

static const char *existing(char *path)
{
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

static bool use_layout(struct mz_paths *p, const char *library_dir, char *library, char *include_dir,
                       char *bench)
{
    p->library = existing(library);
    p->library_dir = library_dir;
    p->include_dir = include_dir;
    p->bench = existing(bench);
    return p->library != NULL;
}

int mz_paths_find(struct mz_paths *p)
{
    char *dir = own_directory();
    if (!dir) return mz_fail("cannot find out where mazurka is: /proc/self/exe: %s", strerror(errno));
    char *prefix = mz_memory_string(dir), *slash = strrchr(prefix, '/');
    if (slash) *slash = '\0';
    if (use_layout(p, mz_format("%s/build", dir), mz_format("%s/build/libmazurka.so", dir),
                   mz_format("%s/include", dir), mz_format("%s/bench/run.sh", dir)))
        return 0;
    if (use_layout(p, mz_format("%s/lib/mazurka", prefix), mz_format("%s/lib/mazurka/libmazurka.so", prefix),
                   mz_format("%s/include", prefix), mz_format("%s/share/mazurka/bench/run.sh", prefix)))
        return 0;
    return mz_fail("libmazurka.so is neither in %s/build nor in %s/lib/mazurka: run `make`, or install again",
                   dir, prefix);
}

/* mkdir -p */
static bool make_directory(char *path)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/') continue;
        char end = *p;
        *p = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = end;
        if (!made) return false;
        if (!end) return access(path, W_OK | X_OK) == 0;
    }
}

const char *mz_paths_cache(void)
{
    static char *cache;
    static bool tried;
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (tried) return cache;
    tried = true;
    if (base && base[0] == '/')
        cache = mz_format("%s/mazurka", base);
    else if (home && home[0] == '/')
        cache = mz_format("%s/.cache/mazurka", home);
    if (!cache || make_directory(cache)) return cache;
    free(cache);
    cache = NULL;
    return NULL;
}
