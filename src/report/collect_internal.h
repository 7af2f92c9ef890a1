/* Private to collect.c (a finding), collect_run.c (the run as a whole) and describe.c (what is wrong, in words). */
#ifndef MZ_REPORT_COLLECT_INTERNAL_H
#define MZ_REPORT_COLLECT_INTERNAL_H

#include "report/collect.h"

/* collect.c */
/* The name of the object of an operation; NULL: the operation has none, or it is not known. The caller frees it. */
char *mz_collect_object(struct mz_symbols *s, unsigned op, uint64_t address, uint32_t size);
/* File and line of a place; both stay as they are where these are not known. */
void mz_collect_place(struct mz_symbols *s, const struct mz_place *place, char **file, unsigned *line);

/* hot_spots.c */
void mz_collect_hot_spots(const struct mz_outcome *outcome, struct mz_report *report);

/* describe.c */
char *mz_describe_finding(struct mz_symbols *s, const struct mz_channel *c, const struct mz_finding *f,
                          const char *object);
/* The thread that a report of a deadlock names. */
uint8_t mz_describe_deadlocked_thread(const struct mz_finding *f);
bool mz_describe_is_blocked(unsigned state); /* does a thread in this state wait for another one? */

#endif
