/* Foreign text on a terminal. Names, expressions, paths and notes come from the program under test or from a file. The
 * terminal must not take any of that text for a command, and the text must not look like a line of mazurka's own.
 *
 * Invariant: messages (base/message.c) and the text report (report/printable_report.h) print foreign text only after
 * mz_printable() has escaped it. */
#ifndef MZ_BASE_PRINTABLE_H
#define MZ_BASE_PRINTABLE_H

#include "base/list.h"
#include "base/strbuf.h"

/* Add the text, with every character that controls a terminal written as \n, \x1b, \u202e: C0 and C1 characters,
 * changes of direction, line separators, and bytes that are not UTF-8. */
void mz_printable(struct mz_strbuf *out, const char *text);
/* Length of the UTF-8 sequence at p; 0 if there is none. */
unsigned mz_utf8_sequence(const unsigned char *p);
/* The character of that sequence if it controls a terminal; otherwise 0. */
unsigned mz_utf8_control(const unsigned char *p, unsigned length);

/* Escapes every string of the list, in place. */
void mz_list_printable(struct mz_list *list);
void mz_string_printable(char **text); /* may be NULL */

#endif
