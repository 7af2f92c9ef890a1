/* What a sample shows: estimates from the numbers that the search has counted. */
#ifndef MZ_REPORT_SAMPLE_H
#define MZ_REPORT_SAMPLE_H

#include "base/json.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "report/text.h"

#define MZ_SAMPLE_CONFIDENCE 0.95

/* How many classes of executions there are, at least: Chao1 (Chao 1984, in its bias-corrected form). It is about classes
 * that the strategy can meet with a probability that is not tiny. */
double mz_sample_estimate(const struct mz_sample *s);
/* The classes met; exact unless s->shift. */
double mz_sample_classes(const struct mz_sample *s);
/* The probability that the next execution is of a new class: Good-Turing. */
double mz_sample_unseen(const struct mz_sample *s);
/* If each walk shows a bug with this probability or more, it would have been found with 95 % confidence: the rule of
 * three. 1: nothing can be said. */
double mz_sample_missed(const struct mz_sample *s);
/* pct: the guaranteed probability that a walk hits a bug of this depth. */
double mz_sample_pct(const struct mz_sample *s, unsigned depth);

void mz_sample_text(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
void mz_sample_json(struct mz_json *j, const struct mz_report *report);

#endif
