/* Text of others on a terminal. Names, expressions, paths and notes come from the program under test or from a file: a
 * terminal must not take any of it for a command, and it must not look like lines of ours.
 *
 * Invariant: the text report is made from a report that went through mz_report_printable(), messages go through
 * mz_printable(). JSON has rules of its own (json.c) and gets the strings as they are. */
#ifndef MZ_REPORT_PRINTABLE_H
#define MZ_REPORT_PRINTABLE_H

#include "report.h"
#include "strbuf.h"

/* Adds the text with all that controls a terminal as \n, \x1b, \u202e: C0 and C1 characters, changes of direction, line
 * separators, bytes that are no UTF-8. */
void mz_printable(struct mz_strbuf *out, const char *text);
/* Length of the UTF-8 sequence at p, 0 if there is none. */
unsigned mz_utf8_sequence(const unsigned char *p);
/* The character of that sequence if it controls a terminal; else 0. */
unsigned mz_utf8_control(const unsigned char *p, unsigned length);

/* All strings of it, in place. */
void mz_report_printable(struct mz_report *report);
void mz_list_printable(struct mz_list *list);
void mz_string_printable(char **text); /* may be NULL */

#endif
