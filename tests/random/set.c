/* Sets of hashes, see set.h: open addressing, at most half full. A slot is in use if it has the set's
 * stamp. */
#include "set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mz_slot *find(const struct mz_set *set, struct mz_hash hash)
{
    uint32_t i = (uint32_t)hash.a & (set->size - 1);
    for (;; i = (i + 1) & (set->size - 1)) {
        struct mz_slot *slot = &set->slots[i];
        if (slot->stamp != set->stamp || (slot->hash.a == hash.a && slot->hash.b == hash.b)) return slot;
    }
}

static struct mz_slot *allocate(uint32_t size)
{
    struct mz_slot *slots = calloc(size, sizeof *slots);
    if (!slots) {
        perror("mz-random");
        exit(2);
    }
    return slots;
}

static void grow(struct mz_set *set)
{
    struct mz_set bigger = {allocate(2 * set->size), 2 * set->size, set->count, 1};
    for (uint32_t i = 0; i < set->size; i++) {
        if (set->slots[i].stamp != set->stamp) continue;
        struct mz_slot *slot = find(&bigger, set->slots[i].hash);
        *slot = set->slots[i];
        slot->stamp = 1;
    }
    free(set->slots);
    *set = bigger;
}

void mz_set_clear(struct mz_set *set)
{
    if (!set->slots) {
        set->size = 256;
        set->slots = allocate(set->size);
    }
    set->count = 0;
    if (++set->stamp == 0) {
        memset(set->slots, 0, set->size * sizeof *set->slots);
        set->stamp = 1;
    }
}

void mz_set_free(struct mz_set *set)
{
    free(set->slots);
    *set = (struct mz_set){0};
}

bool mz_set_has(const struct mz_set *set, struct mz_hash hash)
{
    return find(set, hash)->stamp == set->stamp;
}

struct mz_slot *mz_set_add(struct mz_set *set, struct mz_hash hash, bool *added)
{
    struct mz_slot *slot = find(set, hash);
    *added = slot->stamp != set->stamp;
    if (!*added) return slot;
    if (2 * set->count >= set->size) {
        grow(set);
        slot = find(set, hash);
    }
    *slot = (struct mz_slot){.hash = hash, .stamp = set->stamp};
    set->count++;
    return slot;
}

bool mz_set_equal(const struct mz_set *p, const struct mz_set *q)
{
    if (p->count != q->count) return false;
    for (uint32_t i = 0; i < p->size; i++)
        if (p->slots[i].stamp == p->stamp && !mz_set_has(q, p->slots[i].hash)) return false;
    return true;
}

static uint64_t mix(uint64_t h, uint64_t word, uint64_t factor)
{
    h = (h ^ word) * factor;
    return h ^ h >> 32;
}

struct mz_hash mz_hash_bytes(const void *bytes, uint32_t size)
{
    struct mz_hash h = {(size + 1) * 0xd6e8feb86659fd93u, (size + 1) * 0xa0761d6478bd642fu};
    const unsigned char *p = bytes;
    for (; size; p += 8) {
        uint64_t word = 0;
        uint32_t n = size < 8 ? size : 8;
        memcpy(&word, p, n);
        h.a = mix(h.a, word, 0x9e3779b97f4a7c15u);
        h.b = mix(h.b, word, 0xc2b2ae3d27d4eb4fu);
        size -= n;
    }
    h.a = mix(h.a, h.a >> 29, 0xbf58476d1ce4e5b9u);
    h.b = mix(h.b, h.b >> 31, 0x94d049bb133111ebu);
    return h;
}
