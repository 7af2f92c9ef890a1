/* Where things are: see paths.h. */
#define _GNU_SOURCE
#include "launch/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/strbuf.h"

static char *own_directory(void)
{
    char buffer[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
    if (n <= 0) return NULL;
    buffer[n] = '\0';
    char *slash = strrchr(buffer, '/');
    return slash ? mz_memory_stringn(buffer, (size_t)(slash - buffer)) : NULL;
}

/* Return the path if the file exists; otherwise free it and return NULL. */
static char *existing(char *path)
{
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

/* Directories of a layout, relative to the directory of the command or its parent. bench is NULL where it is not
 * installed. */
struct layout {
    const char *library_dir, *include_dir, *bench;
};
static const struct layout checkout = {"/build", "/include", "/bench/papers/main.py"};
static const struct layout installed = {"/lib/mazurka", "/include", NULL};
#ifdef MZ_LIBRARY_DIR /* the Makefile's LIBDIR, INCLUDEDIR: absolute, and not beside BINDIR */
static const struct layout elsewhere = {MZ_LIBRARY_DIR, MZ_INCLUDE_DIR, NULL};
#else
static const struct layout elsewhere = {NULL, NULL, NULL};
#endif

static bool use_layout(struct mz_paths *p, const char *dir, const struct layout *l)
{
    if (!l->library_dir) return false;
    p->library = existing(mz_format("%s%s/libmazurka.so", dir, l->library_dir));
    if (!p->library) return false;
    p->library_dir = mz_format("%s%s", dir, l->library_dir);
    p->include_dir = mz_format("%s%s", dir, l->include_dir);
    p->bench = l->bench ? existing(mz_format("%s%s", dir, l->bench)) : NULL;
    return true;
}

int mz_paths_find(struct mz_paths *p)
{
    static struct mz_paths found;
    int status = 0;
    if (!found.library) {
        char *dir = own_directory();
        if (!dir) return mz_fail("cannot find out where mazurka is: /proc/self/exe: %s", strerror(errno));
        char *prefix = mz_memory_string(dir), *slash = strrchr(prefix, '/');
        if (slash) *slash = '\0';
        if (!use_layout(&found, dir, &checkout) && !use_layout(&found, "", &elsewhere) &&
            !use_layout(&found, prefix, &installed))
            status = mz_fail("libmazurka.so is neither in %s%s nor in %s%s: run `make`, or install again",
                             dir, checkout.library_dir, elsewhere.library_dir ? "" : prefix,
                             elsewhere.library_dir ? elsewhere.library_dir : installed.library_dir);
        free(prefix);
        free(dir);
    }
    *p = found;
    return status;
}

/* mkdir -p */
static bool make_directory(char *path)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/') continue;
        char end = *p;
        *p = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *p = end;
        if (!made) return false;
        if (!end) return access(path, W_OK | X_OK) == 0;
    }
}

/* A user who can write to the directory decides which program we run. Return what is wrong with it, or NULL. */
static const char *distrust(const char *directory)
{
    struct stat s;
    char *parent = mz_memory_stringn(directory, (size_t)(strrchr(directory, '/') - directory));
    bool known = stat(*parent ? parent : "/", &s) == 0;
    bool sticky = known && (s.st_mode & S_ISVTX) && (s.st_uid == geteuid() || s.st_uid == 0);
    bool shared = known && mz_files_shared(*parent ? parent : "/");
    free(parent);
    if (lstat(directory, &s) == 0 && S_ISLNK(s.st_mode) && s.st_uid != geteuid() && s.st_uid != 0)
        return "another user has put a link there";
    if (stat(directory, &s) < 0) return NULL;
    if (s.st_uid != geteuid()) return "it belongs to another user";
    if (mz_files_shared(directory)) return "others can write to it";
    return shared && !sticky ? "others can replace it" : NULL;
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
    else if (home && home[0] == '/' && access(home, X_OK) == 0) /* never make a home directory */
        cache = mz_format("%s/.cache/mazurka", home);
    const char *wrong = NULL;
    if (cache && make_directory(cache)) {
        wrong = distrust(cache);
        if (!wrong) return cache;
        mz_notice("the cache %s is not used: %s; remove it, or name another directory in XDG_CACHE_HOME",
                  cache, wrong);
    }
    free(cache);
    cache = NULL;
    return NULL;
}
