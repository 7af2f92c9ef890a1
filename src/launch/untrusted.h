/* Data from a target's channel, a checkpoint or another rank cannot be trusted: the program under test can write to
 * the channel, and files can be damaged. These functions bring the data within bounds. Call them before you read a
 * finding, a schedule or the arrays of a channel.
 *
 * Invariants afterwards: numbers of threads, operations, kinds, states, modules and blocks exist; counts fit their
 * arrays; strings end; schedules lie inside their memory. */
#ifndef MZ_LAUNCH_UNTRUSTED_H
#define MZ_LAUNCH_UNTRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include "event/channel.h"

/* Return false if it is not a finding at all. block_count: of its channel; 0: it is in no channel. */
bool mz_finding_tidy(struct mz_finding *f, uint32_t block_count);
/* Do these steps belong to possible threads? */
bool mz_steps_sound(const struct mz_step *steps, size_t count);
/* Everything except the offsets, which the caller has set. */
void mz_channel_contents_tidy(struct mz_channel *c);

#endif
