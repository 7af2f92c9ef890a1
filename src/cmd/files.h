/* Small whole files. */
#ifndef MZ_CMD_FILES_H
#define MZ_CMD_FILES_H

#include <stdbool.h>

/* There is something that is no file, such as /dev/stdout or a pipe: it must not be replaced by one. */
bool mz_files_special(const char *path);
/* Writes under another name, then renames, so that a reader never sees half of it. 0, or -1 with errno. */
int mz_files_write(const char *path, const char *text);
char *mz_files_read(const char *path);       /* NULL with errno */
const char *mz_files_base(const char *path); /* behind the last slash */

#endif
