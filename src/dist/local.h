/* Workers on this host. The pool of rank 0 uses them through struct mz_worker_kind. The agent of another rank
 * (agent.c) has only workers of this kind, and also calls the functions below. */
#ifndef MZ_DIST_LOCAL_H
#define MZ_DIST_LOCAL_H

#include "dist/pool_internal.h"

extern const struct mz_worker_kind mz_local_workers;

struct mz_worker *
mz_local_start_worker(struct mz_pool *p); /* NULL: it could not be started; the reason has been printed */
pid_t mz_local_wait(struct mz_worker *w, int flags); /* like wait4() */
struct mz_link *mz_local_link(const struct mz_worker *w);
void mz_local_ring(struct mz_worker *w);
/* The next message from the worker; false: there is none. It stays valid until the next call. */
bool mz_local_hear(struct mz_worker *w, struct mz_message *m);

/* Is the process of a worker about to end? */
bool mz_local_some_leave(const struct mz_pool *p);
/* Did somebody ring the bell since the last call? Call this before looking for messages. */
bool mz_local_rung(struct mz_pool *p);
/* Sleep until somebody rings the bell or a local worker has a message; less than a second at most. */
void mz_local_nap(struct mz_pool *p, double seconds);

#endif
