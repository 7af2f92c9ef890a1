/* What a sample shows, as text and as JSON: see sample.h. */
#include "report/sample.h"

#include <inttypes.h>

/* ---- text ---- */

static void add_classes(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_sample *s = &report->sample;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "Sample: strategy %s, seed %" PRIu64 ": ", report->strategy, s->seed);
    mz_strbuf_add_count(&b, s->walks, "walk");
    mz_strbuf_addf(&b, " met %s%.0f different classes of executions", s->shift ? "about " : "",
                   mz_sample_classes(s));
    if (s->complete)
        mz_strbuf_addf(&b,
                       ", there are at least about %.0f (Chao1), the next walk is of a new class with "
                       "probability %.2g (Good-Turing)",
                       mz_sample_estimate(s), mz_sample_unseen(s));
    mz_text_paragraph(out, &b, style);
}

static void add_confidence(struct mz_strbuf *out, const struct mz_report *report,
                           const struct mz_style *style)
{
    const struct mz_sample *s = &report->sample;
    struct mz_strbuf b = {0};
    if (!report->repeats)
        mz_strbuf_addf(&b, "No confidence can be stated for %s: its walks depend on those before",
                       report->strategy);
    else if (mz_sample_missed(s) >= 1)
        mz_strbuf_add(&b, "Too few walks to state a confidence");
    else
        mz_strbuf_addf(&b,
                       "An error that a walk shows with probability %.2g or more would have been found with "
                       "95 %% confidence (3/n, n = %" PRIu64 " walks)",
                       mz_sample_missed(s), s->alike);
    mz_text_paragraph(out, &b, style);
}

static bool is_pct(const struct mz_report *report)
{
    return report->depth && report->sample.expected && report->repeats;
}

static void add_pct(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_sample *s = &report->sample;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(
        &b,
        "Guarantee of pct: a walk shows each error of depth %u that needs no mz_choose with probability "
        "%.2g or more (1/(n k^%u), n = %u threads, k = %u steps)",
        report->depth, mz_sample_pct(s, report->depth), report->depth - 1, s->threads, s->expected);
    if (s->exceeded)
        mz_strbuf_addf(&b,
                       ", void before the last %" PRIu64 " walks: %" PRIu64
                       " walks had more steps than the k of then",
                       s->alike, s->exceeded);
    mz_text_paragraph(out, &b, style);
}

static void add_members(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_sample *s = &report->sample;
    struct mz_strbuf b = {0};
    for (unsigned i = 0; i < MZ_MIX_MEMBERS; i++) {
        if (!s->by[i].walks) continue;
        mz_strbuf_add(&b, b.length ? ", " : "Walks of each strategy: ");
        mz_strbuf_addf(&b, "%s %" PRIu64 " (%" PRIu64 " of new classes)", mz_mix_member(i), s->by[i].walks,
                       s->by[i].classes);
    }
    if (b.length) mz_text_paragraph(out, &b, style);
}

void mz_sample_text(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    if (!report->strategy) return;
    add_classes(out, report, style);
    add_members(out, report, style);
    if (report->finding_count) return; /* the confidence is about a sample that shows no error */
    add_confidence(out, report, style);
    if (is_pct(report)) add_pct(out, report, style);
}

/* ---- JSON ---- */

void mz_sample_json(struct mz_json *j, const struct mz_report *report)
{
    const struct mz_sample *s = &report->sample;
    if (!report->strategy) { /* classes are not counted: each execution may be another one */
        mz_json_number(j, "classes", 0);
        mz_json_string(j, "classes_estimate", NULL);
        return;
    }
    mz_json_string(j, "strategy", report->strategy);
    mz_json_number(j, "seed", s->seed);
    mz_json_number(j, "walks", s->walks);
    mz_json_number(j, "classes", s->shift < 40 ? s->classes << s->shift : UINT64_MAX);
    mz_json_bool(j, "classes_exact", !s->shift);
    mz_json_decimal(j, "classes_estimate", mz_sample_estimate(s));
    mz_json_string(j, "classes_estimate_method", "chao1");
    mz_json_number(j, "classes_once", s->once);
    mz_json_number(j, "classes_twice", s->twice);
    mz_json_decimal(j, "new_class_probability", mz_sample_unseen(s));
    if (report->repeats && !report->finding_count) {
        mz_json_decimal(j, "missed_probability", mz_sample_missed(s));
        mz_json_decimal(j, "missed_confidence", MZ_SAMPLE_CONFIDENCE);
        mz_json_number(j, "missed_walks", s->alike);
    }
    if (is_pct(report)) {
        mz_json_open(j, "pct", '{');
        mz_json_number(j, "depth", report->depth);
        mz_json_number(j, "threads", s->threads);
        mz_json_number(j, "steps", s->expected);
        mz_json_decimal(j, "probability", mz_sample_pct(s, report->depth));
        mz_json_number(j, "exceeded", s->exceeded);
        mz_json_close(j, '}');
    }
    if (report->repeats) return;
    mz_json_open(j, "mix", '[');
    for (unsigned i = 0; i < MZ_MIX_MEMBERS; i++) {
        mz_json_open(j, NULL, '{');
        mz_json_string(j, "strategy", mz_mix_member(i));
        mz_json_number(j, "walks", s->by[i].walks);
        mz_json_number(j, "new_classes", s->by[i].classes);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}
