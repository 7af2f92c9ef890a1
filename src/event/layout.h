/* Where a target's memory lies, part by part, and addresses of one target as those of another.
 *
 * Workers of one search may lie at different addresses: on other hosts, or where addresses are randomized and
 * that cannot be turned off. Each has a table of the parts that objects and code can be in; parts of the same
 * id are the same thing, byte by byte. In messages all speak of addresses as they are in one layout, that of
 * the first worker (the *reference*); what lies in no part cannot be spoken of. */
#ifndef MZ_EVENT_LAYOUT_H
#define MZ_EVENT_LAYOUT_H

#include <stdbool.h>
#include "channel.h"

struct mz_shift { /* addresses from start on, and before end, are `by` further in the other layout */
    uint64_t start, end, by;
};

struct mz_translation {
    uint32_t count; /* 0: both are the same */
    struct mz_shift shifts[MZ_MAX_PARTS];
};

/* The number of the first module of `a` that `b` does not have, or has another version of; else count. */
uint32_t mz_layout_misses(const struct mz_layout *a, const struct mz_layout *b);
/* From addresses of one to those of the other; parts that one of them does not have are left out. */
void mz_translation_make(struct mz_translation *t, const struct mz_layout *from, const struct mz_layout *to);
/* False: it lies in no part, and stays what it was. */
bool mz_translate(const struct mz_translation *t, uint64_t *address);

/* The same for all that a channel or a finding has of addresses; those in no part stay. The finding gets the
 * hash that it would have had there. */
void mz_translate_finding(const struct mz_translation *t, struct mz_finding *f);
void mz_translate_channel(const struct mz_translation *t, struct mz_channel *c); /* but for its findings */

#endif
