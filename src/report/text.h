/* The report as text for people: plain ASCII, readable at 80 columns, coloured only if asked. */
#ifndef MZ_REPORT_TEXT_H
#define MZ_REPORT_TEXT_H

#include "report/writer.h"

/* The whole report; the first line is the verdict. */
void mz_text_report(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
/* The verdict line alone. */
void mz_text_verdict(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
/* One finding: what, where, threads, schedule. */
void mz_text_finding(struct mz_strbuf *out, const struct mz_finding_report *finding,
                     const struct mz_style *style);
/* The schedule alone, as a table with a column for each thread. */
void mz_text_schedule(struct mz_strbuf *out, const struct mz_finding_report *finding,
                      const struct mz_style *style);

/* How complete the search was, and notes. */
void mz_text_search(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);

/* ---- text_layout.c ---- */

enum mz_paint { MZ_PLAIN, MZ_BOLD, MZ_DIM, MZ_RED, MZ_GREEN, MZ_YELLOW };
void mz_text_paint(struct mz_strbuf *out, const struct mz_style *style, enum mz_paint paint,
                   const char *text);
/* A name cut to a length, its middle left out: "very_lo..name". */
void mz_text_shorten(struct mz_strbuf *out, const char *text, size_t length);
/* Add text after `column` columns that are already written; further lines are indented. Lines break between clauses,
 * and between words where a clause is longer than a line. */
void mz_text_wrap(struct mz_strbuf *out, size_t column, const char *text, size_t width, size_t indent);
/* The same from the start of a line; releases the text. */
void mz_text_paragraph(struct mz_strbuf *out, struct mz_strbuf *text, const struct mz_style *style);

/* What an operation does, in few words: "store x: 1". Objects longer than `limit` are shortened. */
void mz_text_operation(struct mz_strbuf *out, const struct mz_finding_report *finding,
                       const struct mz_operation *o, size_t limit);

#endif
