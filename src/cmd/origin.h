/* What a search is of, as lines of text in a checkpoint: who goes on with it must mean the same. */
#ifndef MZ_CMD_ORIGIN_H
#define MZ_CMD_ORIGIN_H

#include "../report/strbuf.h"
#include "../report/tracefile.h"
#include "options.h"

struct mz_origin {
    char *options;   /* that the search depends on */
    char *arguments; /* of the program */
    char *build;     /* what it was made from: for people; */
    char *identity;  /* this is what counts */
};

void mz_origin_make(struct mz_origin *o, const struct mz_settings *s, const struct mz_recipe *r);
void mz_origin_release(struct mz_origin *o);
void mz_origin_put(const struct mz_origin *o, struct mz_strbuf *out);
/* Reads what was put, up to `end`. NULL if it is the same, else what differs, to be freed. */
char *mz_origin_differs(const struct mz_origin *o, const char **at, const char *end);

#endif
