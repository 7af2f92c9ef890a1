/* Workers of other ranks, as the pool of rank 0 sees them: see cluster.h. Each has a channel here, too, into
 * which its agent's news are copied, so that whoever reads channels need not know where a worker is. With a
 * cluster that is NULL, nothing happens. */
#ifndef MZ_CMD_REMOTE_H
#define MZ_CMD_REMOTE_H

#include "pool_internal.h"

/* Hears what there is to hear, and notices who is gone. True: it took too long, there may be more. */
bool mz_remote_listen(struct mz_pool *p, double now);
/* Before the search: who has come by now gets the program. */
void mz_remote_meet(struct mz_pool *p);
/* As many workers as each rank should have. */
void mz_remote_start(struct mz_pool *p);
/* It will not be spoken to: the program is not the same there. */
void mz_remote_leave_out(struct mz_pool *p, struct mz_worker *w, const char *why);
/* For the report: how many ranks there were, and where. */
void mz_remote_summary(const struct mz_pool *p, struct mz_sharing *s);
/* Ranks that should have ended have not: they are lost. */
void mz_remote_give_up(struct mz_pool *p);

/* What was said to them, and waits to go in one message. */
void mz_remote_flush(struct mz_pool *p);

/* For a worker of another rank: what the functions of pool_worker.c do for one here. */
void mz_remote_pass(struct mz_worker *w, const void *data, size_t size);
/* Before a task: what slots threads have been given, or a worker would ask for each of them. */
void mz_remote_slots(struct mz_pool *p, int rank, bool anyway);
void mz_remote_wish(struct mz_worker *w, enum mz_share_wish wish);
void mz_remote_layout(struct mz_worker *w, const struct mz_layout *layout);
void mz_remote_stop(struct mz_worker *w);
void mz_remote_gone(struct mz_worker *w);
void mz_remote_kill(struct mz_worker *w, bool report);

#endif
