/* What the command writes: standard output, and reports in the formats that were asked for (report/writer.h). */
#ifndef MZ_CMD_OUTPUT_H
#define MZ_CMD_OUTPUT_H

#include "base/strbuf.h"
#include "cmd/options.h"
#include "report/report.h"

/* Write the report in every format that the settings ask for. Return the exit status: that of the verdict, or
 * MZ_STATUS_FAILED if a file could not be written. Afterwards the strings of the report are escaped for a terminal. */
int mz_output_report(struct mz_report *report, const struct mz_settings *s);

/* Write to standard output. Return 0, or MZ_STATUS_FAILED after one line. */
int mz_output_print(const struct mz_strbuf *text);
unsigned mz_output_width(void); /* width of the terminal; 80 if there is none */

#endif
