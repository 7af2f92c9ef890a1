/* Where a process is just now: looked up from outside, for a target that does not come back to us. */
#ifndef MZ_CMD_SAMPLE_H
#define MZ_CMD_SAMPLE_H

#include <stdbool.h>
#include <sys/types.h>
#include "../event/channel.h"

/* Stops the process for a moment and follows its frame pointers; what looks like a return address on top of
 * its stack comes last, for it may just be entering or leaving a function. Returns false where that is
 * forbidden. */
bool mz_sample(pid_t pid, const struct mz_channel *channel, struct mz_place *place, uint64_t *stack_pointer);

#endif
