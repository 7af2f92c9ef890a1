/* Where the memory of a target lies, part by part, and the translation of addresses between two targets.
 *
 * Workers of one search may have different addresses: they run on other hosts, or the system randomizes addresses
 * and does not let us turn that off. Each worker has a table of the parts that can contain objects and code. Parts
 * with the same id are equal byte by byte. All messages use the addresses of one layout, that of the first worker
 * (the *reference*). An address outside of all parts cannot be translated. */
#ifndef MZ_EVENT_LAYOUT_H
#define MZ_EVENT_LAYOUT_H

#include <stdbool.h>
#include "event/channel.h"

struct mz_shift { /* add `by` to an address in [start, end) to get the address in the other layout */
    uint64_t start, end, by;
};

struct mz_translation {
    uint32_t count; /* 0: both layouts are equal */
    struct mz_shift shifts[MZ_MAX_PARTS];
};

/* Return the number of the first module of `a` that `b` does not have, or has in another version. Return a->count if
 * there is none. */
uint32_t mz_layout_misses(const struct mz_layout *a, const struct mz_layout *b);
/* Make the translation from addresses of `from` to addresses of `to`. It leaves out parts that one of them does not
 * have. */
void mz_translation_make(struct mz_translation *t, const struct mz_layout *from, const struct mz_layout *to);
/* Translate an address. Return false, and leave the address alone, if it lies in no part. */
bool mz_translate(const struct mz_translation *t, uint64_t *address);

/* Translate all addresses in a channel or in a finding; those in no part stay. The finding gets the hash that it
 * would have in the other layout. */
void mz_translate_finding(const struct mz_translation *t, struct mz_finding *f);
void mz_translate_channel(const struct mz_translation *t, struct mz_channel *c); /* except its findings */

#endif
