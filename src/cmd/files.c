/* Small whole files: see files.h. */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../report/strbuf.h"

bool mz_files_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

int mz_files_write(const char *path, const char *text)
{
    bool special = mz_files_special(path);
    char *temporary = special ? mz_format("%s", path) : mz_format("%s.%ld.tmp", path, (long)getpid());
    FILE *f = fopen(temporary, "we");
    int error = f ? 0 : errno;
    if (f && fputs(text, f) < 0) error = errno;
    if (f && fclose(f) != 0 && !error) error = errno;
    if (!error && !special && rename(temporary, path) < 0) error = errno;
    if (error && f && !special) unlink(temporary);
    free(temporary);
    errno = error;
    return error ? -1 : 0;
}

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

const char *mz_files_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
