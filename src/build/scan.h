/* Code of a program that has no hooks. */
#ifndef MZ_BUILD_SCAN_H
#define MZ_BUILD_SCAN_H

#include <stdbool.h>
#include "base/list.h"

/* Adds a line to unseen for each source file with functions that access shared memory without hooks. Returns whether
 * there are any. A file that cannot be read adds nothing: the attempt to run it reports the error. */
bool mz_scan(const char *program, struct mz_list *unseen);

#endif
