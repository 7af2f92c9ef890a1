/* A set of 128-bit hashes, each with a number. It is emptied in constant time and keeps its memory, so that a
 * million programs cost no allocation. Two values with the same 128-bit hash count as equal. */
#ifndef MZ_RANDOM_SET_H
#define MZ_RANDOM_SET_H

#include <stdbool.h>
#include <stdint.h>

struct mz_hash {
    uint64_t a, b;
};

struct mz_slot {
    struct mz_hash hash;
    uint64_t value; /* free for the owner of the set */
    uint64_t check;
    uint32_t stamp; /* the set's stamp when the slot was filled; a slot with another stamp is empty */
};

struct mz_set {
    struct mz_slot *slots;
    uint32_t size, count, stamp;
};

void mz_set_clear(struct mz_set *set);
void mz_set_free(struct mz_set *set);
bool mz_set_has(const struct mz_set *set, struct mz_hash hash);
/* The slot of the hash; *added says whether it is new (value and check are then 0). A slot stays where it is
 * only until the next mz_set_add(). */
struct mz_slot *mz_set_add(struct mz_set *set, struct mz_hash hash, bool *added);
bool mz_set_equal(const struct mz_set *p, const struct mz_set *q);

struct mz_hash mz_hash_bytes(const void *bytes, uint32_t size);

#endif
