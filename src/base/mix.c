/* A hash of many words: the sum, over pairs of words, of the product of both words, each combined with a key, folded
 * to 64 bits. Two such sums with different keys give 128 bits. Every pair has its own key, so the order of words
 * counts. The products do not depend on each other, so the processor computes several at once.
 *
 * This file is not in the runtime folder because runtime code must leave half of the registers alone (Makefile). */
#include "base/mix.h"

__extension__ typedef unsigned __int128 wide;

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    wide r = (wide)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

void mz_mix_words(struct mz_mix *m, const uint64_t *p, const uint64_t *end)
{
    uint64_t a = m->hash[0], b = m->hash[1], key = m->key;
    for (; p < end; p += 2) {
        key += 0x9e3779b97f4a7c15u;
        a += fold(p[0] ^ key, p[1] ^ 0xbf58476d1ce4e5b9u);
        b += fold(p[0] ^ 0x94d049bb133111ebu, p[1] ^ key);
    }
    m->hash[0] = a;
    m->hash[1] = b;
    m->key = key;
}
