/* `mazurka help`, and the texts behind --help and --version. */
#ifndef MZ_CMD_HELP_H
#define MZ_CMD_HELP_H

int mz_help(const char *command); /* NULL: help for mazurka itself. Return the exit status. */
int mz_version(void);

#endif
