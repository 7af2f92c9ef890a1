/* Ranks of one host wake each other: MPI itself can only be asked again and again whether something has come.
 *
 * Each rank tells where the memory is that it shares with its workers (struct mz_common, whose bell it waits
 * at). Who can open that, and finds the same random number in it, rings there when it has sent something. What goes
 * to and fro between rank 0 and another one is counted in the memory of the other one, before it is sent: who has
 * heard that much can sleep. A rank that is elsewhere, or does not allow to open it, or has died, disturbs nobody's
 * count but its own. */
#ifndef MZ_CMD_NEIGHBOUR_H
#define MZ_CMD_NEIGHBOUR_H

#include "../event/message.h"
#include "pool_internal.h"

void mz_neighbour_put(struct mz_message *m, const struct mz_pool *p);
struct mz_common *mz_neighbour_get(struct mz_message *m); /* NULL: not on this host */
void mz_neighbour_ring(struct mz_common *near);           /* NULL: nothing happens */
void mz_neighbour_leave(struct mz_common *near);

#endif
