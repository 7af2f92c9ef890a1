/* A small JSON writer. It writes commas and escapes strings. The caller closes every object and array that it opens.
 * Bytes that are not UTF-8 are written as U+FFFD, so that the output is always valid. */
#ifndef MZ_BASE_JSON_H
#define MZ_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/strbuf.h"

struct mz_json {
    struct mz_strbuf out;
    bool comma; /* something was written at this level */
    int depth;
};

/* key is NULL inside arrays. */
void mz_json_open(struct mz_json *j, const char *key, char bracket);        /* '{' or '[' */
void mz_json_close(struct mz_json *j, char bracket);                        /* '}' or ']' */
void mz_json_string(struct mz_json *j, const char *key, const char *value); /* NULL: null */
void mz_json_number(struct mz_json *j, const char *key, uint64_t value);
void mz_json_signed(struct mz_json *j, const char *key, int64_t value);
void mz_json_decimal(struct mz_json *j, const char *key, double value);
void mz_json_bool(struct mz_json *j, const char *key, bool value);

#endif
