/* SHA-256 (FIPS 180-4): names of cache entries, identity of programs, checksum of trace files. */
#ifndef MZ_BASE_SHA256_H
#define MZ_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct mz_sha256 {
    uint32_t h[8];
    uint64_t length;
    unsigned char block[64];
};

void mz_sha256_init(struct mz_sha256 *s);
void mz_sha256_add(struct mz_sha256 *s, const void *data, size_t length);
void mz_sha256_text(struct mz_sha256 *s, const char *text); /* with its final 0: fields cannot run together */
int mz_sha256_file(struct mz_sha256 *s, const char *path);  /* 0, or -1 with errno */
void mz_sha256_hex(struct mz_sha256 *s, char hex[65]);      /* ends the computation */

#endif
