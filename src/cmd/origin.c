/* What a search is of: see origin.h. */
#define _GNU_SOURCE
#include "origin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../report/memory.h"
#include "../report/text.h"
#include "words.h"

#define LINES 4
#define SHOWN 60 /* characters of a line */

static const char *yes(bool is) { return is ? "yes" : "no"; }

/* A word for each, in this order, all of them. */
static char *options_line(const struct mz_settings *s)
{
    char *range = s->nondet_given ? mz_format("%" PRId64 "..%" PRId64, s->nondet_low, s->nondet_high) : NULL;
    char *line =
        mz_format("--algorithm=%s --no-sleep-sets=%s --update=%s --data-races=%s --heap=%s --leaks=%s "
                  "--keep-going=%s --spurious-wakeups=%s --nondet-range=%s --max-steps=%" PRIu64,
                  s->algorithm_name, yes(!s->sleep_sets), s->eager ? "all" : "last",
                  s->allow_races ? "allow" : "error", s->heap_reuse ? "reuse" : "fresh", yes(s->leaks),
                  yes(s->keep_going), yes(s->spurious_wakeups), range ? range : "none", s->max_steps);
    free(range);
    return line;
}

/* Quoted, on one line: different words make different lines. */
static char *words_line(const struct mz_list *words)
{
    struct mz_strbuf quoted = {0}, line = {0};
    for (size_t i = 0; i < words->count; i++) {
        if (i) mz_strbuf_addc(&quoted, ' ');
        mz_words_quote(&quoted, words->items[i]);
    }
    for (const char *p = mz_strbuf_text(&quoted); *p; p++) {
        if (*p == '\n' || *p == '\\') mz_strbuf_addc(&line, '\\');
        mz_strbuf_addc(&line, *p == '\n' ? 'n' : *p);
    }
    mz_strbuf_release(&quoted);
    return mz_strbuf_take(&line);
}

void mz_origin_make(struct mz_origin *o, const struct mz_settings *s, const struct mz_recipe *r)
{
    struct mz_list binary = {0};
    if (r->binary) mz_list_add(&binary, r->binary);
    o->options = options_line(s);
    o->arguments = words_line(&r->arguments);
    o->build = words_line(r->binary ? &binary : &r->build);
    o->identity = mz_memory_string(r->identity);
    mz_list_release(&binary);
}

void mz_origin_release(struct mz_origin *o)
{
    free(o->options);
    free(o->arguments);
    free(o->build);
    free(o->identity);
}

void mz_origin_put(const struct mz_origin *o, struct mz_strbuf *out)
{
    mz_strbuf_addf(out, "%s\n%s\n%s\n%s\n", o->options, o->arguments, o->build, o->identity);
}

/* ---- comparing ---- */

static char *take_word(char **rest)
{
    char *word = strsep(rest, " ");
    return word ? word : "";
}

/* Names those that are not the same, with both values. */
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
static char *difference(const struct mz_origin *o, char *const then[LINES])
{
    if (strcmp(then[0], o->options) != 0) return other_options(then[0], o->options);
    if (strcmp(then[1], o->arguments) != 0)
        return other_words("it is of a search with other arguments", then[1], o->arguments);
    if (!strcmp(then[3], o->identity)) return NULL;
    if (strcmp(then[2], o->build) != 0) return other_words("it is of another program", then[2], o->build);
    return mz_memory_string("it is of another program: this one has been changed since");
}

char *mz_origin_differs(const struct mz_origin *o, const char **at, const char *end)
{
    char *then[LINES] = {NULL}, *text = NULL;
    for (int i = 0; i < LINES && !text; i++) {
        const char *newline = memchr(*at, '\n', (size_t)(end - *at));
        if (!newline) {
            text = mz_memory_string("it is damaged");
            break;
        }
        then[i] = mz_memory_stringn(*at, (size_t)(newline - *at));
        *at = newline + 1;
    }
    if (!text) text = difference(o, then);
    for (int i = 0; i < LINES; i++) free(then[i]);
    return text;
}
