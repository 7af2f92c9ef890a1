/* The text of a model (its language is told in model.h): reading and writing it. */
#ifndef MZ_MODEL_TEXT_H
#define MZ_MODEL_TEXT_H

#include <stddef.h>
#include "model.h"

#define MZ_MODEL_TEXT 16384 /* enough for the text of any model */

/* 0, or -1 with a message that names the line in `error`. */
int mz_model_parse(const char *text, struct mz_model *m, char *error, size_t error_size);
/* Parsing what this prints gives the same model. Returns the length of the text. */
size_t mz_model_print(const struct mz_model *m, char *text, size_t size);

#endif
