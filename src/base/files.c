/* Whole files: see files.h. */
#define _GNU_SOURCE
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"

#define MOST_LINKS 40
#define WAIT       20  /* milliseconds between two looks for signals */
#define MOST_WAITS 500 /* how long to wait for a reader of a pipe */

/* Is it the name of an open descriptor, such as /dev/stdout? Other programs may write there, too. */
static bool is_descriptor(const char *path)
{
    return !strncmp(path, "/proc/", strlen("/proc/")) || !strncmp(path, "/dev/fd/", strlen("/dev/fd/"));
}

/* ---- directories that others can write to ---- */

bool mz_files_shared(const char *directory)
{
    struct stat s;
    if (stat(directory, &s) < 0) return false;
    bool others = (s.st_mode & S_IWOTH) || ((s.st_mode & S_IWGRP) && s.st_gid != getegid() && s.st_gid != 0);
    return others || (s.st_uid != geteuid() && s.st_uid != 0);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash          ? mz_memory_string(".")
           : slash == path ? mz_memory_string("/")
                           : mz_memory_stringn(path, (size_t)(slash - path));
}

/* Is it a link, a pipe or the like that another user put into a shared directory? */
static bool is_foreign(const char *path)
{
    struct stat entry, parent;
    if (lstat(path, &entry) < 0 || S_ISREG(entry.st_mode) || S_ISDIR(entry.st_mode)) return false;
    char *directory = directory_of(path);
    bool known = stat(directory, &parent) == 0, shared = mz_files_shared(directory);
    free(directory);
    if (!known || !shared || entry.st_uid == geteuid() || entry.st_uid == 0) return false;
    return entry.st_uid != parent.st_uid || (parent.st_mode & S_IWOTH);
}

int mz_files_create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool mz_files_special(const char *path)
{
    struct stat status;
    return is_descriptor(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

char *mz_files_follow(const char *path)
{
    char *at = mz_memory_string(path), target[PATH_MAX];
    for (int i = 0; i < MOST_LINKS; i++) {
        if (!is_descriptor(at) && is_foreign(at)) {
            free(at);
            errno = MZ_NOT_OURS;
            return NULL;
        }
        ssize_t n = is_descriptor(at) ? -1 : readlink(at, target, sizeof target - 1);
        if (n < 0) return at;
        target[n] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        char *next = mz_format("%.*s%s", slash ? (int)(slash - at + 1) : 0, at, target);
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* ---- writing ---- */

static bool told_to_stop(void)
{
    sigset_t pending; /* of the blocked signals, all but SIGCHLD ask us to stop (launch/process.h) */
    if (sigpending(&pending) < 0) return false;
    sigdelset(&pending, SIGCHLD);
    return !sigisemptyset(&pending);
}

static int open_special(const char *path)
{
    struct stat status;
    bool pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    for (int i = 0;; i++) {
        int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO || !pipe || i == MOST_WAITS) return fd;
        if (told_to_stop()) return -1;
        poll(NULL, 0, WAIT);
    }
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){fd, POLLOUT, 0}, 1, WAIT);
            if (!told_to_stop()) continue;
            errno = EINTR;
            return -1;
        }
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) data += n, length -= (size_t)n;
    }
    return 0;
}

/* Nobody can guess the name. If somebody did, O_EXCL would refuse to create the file. */
static char *unused_name(const char *path)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) number = (uint64_t)getpid();
    return mz_format("%s.%" PRIx64 ".tmp", path, number);
}

int mz_files_store(const char *path, const void *data, size_t length)
{
    char *real = mz_files_follow(path);
    if (!real) return -1;
    bool special = mz_files_special(real);
    char *temporary = special ? NULL : unused_name(real);
    int error = 0;
    int fd = special ? open_special(real) : mz_files_create(temporary);
    if (fd < 0 || write_all(fd, data, length) < 0) error = errno;
    if (fd >= 0 && close(fd) < 0 && !error) error = errno;
    if (!error && !special && rename(temporary, real) < 0) error = errno;
    if (error && fd >= 0 && !special) unlink(temporary);
    free(temporary);
    free(real);
    errno = error;
    return error ? -1 : 0;
}

int mz_files_write(const char *path, const char *text) { return mz_files_store(path, text, strlen(text)); }

/* ---- reading ---- */

char *mz_files_read(const char *path)
{
    char buffer[4096];
    struct mz_strbuf b = {0};
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) mz_strbuf_addn(&b, buffer, (size_t)n);
    int error = errno;
    close(fd);
    if (n == 0) return mz_strbuf_take(&b);
    mz_strbuf_release(&b);
    errno = error;
    return NULL;
}

const char *mz_files_load(const char *path, const char *magic, struct mz_strbuf *b)
{
    char buffer[1 << 16];
    struct stat status;
    const char *wrong = NULL;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return strerror(errno);
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        wrong = S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file";
    while (!wrong && (n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n > 0)
            mz_strbuf_addn(b, buffer, (size_t)n);
        else
            wrong = strerror(errno);
        if (strncmp(mz_strbuf_text(b), magic, strlen(magic)) != 0) break;
    }
    close(fd);
    return wrong;
}

const char *mz_files_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
