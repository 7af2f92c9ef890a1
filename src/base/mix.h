/* A hash of many words: see mix.c. */
#ifndef MZ_BASE_MIX_H
#define MZ_BASE_MIX_H

#include <stdint.h>

struct mz_mix {
    uint64_t hash[2];
    uint64_t key; /* key of the last pair */
};

/* The number of words must be even. */
void mz_mix_words(struct mz_mix *m, const uint64_t *p, const uint64_t *end);

#endif
