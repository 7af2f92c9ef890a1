/* The report as JSON, as docs and contract describe it: one object. */
#ifndef MZ_REPORT_REPORT_JSON_H
#define MZ_REPORT_REPORT_JSON_H

#include "report.h"
#include "strbuf.h"

void mz_report_json(struct mz_strbuf *out, const struct mz_report *report);

#endif
