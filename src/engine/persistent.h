/* Persistent sets from what each thread may still do. Private to src/engine; persistent.c explains them. */
#ifndef MZ_ENGINE_PERSISTENT_H
#define MZ_ENGINE_PERSISTENT_H

#include "engine/exploration.h"

struct mz_persistent;
struct mz_persistent *mz_persistent_new(const struct mz_exploration *x);
void mz_persistent_free(const struct mz_exploration *x, struct mz_persistent *p);
/* Forget everything: another program is searched. */
void mz_persistent_reuse(struct mz_persistent *p);

/* Use no persistent sets any more: the search starts over. */
void mz_persistent_give_up(struct mz_exploration *x);
/* A thread has created another one. */
void mz_persistent_spawn(struct mz_exploration *x, int thread, int child);
/* The execution has reached node path.depth: learn from the pending operations. */
void mz_persistent_node(struct mz_exploration *x);
/* A persistent set at node path.depth, of threads that are enabled there. As few threads as any set that begins with one
 * of them; `preferred` (-1: none) is in it if that costs nothing. */
uint64_t mz_persistent_set(struct mz_exploration *x, int preferred);

#endif
