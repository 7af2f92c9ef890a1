/* The states that have been seen, see stateful.h.
 *
 * A state takes 16 bytes of hash and one byte of flags, in dense arrays. A table of state numbers finds it;
 * the table is between 0.53 and 0.8 full. That makes at most 24.5 bytes for a state, 28.5 with its future. An
 * entry of the table also has a few bits of the hash, so a look-up skips most other states without reading
 * their hashes. All memory is reserved at once and becomes real as it is used, so growing never copies; the
 * table is filled anew when it grows.
 *
 * Not base/table.h: this table grows by half, not by doubling, and is up to 0.8 full, because states take
 * most of the memory of a search; its entries carry bits of the hash; and states are removed when memory runs
 * out. */
#include <string.h>
#include "engine/stateful/stateful.h"
#include "base/region.h"

#define NUMBER_BITS 28u
#define MAX_STATES  (1u << NUMBER_BITS)
#define NUMBER      (MAX_STATES - 1)
#define FIRST_TABLE 1024u
#define MAX_BYTES   ((size_t)1 << 36) /* of states that are kept whole */

static void *reserve(size_t bytes)
{
    void *p = mz_region_reserve(bytes);
    MZ_ASSERT(p != NULL);
    return p;
}

void mz_store_new(struct mz_store *s, bool futures, bool exact, bool asleep)
{
    *s = (struct mz_store){.size = FIRST_TABLE};
    s->hash = reserve((size_t)MAX_STATES * sizeof *s->hash);
    s->flags = reserve(MAX_STATES);
    s->table = reserve((size_t)2 * MAX_STATES * sizeof *s->table);
    if (asleep) s->asleep = reserve((size_t)MAX_STATES * sizeof *s->asleep);
    if (futures) s->future = reserve((size_t)MAX_STATES * sizeof *s->future);
    if (exact) s->end = reserve((size_t)MAX_STATES * sizeof *s->end);
    if (exact) s->bytes = reserve(MAX_BYTES);
}

void mz_store_free(struct mz_store *s)
{
    mz_region_free(s->hash, (size_t)MAX_STATES * sizeof *s->hash);
    mz_region_free(s->flags, MAX_STATES);
    mz_region_free(s->table, (size_t)2 * MAX_STATES * sizeof *s->table);
    mz_region_free(s->asleep, (size_t)MAX_STATES * sizeof *s->asleep);
    mz_region_free(s->future, (size_t)MAX_STATES * sizeof *s->future);
    mz_region_free(s->end, (size_t)MAX_STATES * sizeof *s->end);
    mz_region_free(s->bytes, MAX_BYTES);
}

void mz_store_clear(struct mz_store *s)
{
    s->size = FIRST_TABLE;
    s->count = 0;
    memset(s->table, 0, FIRST_TABLE * sizeof *s->table);
}

uint64_t mz_store_memory(const struct mz_store *s)
{
    uint64_t each = sizeof *s->hash + sizeof *s->flags + (s->future ? sizeof *s->future : 0) +
                    (s->end ? sizeof *s->end : 0) + (s->asleep ? sizeof *s->asleep : 0);
    return s->count * each + (uint64_t)s->size * sizeof *s->table + (s->end ? s->end[s->count] : 0);
}

static uint32_t place(const struct mz_store *s, const uint64_t *hash)
{
    return (uint32_t)((hash[0] & UINT32_MAX) * s->size >> 32);
}

static uint32_t next(const struct mz_store *s, uint32_t i) { return i + 1 == s->size ? 0 : i + 1; }

/* The number of slots from one place to another. */
static uint32_t distance(const struct mz_store *s, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + s->size - from;
}

static uint32_t entry(uint32_t n, const uint64_t *hash)
{
    return n | (uint32_t)(hash[1] >> 32 & ~(uint64_t)NUMBER);
}

static void put(struct mz_store *s, uint32_t n)
{
    uint32_t i = place(s, s->hash[n]);
    while (s->table[i]) i = next(s, i);
    s->table[i] = entry(n, s->hash[n]);
}

static bool is_filled(const struct mz_store *s, uint32_t more) { return s->count + more >= s->size / 5 * 4; }

static void grow(struct mz_store *s)
{
    s->size += s->size / 2;
    memset(s->table, 0, (size_t)s->size * sizeof *s->table);
    for (uint32_t n = 1; n <= s->count; n++)
        if (s->hash[n][0] | s->hash[n][1]) put(s, n);
}

static bool same_bytes(const struct mz_store *s, uint32_t n, const void *bytes, size_t size)
{
    uint64_t start = s->end[n - 1];
    return s->end[n] - start == size && memcmp(s->bytes + start, bytes, size) == 0;
}

uint32_t mz_store_find(struct mz_exploration *x, struct mz_store *s, uint32_t **slot, struct mz_state *state)
{
    const void *bytes = NULL;
    size_t size = 0;
    if (is_filled(s, 0)) grow(s);
    x->options.state(x->options.system, state);
    if (s->end) size = x->options.state_bytes(x->options.system, &bytes);
    uint32_t i = place(s, state->hash), tag = entry(0, state->hash), n;
    for (; (n = s->table[i]); i = next(s, i)) {
        if ((n & ~NUMBER) != tag) continue;
        n &= NUMBER;
        if (s->hash[n][0] != state->hash[0] || s->hash[n][1] != state->hash[1]) continue;
        if (!s->end || same_bytes(s, n, bytes, size)) break;
    }
    *slot = &s->table[i];
    return n;
}

bool mz_store_full(const struct mz_store *s)
{
    return s->count > MAX_STATES / 8 * 7 || (s->end && s->end[s->count] > MAX_BYTES / 8 * 7);
}

/* Announce the growth early, while a sixteenth of the table is left before it grows: open states need that room when
 * other states are forgotten. */
uint64_t mz_store_growth(const struct mz_store *s)
{
    return is_filled(s, s->size / 16) ? s->size / 2 * sizeof *s->table : 0;
}

/* Remove state n from the table. Move entries behind it up into the gap, so that they are still found. */
static void take_out(struct mz_store *s, uint32_t n)
{
    uint32_t gap = place(s, s->hash[n]);
    while ((s->table[gap] & NUMBER) != n) gap = next(s, gap);
    for (uint32_t i = next(s, gap); s->table[i]; i = next(s, i)) {
        uint32_t home = place(s, s->hash[s->table[i] & NUMBER]);
        if (distance(s, home, i) < distance(s, gap, i)) continue; /* the gap comes before its home */
        s->table[gap] = s->table[i];
        gap = i;
    }
    s->table[gap] = 0;
}

uint32_t mz_store_replace(struct mz_store *s, const struct mz_state *state)
{
    uint32_t n = 0;
    for (int tries = 0; tries < 64 && s->count; tries++) {
        s->random = s->random * 6364136223846793005u + 1442695040888963407u;
        n = (uint32_t)((s->random >> 32) * s->count >> 32) + 1;
        if (!s->flags[n]) break;
    }
    if (!n || s->flags[n]) return 0;
    take_out(s, n);
    s->hash[n][0] = state->hash[0];
    s->hash[n][1] = state->hash[1];
    put(s, n);
    return n;
}

uint32_t mz_store_renew(struct mz_exploration *x, struct mz_store *s, uint32_t *slot, uint32_t old,
                        const struct mz_state *state)
{
    uint32_t n = mz_store_add(x, s, slot, state);
    if (n) s->hash[old][0] = s->hash[old][1] = 0;
    return n;
}

uint32_t mz_store_add(struct mz_exploration *x, struct mz_store *s, uint32_t *slot,
                      const struct mz_state *state)
{
    uint32_t n = s->count + 1;
    if (n >= MAX_STATES) return 0;
    if (s->end) {
        const void *bytes;
        size_t size = x->options.state_bytes(x->options.system, &bytes);
        if (s->end[n - 1] + size > MAX_BYTES) return 0;
        memcpy(s->bytes + s->end[n - 1], bytes, size);
        s->end[n] = s->end[n - 1] + size;
    }
    s->hash[n][0] = state->hash[0];
    s->hash[n][1] = state->hash[1];
    s->count = n;
    *slot = entry(n, state->hash);
    return n;
}
