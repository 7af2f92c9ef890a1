/* One hash table with open addressing, for the command and for code inside the tested program. It never allocates: the
 * caller supplies the slots (an array, or a region that grows in place).
 *
 * Two forms share the same probe, hash & mask, then slot after slot (linear probing):
 *
 *   struct mz_table   slots hold numbers of items that the caller keeps in an array of its own. 0 is an empty slot, so
 *                     items are numbered from 1. Grows by rehashing in place.
 *   mz_key_find       the slots are the entries themselves. Each entry begins with a key of 64 bits (mz_wide_key_find:
 *                     128 bits); 0 is an empty slot. Fixed size.
 *
 * Invariants: the number of slots is a power of two; at least one slot is empty, or a probe would not end. Callers keep
 * a table at most half full (mz_table_is_half_full).
 *
 * All functions are inline and the callbacks are constants at the call, so the compiler turns each use into the loop
 * that one would write by hand. */
#ifndef MZ_BASE_TABLE_H
#define MZ_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MZ_TABLE_INLINE static inline __attribute__((always_inline))

/* A hash of a 64-bit key (Fibonacci hashing: the upper half of the product is well mixed). */
MZ_TABLE_INLINE uint32_t mz_table_hash(uint64_t key) { return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32); }

/* ---- numbers of items ---- */

struct mz_table {
    uint32_t *slots; /* room for the largest size that the table may grow to */
    uint32_t mask;   /* slots in use minus one */
    uint32_t count;  /* slots that are not empty */
};

/* Is the item with this number the one that `wanted` describes? `items` is what the caller gave to the find function. */
typedef bool mz_table_is(const void *items, uint32_t number, const void *wanted);
/* The hash under which the item was added. */
typedef uint32_t mz_table_hash_of(const void *items, uint32_t number);

/* An empty table with `size` slots, a power of two. */
MZ_TABLE_INLINE void mz_table_clear(struct mz_table *t, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) t->slots[i] = 0;
    t->mask = size - 1;
    t->count = 0;
}

/* The slot of the item that `wanted` describes, or the empty slot where its number belongs. */
MZ_TABLE_INLINE uint32_t *mz_table_find(const struct mz_table *t, uint32_t hash, mz_table_is *is,
                                        const void *items, const void *wanted)
{
    uint32_t i = hash & t->mask;
    while (t->slots[i] && !is(items, t->slots[i], wanted)) i = (i + 1) & t->mask;
    return &t->slots[i];
}

/* Put the number into the empty slot that mz_table_find returned. */
MZ_TABLE_INLINE void mz_table_fill(struct mz_table *t, uint32_t *slot, uint32_t number)
{
    *slot = number;
    t->count++;
}

MZ_TABLE_INLINE bool mz_table_is_half_full(const struct mz_table *t) { return t->count > t->mask / 2; }

/* Double the number of slots, for items 1 to `count`. Slots found before are no longer valid. */
MZ_TABLE_INLINE void mz_table_grow(struct mz_table *t, mz_table_hash_of *hash_of, const void *items)
{
    uint32_t count = t->count;
    mz_table_clear(t, 2 * (t->mask + 1));
    t->count = count;
    for (uint32_t n = 1; n <= count; n++) {
        uint32_t i = hash_of(items, n) & t->mask;
        while (t->slots[i]) i = (i + 1) & t->mask;
        t->slots[i] = n;
    }
}

/* ---- entries that begin with their key ---- */

/* The entry with this key, or the empty entry where it belongs. `size` is that of an entry. */
MZ_TABLE_INLINE void *mz_key_find(void *entries, size_t size, uint32_t mask, uint32_t hash, uint64_t key)
{
    char *bytes = (char *)entries;
    uint32_t i = hash & mask;
    for (;;) {
        uint64_t *there = (uint64_t *)(void *)(bytes + i * size);
        if (*there == key || !*there) return there;
        i = (i + 1) & mask;
    }
}

/* The same for keys of 128 bits; an empty entry has two zeros. The key's own bits are the hash. */
MZ_TABLE_INLINE void *mz_wide_key_find(void *entries, size_t size, uint32_t mask, const uint64_t *key)
{
    char *bytes = (char *)entries;
    uint32_t i = (uint32_t)(key[0] >> 8) & mask;
    for (;;) {
        uint64_t *there = (uint64_t *)(void *)(bytes + i * size);
        if ((there[0] == key[0] && there[1] == key[1]) || !(there[0] | there[1])) return there;
        i = (i + 1) & mask;
    }
}

#endif
