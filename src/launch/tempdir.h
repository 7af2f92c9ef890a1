/* One directory for all temporary files of the command. It is created at its first use, and removed with its content
 * when the command ends: by exit(), or by a signal (src/launch/process.c). */
#ifndef MZ_LAUNCH_TEMPDIR_H
#define MZ_LAUNCH_TEMPDIR_H

/* Its path, or NULL after one line that says why there is none. */
const char *mz_tempdir(void);
void mz_tempdir_remove(void);
/* Also remove this file, which is elsewhere, if the command ends before mz_tempdir_guard(NULL). */
void mz_tempdir_guard(const char *file);

#endif
