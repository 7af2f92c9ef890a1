/* Running a program and reading its standard output. */
#ifndef MZ_LAUNCH_CAPTURE_H
#define MZ_LAUNCH_CAPTURE_H

#include <stddef.h>

enum mz_capture_errors { MZ_CAPTURE_QUIET, MZ_CAPTURE_SHOW }; /* standard error: discarded, or ours */

typedef void mz_capture_sink(void *context, const char *data, size_t length);

/* Return the exit status, or -1 with errno if the program could not be started. sink NULL: discard the output. */
int mz_capture(char **argv, enum mz_capture_errors errors, mz_capture_sink *sink, void *context);
void mz_capture_to_strbuf(void *strbuf, const char *data, size_t length);

#endif
