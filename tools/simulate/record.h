/* Records the tree of a model (src/model), for tests without a program. */
#ifndef MZ_SIMULATE_RECORD_H
#define MZ_SIMULATE_RECORD_H

#include <stdbool.h>
#include "model/model.h"

/* False after a line on stderr. */
bool model_read(const char *file, struct mz_model *m);
/* algorithm: optimal, source, dpor, dpor-all. */
bool model_record(const char *file, const char *to, const char *algorithm);

#endif
