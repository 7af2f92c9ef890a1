/* Whole files. In directories that others can write to, files are made under names that nobody can guess, and links and
 * pipes of others are not followed: they may lead to files of ours. Neither reading nor writing waits for somebody who may never come: the command has its signals
 * blocked. */
#ifndef MZ_REPORT_FILES_H
#define MZ_REPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "strbuf.h"

#define MZ_NOT_OURS EOWNERDEAD /* errno: refused, because others have put it there; see mz_reason() */

/* Can users other than this one (and root) change what is in the directory? */
bool mz_files_shared(const char *directory);
/* Make `path`, which must not exist. A descriptor, or -1 with errno. */
int mz_files_create(const char *path);
/* There is something that is no file, such as /dev/stdout or a pipe: it must not be replaced by one. */
bool mz_files_special(const char *path);
/* Where symbolic links lead to, which need not exist; the caller's. NULL with errno; MZ_NOT_OURS: for somebody else's link
 * or pipe in a shared directory. */
char *mz_files_follow(const char *path);
/* Writes under another name, then renames, so that a reader never sees half of it; a link stays one.
 * 0, or -1 with errno: see mz_reason(). */
int mz_files_store(const char *path, const void *data, size_t length);
int mz_files_write(const char *path, const char *text);
char *mz_files_read(const char *path); /* NULL with errno */
/* All of a regular file; if it does not begin with `magic`, maybe only its beginning. NULL, or what is in the
 * way. */
const char *mz_files_load(const char *path, const char *magic, struct mz_strbuf *b);
const char *mz_files_base(const char *path); /* behind the last slash */

#endif
