/* Fingerprint of a search, as lines of text in a checkpoint: --resume refuses a checkpoint whose fingerprint differs. */
#ifndef MZ_DIST_FINGERPRINT_H
#define MZ_DIST_FINGERPRINT_H

#include "base/strbuf.h"

struct mz_fingerprint {
    char *options;   /* options that the search depends on */
    char *arguments; /* of the program */
    char *build;     /* sources of the program: for messages; */
    char *identity;  /* its hash, which is compared */
};

void mz_fingerprint_release(struct mz_fingerprint *o);
void mz_fingerprint_put(const struct mz_fingerprint *o, struct mz_strbuf *out);
/* Read a fingerprint from the text up to `end`. Return NULL if it is equal; otherwise what differs, which the caller
 * frees. */
char *mz_fingerprint_differs(const struct mz_fingerprint *o, const char **at, const char *end);

#endif
