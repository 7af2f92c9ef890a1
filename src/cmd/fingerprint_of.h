/* The fingerprint of a search, made from its options and its program. */
#ifndef MZ_CMD_FINGERPRINT_OF_H
#define MZ_CMD_FINGERPRINT_OF_H

#include "cmd/options.h"
#include "dist/fingerprint.h"
#include "report/tracefile.h"

void mz_fingerprint_make(struct mz_fingerprint *o, const struct mz_settings *s, const struct mz_recipe *r);

#endif
