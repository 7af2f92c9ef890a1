/* Workers of other ranks, as the pool of rank 0 sees them: see cluster.h, and struct mz_worker_kind. Each has a
 * channel here, too, into which the news from its agent is copied, so that readers of channels need not know where a
 * worker runs. If the cluster is NULL, these functions do nothing. */
#ifndef MZ_DIST_REMOTE_H
#define MZ_DIST_REMOTE_H

#include "dist/pool_internal.h"

extern const struct mz_worker_kind mz_remote_workers;

/* Before the search: send the program to the ranks that have reported by now. */
void mz_remote_meet(struct mz_pool *p);
/* For the report: the number of ranks and hosts. */
void mz_remote_summary(const struct mz_pool *p, struct mz_sharing *s);

#endif
