/* Ranks of one host wake each other: MPI can only be polled for messages.
 *
 * Each rank tells the others where the memory is that it shares with its workers (struct mz_common, whose bell it
 * waits at). A rank that can open this memory, and finds the right random number in it, rings that bell after it has
 * sent a message. Messages between rank 0 and another rank are counted in the memory of the other rank before they
 * are sent: a receiver that has received that many may sleep. If a rank is on another host, does not let others open
 * its memory, or has died, only its own count is affected. */
#ifndef MZ_DIST_HOST_BELL_H
#define MZ_DIST_HOST_BELL_H

#include "event/packet.h"
#include "dist/pool_internal.h"

void mz_host_bell_put(struct mz_message *m, const struct mz_pool *p);
struct mz_common *mz_host_bell_open(struct mz_message *m); /* NULL: not on this host */
void mz_host_bell_ring(struct mz_common *near);            /* NULL: does nothing */
void mz_host_bell_close(struct mz_common *near);

#endif
