/* Running a program and reading its standard output. */
#ifndef MZ_CMD_CAPTURE_H
#define MZ_CMD_CAPTURE_H

#include <stddef.h>

enum mz_capture_errors { MZ_CAPTURE_QUIET, MZ_CAPTURE_SHOW }; /* its standard error: to nowhere, or ours */

typedef void mz_capture_sink(void *context, const char *data, size_t length);

/* Returns its exit status, or -1 with errno if it could not be started. sink NULL: output is thrown away. */
int mz_capture(char **argv, enum mz_capture_errors errors, mz_capture_sink *sink, void *context);
void mz_capture_to_strbuf(void *strbuf, const char *data, size_t length);

#endif
