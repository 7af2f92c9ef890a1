/* A sum over pairs of words: the product of both, each with a key, folded to 64 bits; twice, with other
 * keys. Every pair has a key of its own, so the order counts; products do not wait for each other. Not in the
 * runtime, which has to do without half of the registers (Makefile). */
#include "mix.h"

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
