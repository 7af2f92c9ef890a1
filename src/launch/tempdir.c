/* The temporary directory: see tempdir.h. The only state is the list of what must be removed. */
#define _GNU_SOURCE
#include "launch/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/message.h"
#include "base/strbuf.h"

static char *path, *guarded;
static pid_t owner;

static void remove_tree(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *entry;
    while (d && (entry = readdir(d))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *inside = mz_format("%s/%s", directory, entry->d_name);
        if (unlink(inside) < 0 && (errno == EISDIR || errno == EPERM)) remove_tree(inside);
        free(inside);
    }
    if (d) closedir(d);
    rmdir(directory);
}

void mz_tempdir_guard(const char *file)
{
    free(guarded);
    guarded = mz_memory_string(file);
}

void mz_tempdir_remove(void)
{
    if (!path || owner != getpid()) return;
    if (guarded) unlink(guarded);
    remove_tree(path);
    free(path);
    path = NULL;
}

/* Others may write to the directory, but not to our files. */
static bool is_safe(const char *directory)
{
    struct stat s;
    if (stat(directory, &s) < 0) return true; /* a missing directory is reported later */
    if (s.st_uid != geteuid() && s.st_uid != 0) return geteuid() == 0 && !(s.st_mode & S_IWOTH);
    return !(s.st_mode & S_IWOTH) || (s.st_mode & S_ISVTX);
}

const char *mz_tempdir(void)
{
    if (path) return path;
    const char *parent = getenv("TMPDIR");
    if (!parent || !parent[0]) parent = "/tmp";
    if (!is_safe(parent)) {
        mz_fail("others can replace files in %s, which has no sticky bit: name another directory in TMPDIR",
                parent);
        return NULL;
    }
    char *template = mz_format("%s/mazurka-XXXXXX", parent);
    if (!mkdtemp(template)) {
        mz_fail("cannot make a temporary directory %s: %s", template, strerror(errno));
        free(template);
        return NULL;
    }
    path = template;
    owner = getpid();
    atexit(mz_tempdir_remove);
    return path;
}
