/* What the parts of mz-fuzz-formats share: see formats.c. */
#ifndef MZ_TESTS_FUZZ_H
#define MZ_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include "report/collect.h"

uint32_t next_random(uint32_t below);
void damage_once(uint8_t *data, size_t size);
void damage_places(struct mz_channel *c);
void explain(const struct mz_outcome *outcome, const struct mz_finding *f, const struct mz_step *steps,
             size_t count);

void fuzz_rank0(void); /* rank0.c */
void fuzz_agent(void); /* agent.c */

#endif
