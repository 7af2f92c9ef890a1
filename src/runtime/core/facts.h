/* Facts that the workers of a stateful search tell each other: see facts.c. */
#ifndef MZ_RUNTIME_CORE_FACTS_H
#define MZ_RUNTIME_CORE_FACTS_H

#include "event/finished.h"

/* Functions for struct mz_share_options (engine/program.h). */
struct mz_finished *mz_facts_table(void *system, uint64_t *salt);
bool mz_facts_tell(void *system);
void mz_facts_learn(void *system, const struct mz_fact *fact);
bool mz_facts_are_stale(void *system);
void mz_facts_settle(void *system);

#endif
