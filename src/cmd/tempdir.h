/* One directory for all temporary files of the command. It is made when first asked for and removed, with
 * all that is in it, when the command ends: by exit(), or by a signal (src/cmd/process.c). */
#ifndef MZ_CMD_TEMPDIR_H
#define MZ_CMD_TEMPDIR_H

/* Its path, or NULL after one line that says why there is none. */
const char *mz_tempdir(void);
void mz_tempdir_remove(void);
/* A file elsewhere that is to go with it, if the command ends before mz_tempdir_guard(NULL). */
void mz_tempdir_guard(const char *file);

#endif
