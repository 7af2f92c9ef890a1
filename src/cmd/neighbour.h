/* Ranks of one host wake each other: MPI itself can only be asked again and again whether something has come.
 *
 * Each rank tells where the memory is that it shares with its workers (struct mz_common, whose bell it waits
 * at). Who can open that, and finds the same random number in it, counts there what it sends, and rings. So who
 * has heard as many messages as were announced can sleep; who is elsewhere, or is not allowed to open it, does
 * without. */
#ifndef MZ_CMD_NEIGHBOUR_H
#define MZ_CMD_NEIGHBOUR_H

#include "../event/message.h"
#include "pool_internal.h"

void mz_neighbour_put(struct mz_message *m, const struct mz_pool *p);
struct mz_common *mz_neighbour_get(struct mz_message *m); /* NULL: not on this host */
/* Before a message, so that nobody has ever heard more than was announced, and after it. NULL: nothing happens. */
void mz_neighbour_announce(struct mz_common *near);
void mz_neighbour_ring(struct mz_common *near);
void mz_neighbour_leave(struct mz_common *near);

#endif
