/* Which thread a slot is. Slots are numbers that one search gives out in the order in which it meets threads;
 * another run of the program may meet them in another order. The path of a thread (0.1.2: the second child of
 * the first child of main) is the same in every run. A stored schedule is stored with this table.
 *
 * Invariants of a table: slot 0 is main, "0"; the parent of a used slot is a used slot below it; no two slots have the
 * same path. */
#ifndef MZ_EVENT_THREAD_PATHS_H
#define MZ_EVENT_THREAD_PATHS_H

#include <stdbool.h>
#include "event/channel.h"

/* Make `slot` the index-th child of `parent`, counted from 1. False if that cannot be. */
bool mz_threads_add(struct mz_thread_info threads[MZ_MAX_THREADS], int slot, int parent, unsigned index);
/* The same from its path, whose parent must be in the table. */
bool mz_threads_add_path(struct mz_thread_info threads[MZ_MAX_THREADS], int slot, const char *path);
/* The slot of that path; -1: none. */
int mz_threads_find(const struct mz_thread_info threads[MZ_MAX_THREADS], const char *path);
/* From whatever is in memory to a table: entries that break an invariant are dropped, names are made again. */
void mz_threads_tidy(struct mz_thread_info threads[MZ_MAX_THREADS]);

#endif
