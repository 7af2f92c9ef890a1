/* Where a process is at this moment, seen from outside: for a target that hangs. */
#ifndef MZ_LAUNCH_SAMPLE_H
#define MZ_LAUNCH_SAMPLE_H

#include <stdbool.h>
#include <sys/types.h>
#include "event/channel.h"

/* Stop the process briefly and follow its frame pointers. Words at the top of the stack that look like return
 * addresses come last: the process may be entering or leaving a function. Return false where the system does not
 * allow this. */
bool mz_sample(pid_t pid, const struct mz_channel *channel, struct mz_place *place, uint64_t *stack_pointer);

#endif
