/* Is this file a program that mazurka can check? */
#ifndef MZ_BUILD_ELF_CHECK_H
#define MZ_BUILD_ELF_CHECK_H

/* Return 0, or MZ_STATUS_FAILED after one line that says why not and what to do. name: for that line. */
int mz_elf_check(const char *path, const char *name);

#endif
