/* The states that have been seen, see stateful.h.
 *
 * A state is 16 bytes of hash and one of flags in dense arrays, found through a table of numbers that is
 * between 0.4 and 0.8 full: at most 27 bytes in all, 31 with its future. Everything is reserved at once and
 * takes memory as it is used, so growing never copies; the table is filled anew when it doubles. */
#include <string.h>
#include "stateful.h"
#include "../base/region.h"

#define MAX_STATES  (1u << 28)
#define FIRST_TABLE 1024u
#define MAX_BYTES   ((size_t)1 << 36) /* of states that are kept whole */

static void *reserve(size_t bytes)
{
    void *p = mz_region_reserve(bytes);
    MZ_ASSERT(p != NULL);
    return p;
}

void mz_store_new(struct mz_store *s, bool futures, bool exact)
{
    *s = (struct mz_store){.mask = FIRST_TABLE - 1};
    s->hash = reserve((size_t)MAX_STATES * sizeof *s->hash);
    s->flags = reserve(MAX_STATES);
    s->table = reserve((size_t)2 * MAX_STATES * sizeof *s->table);
    if (futures) s->future = reserve((size_t)MAX_STATES * sizeof *s->future);
    if (exact) s->end = reserve((size_t)MAX_STATES * sizeof *s->end);
    if (exact) s->bytes = reserve(MAX_BYTES);
}

void mz_store_free(struct mz_store *s)
{
    mz_region_free(s->hash, (size_t)MAX_STATES * sizeof *s->hash);
    mz_region_free(s->flags, MAX_STATES);
    mz_region_free(s->table, (size_t)2 * MAX_STATES * sizeof *s->table);
    mz_region_free(s->future, (size_t)MAX_STATES * sizeof *s->future);
    mz_region_free(s->end, (size_t)MAX_STATES * sizeof *s->end);
    mz_region_free(s->bytes, MAX_BYTES);
}

void mz_store_clear(struct mz_store *s)
{
    s->mask = FIRST_TABLE - 1;
    s->count = 0;
    memset(s->table, 0, FIRST_TABLE * sizeof *s->table);
}

uint64_t mz_store_memory(const struct mz_store *s)
{
    uint64_t each = sizeof *s->hash + sizeof *s->flags + (s->future ? sizeof *s->future : 0) +
                    (s->end ? sizeof *s->end : 0);
    return s->count * each + ((uint64_t)s->mask + 1) * sizeof *s->table + (s->end ? s->end[s->count] : 0);
}

static uint32_t place(const struct mz_store *s, const uint64_t *hash) { return (uint32_t)hash[0] & s->mask; }

static void grow(struct mz_store *s)
{
    uint32_t size = 2 * (s->mask + 1);
    memset(s->table, 0, (size_t)size * sizeof *s->table);
    s->mask = size - 1;
    for (uint32_t n = 1; n <= s->count; n++) {
        uint32_t i = place(s, s->hash[n]);
        while (s->table[i]) i = (i + 1) & s->mask;
        s->table[i] = n;
    }
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
    if (s->count >= (s->mask + 1) / 5 * 4) grow(s);
    x->options.state(x->options.system, state);
    if (s->end) size = x->options.state_bytes(x->options.system, &bytes);
    uint32_t i = place(s, state->hash), n;
    for (; (n = s->table[i]); i = (i + 1) & s->mask) {
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

/* Some room is left below the point where the table doubles: for open states, when others are forgotten. */
uint64_t mz_store_growth(const struct mz_store *s)
{
    uint64_t size = (uint64_t)s->mask + 1;
    return s->count + size / 16 >= size / 5 * 4 ? size * sizeof *s->table : 0;
}

/* Out of the table; what follows moves up, so that it is still found. */
static void take_out(struct mz_store *s, uint32_t n)
{
    uint32_t gap = place(s, s->hash[n]), i;
    while (s->table[gap] != n) gap = (gap + 1) & s->mask;
    for (i = (gap + 1) & s->mask; s->table[i]; i = (i + 1) & s->mask) {
        uint32_t home = place(s, s->hash[s->table[i]]);
        if (((i - home) & s->mask) < ((i - gap) & s->mask)) continue; /* the gap comes before its home */
        s->table[gap] = s->table[i];
        gap = i;
    }
    s->table[gap] = 0;
}

uint32_t mz_store_replace(struct mz_store *s, const struct mz_state *state)
{
    uint32_t n = 0, i;
    for (int tries = 0; tries < 64 && s->count; tries++) {
        s->random = s->random * 6364136223846793005u + 1442695040888963407u;
        n = (uint32_t)((s->random >> 32) * s->count >> 32) + 1;
        if (!s->flags[n]) break;
    }
    if (!n || s->flags[n]) return 0;
    take_out(s, n);
    s->hash[n][0] = state->hash[0];
    s->hash[n][1] = state->hash[1];
    for (i = place(s, state->hash); s->table[i];) i = (i + 1) & s->mask;
    return s->table[i] = n;
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
    return *slot = n;
}
