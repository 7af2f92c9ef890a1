/* Makes a failing model as small as possible while it still fails. */
#ifndef MZ_RANDOM_SHRINK_H
#define MZ_RANDOM_SHRINK_H

#include <stdbool.h>
#include "model/model.h"

void mz_shrink(struct mz_model *m, bool (*fails)(void *arg, const struct mz_model *m), void *arg);

#endif
