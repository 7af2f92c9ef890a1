/* The report as text for people: plain ASCII, readable at 80 columns, coloured only if asked. */
#ifndef MZ_REPORT_TEXT_H
#define MZ_REPORT_TEXT_H

#include "report.h"
#include "strbuf.h"

struct mz_style {
    bool color;
    bool all;     /* show every operation of a long schedule */
    bool sources; /* quote source lines: they are known to be the ones that were run */
    unsigned width;
};

/* The whole report; the first line is the verdict. */
void mz_text_report(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
/* The verdict line alone. */
void mz_text_verdict(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
/* One bug: what, where, threads, schedule. */
void mz_text_bug(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style);
/* The schedule alone, as a table with a column for each thread. */
void mz_text_schedule(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style);

enum mz_paint { MZ_PLAIN, MZ_BOLD, MZ_DIM, MZ_RED, MZ_GREEN, MZ_YELLOW };
void mz_text_paint(struct mz_strbuf *out, const struct mz_style *style, enum mz_paint paint,
                   const char *text);
/* A name cut to a length, its middle left out: "very_lo..name". */
void mz_text_shorten(struct mz_strbuf *out, const char *text, size_t length);
/* What an operation does, in few words: "store x: 1". Objects longer than `limit` are shortened. */
void mz_text_operation(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_operation *o,
                       size_t limit);

#endif
