/* Reads and writes the text of a model. model.h explains the language. */
#ifndef MZ_MODEL_TEXT_H
#define MZ_MODEL_TEXT_H

#include <stddef.h>
#include "model/model.h"

#define MZ_MODEL_TEXT 16384 /* enough for the text of any model */

/* Returns 0, or -1 with a message in `error` that names the line. */
int mz_model_parse(const char *text, struct mz_model *m, char *error, size_t error_size);
/* Prints the model; parsing the text gives the same model. Returns the length of the text. */
size_t mz_model_print(const struct mz_model *m, char *text, size_t size);

#endif
