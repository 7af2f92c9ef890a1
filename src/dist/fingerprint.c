/* The fingerprint of a search: see fingerprint.h. */
#define _GNU_SOURCE
#include "dist/fingerprint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "report/text.h"
#include "base/shell_words.h"

#define LINES 4
#define SHOWN 60 /* characters of a line */

void mz_fingerprint_release(struct mz_fingerprint *o)
{
    free(o->options);
    free(o->arguments);
    free(o->build);
    free(o->identity);
}

void mz_fingerprint_put(const struct mz_fingerprint *o, struct mz_strbuf *out)
{
    mz_strbuf_addf(out, "%s\n%s\n%s\n%s\n", o->options, o->arguments, o->build, o->identity);
}

/* ---- comparing ---- */

static char *take_word(char **rest)
{
    char *word = strsep(rest, " ");
    return word ? word : "";
}

/* Name the options that differ, with both values. */
static char *other_options(const char *then, const char *now)
{
    char *a = mz_memory_string(then), *b = mz_memory_string(now), *rest_a = a, *rest_b = b;
    struct mz_strbuf out = {0};
    mz_strbuf_add(&out, "it is of a search with other options:");
    for (const char *separator = " "; rest_a && rest_b;) {
        const char *x = take_word(&rest_a), *y = take_word(&rest_b);
        size_t name = strcspn(x, "=");
        if (!strcmp(x, y) || strncmp(x, y, name + 1) != 0) continue;
        mz_strbuf_addf(&out, "%s%.*s (then %s, now %s)", separator, (int)name, x, x + name + 1, y + name + 1);
        separator = ", ";
    }
    free(a);
    free(b);
    return mz_strbuf_take(&out);
}

static char *other_words(const char *what, const char *then, const char *now)
{
    const char *const lines[] = {then, now};
    struct mz_strbuf out = {0};
    mz_strbuf_addf(&out, "%s (", what);
    for (int i = 0; i < 2; i++) {
        mz_strbuf_add(&out, i ? ", now " : "then ");
        mz_text_shorten(&out, lines[i][0] ? lines[i] : "none", SHOWN);
    }
    mz_strbuf_addc(&out, ')');
    return mz_strbuf_take(&out);
}

/* Options first: they may change how the program is built. */
static char *difference(const struct mz_fingerprint *o, char *const then[LINES])
{
    if (strcmp(then[0], o->options) != 0) return other_options(then[0], o->options);
    if (strcmp(then[1], o->arguments) != 0)
        return other_words("it is of a search with other arguments", then[1], o->arguments);
    if (!strcmp(then[3], o->identity)) return NULL;
    if (strcmp(then[2], o->build) != 0) return other_words("it is of another program", then[2], o->build);
    return mz_memory_string("it is of another program: this one has been changed since");
}

char *mz_fingerprint_differs(const struct mz_fingerprint *o, const char **at, const char *end)
{
    char *then[LINES] = {NULL};
    int lines = 0;
    for (; lines < LINES; lines++) {
        const char *newline = memchr(*at, '\n', (size_t)(end - *at));
        if (!newline) break;
        then[lines] = mz_memory_stringn(*at, (size_t)(newline - *at));
        *at = newline + 1;
    }
    char *text = lines < LINES ? mz_memory_string("it is damaged") : difference(o, then);
    for (int i = 0; i < lines; i++) free(then[i]);
    return text;
}
