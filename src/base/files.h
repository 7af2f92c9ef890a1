/* Reading and writing whole files.
 *
 * In directories that others can write to, new files get names that nobody can guess, and links and pipes of other
 * users are not followed: they may lead to our own files. Neither reading nor writing waits for a process that may
 * never come, because the command has its signals blocked. */
#ifndef MZ_BASE_FILES_H
#define MZ_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/strbuf.h"

#define MZ_NOT_OURS EOWNERDEAD /* errno: refused, because another user put it there; see mz_reason() */

/* Can users other than this one (and root) change the entries of the directory? */
bool mz_files_shared(const char *directory);
/* Create `path`, which must not exist. Return a descriptor, or -1 with errno. */
int mz_files_create(const char *path);
/* Is it a special file, such as /dev/stdout or a pipe? A regular file must not replace it. */
bool mz_files_special(const char *path);
/* Follow symbolic links; the end of the chain need not exist. Return the path, which the caller frees; or NULL with
 * errno. errno is MZ_NOT_OURS for another user's link or pipe in a shared directory. */
char *mz_files_follow(const char *path);
/* Write a temporary file, then rename it, so that a reader never sees half of a file. A link stays a link. Return 0,
 * or -1 with errno: see mz_reason(). */
int mz_files_store(const char *path, const void *data, size_t length);
int mz_files_write(const char *path, const char *text);
char *mz_files_read(const char *path); /* NULL with errno */
/* Read a whole regular file; if it does not begin with `magic`, perhaps only its beginning. Return NULL, or a text
 * that says why it cannot be read. */
const char *mz_files_load(const char *path, const char *magic, struct mz_strbuf *b);
const char *mz_files_base(const char *path); /* the part after the last slash */

#endif
