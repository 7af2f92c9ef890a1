/* A report whose strings a terminal can show.
 *
 * Invariant: the text report is made from a report that went through mz_report_printable(). JSON has its own rules
 * (base/json.c) and gets the strings unchanged. */
#ifndef MZ_REPORT_PRINTABLE_REPORT_H
#define MZ_REPORT_PRINTABLE_REPORT_H

#include "report/report.h"

/* Escapes all strings of the report, in place. */
void mz_report_printable(struct mz_report *report);

#endif
