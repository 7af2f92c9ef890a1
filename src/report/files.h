/* Whole files. Neither reading nor writing waits for somebody who may never come: the command has its signals
 * blocked. */
#ifndef MZ_REPORT_FILES_H
#define MZ_REPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "strbuf.h"

/* There is something that is no file, such as /dev/stdout or a pipe: it must not be replaced by one. */
bool mz_files_special(const char *path);
/* Where symbolic links lead to, which need not exist; the caller's. NULL with errno. */
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
