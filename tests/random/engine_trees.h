/* The wakeup trees of the engine's `optimal`, held against the definitions of the paper, execution by execution. Only
 * engine_trees.c, of all files in tests/random, looks into the engine. */
#ifndef MZ_RANDOM_ENGINE_TREES_H
#define MZ_RANDOM_ENGINE_TREES_H

#include "engine/program.h"
#include "paper.h"

struct mz_engine_trees;
struct mz_engine_trees *mz_engine_trees_new(void);
void mz_engine_trees_free(struct mz_engine_trees *t);

/* A complete execution has ended; its races have not been looked at yet. False if it is too long. */
bool mz_engine_trees_before(struct mz_engine_trees *t, struct mz_machine *k, const struct mz_exploration *x);
/* Of the races that the engine has found by then and must look at: how many are at most 64 events from the end, so that
 * redundant_race.c works with sets of events, and how many are not, so that it works with clocks. */
void mz_engine_trees_count(const struct mz_exploration *x, uint64_t *near, uint64_t *far);
/* The engine has looked at the races, and gone back to where the next execution branches off (more), or there is none.
 * Return what is wrong with its trees, in words, or NULL. *races grows by the races that were looked at. */
const char *mz_engine_trees_after(struct mz_engine_trees *t, const struct mz_exploration *x, bool more,
                                  uint64_t *races);

#endif
