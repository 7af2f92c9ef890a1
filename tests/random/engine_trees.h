/* Compares the wakeup trees of the engine's `optimal` with the definitions of the paper, after each execution. In
 * tests/random, only engine_trees.c reads the engine's internal data. */
#ifndef MZ_RANDOM_ENGINE_TREES_H
#define MZ_RANDOM_ENGINE_TREES_H

#include "engine/program.h"
#include "paper.h"

struct mz_engine_trees;
struct mz_engine_trees *mz_engine_trees_new(void);
void mz_engine_trees_free(struct mz_engine_trees *t);

/* Call when a complete execution has ended, before its races are analysed. Returns false if it is too long. */
bool mz_engine_trees_before(struct mz_engine_trees *t, struct mz_machine *k, const struct mz_exploration *x);
/* Count the races that the engine has found and must analyse. near: at most 64 events from the end; for these
 * redundant_race.c works with sets of events. far: the others; for these it works with clocks. */
void mz_engine_trees_count(const struct mz_exploration *x, uint64_t *near, uint64_t *far);
/* Call when the engine has analysed the races, and has gone back to where the next execution branches off (more), or has
 * explored everything (!more). Returns what is wrong with its trees, in words, or NULL. Adds the number of races to *races. */
const char *mz_engine_trees_after(struct mz_engine_trees *t, const struct mz_exploration *x, bool more,
                                  uint64_t *races);

#endif
