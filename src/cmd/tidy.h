/* What comes from a target's channel, a checkpoint or another rank is not to be relied on: the program under test can
 * write to the channel, files can be damaged. These functions bring it within bounds. Call
 * them before you read a finding, a schedule or the arrays of a channel.
 *
 * Invariants afterwards: numbers of threads, operations, kinds, states, modules and blocks are ones that exist; counts
 * fit their arrays; strings end; schedules lie inside of the memory that they are in. */
#ifndef MZ_CMD_TIDY_H
#define MZ_CMD_TIDY_H

#include <stdbool.h>
#include <stddef.h>
#include "../event/channel.h"

/* False: it is no finding at all. block_count: of the channel that it is in; 0: it is in none. */
bool mz_finding_tidy(struct mz_finding *f, uint32_t block_count);
/* Are these steps of threads that can be? */
bool mz_steps_sound(const struct mz_step *steps, size_t count);
/* All but where things lie, which the caller has put there. */
void mz_channel_contents_tidy(struct mz_channel *c);

#endif
