/* Is this file a program that mazurka can check? */
#ifndef MZ_CMD_ELF_CHECK_H
#define MZ_CMD_ELF_CHECK_H

/* Returns 0, or says in one line why not and what to do, and returns MZ_STATUS_FAILED. name: for that line.
 */
int mz_elf_check(const char *path, const char *name);

#endif
