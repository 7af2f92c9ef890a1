/* The end of the text report: how complete the search was, what it cost, how to continue, warnings and notes. See
 * text.h. */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>
#include "base/files.h"
#include "report/sample.h"

#define PERCENT_WIDTH  8  /* "   75 % " */
#define OBJECT_MOST    30 /* columns for the name of an object */
#define MOST_UNREACHED 5
#define LARGE_SHARE    .1 /* of the executions: worth a word of advice */
#define MANY_TIMES     3
#define MANY_THREADS   3

static const char *completeness(const struct mz_report *report)
{
    if (report->bound.complete) return "complete within the bound";
    if (!report->interrupted) return "complete";
    if (report->finding_count && !report->reason) return "stopped at the first error";
    return "not complete";
}

/* The workers; with --verbose, also their messages. */
static void add_sharing(struct mz_strbuf *out, const struct mz_sharing *s, bool all)
{
    bool tell = s->ranks || s->wanted > 1 || (s->workers && all);
    if (s->ranks) {
        mz_strbuf_add(out, "; ");
        mz_strbuf_add_count(out, s->ranks, "rank");
        mz_strbuf_add(out, " on ");
        mz_strbuf_add_count(out, s->hosts, "host");
    }
    if (tell) {
        mz_strbuf_add(out, s->ranks ? ", " : "; ");
        mz_strbuf_add_count(out, s->workers, "worker");
    }
    if (s->workers && all) {
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->tasks, "task");
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->splits, "split");
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->updates, "update");
    }
    if (s->lost_ranks) {
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->lost_ranks, "lost rank");
    }
    if (s->lost) {
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->lost, "lost worker");
    }
    if (s->redundant) {
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, s->redundant, "execution");
        mz_strbuf_add(out, " explored again");
    }
}

/* An estimate. */
static void add_work_done(struct mz_strbuf *b, const struct mz_report *report)
{
    uint64_t done = report->counters.work_done;
    unsigned percent = (unsigned)(done / (MZ_ALL_WORK / 100));
    if ((!done && report->estimate.mean <= 0) || done >= MZ_ALL_WORK) return;
    if (percent < 1)
        mz_strbuf_add(b, ", less than 1 % done");
    else
        mz_strbuf_addf(b, ", about %u %% done", percent);
}

static void add_number(struct mz_strbuf *b, double n) { mz_strbuf_addf(b, n < 1e6 ? "%.0f" : "%.3g", n); }

/* For a search that did not end: how many executions it would have. */
static void add_estimate(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_interval *e = &report->estimate;
    if (e->mean <= 0 || report->verdict != MZ_INCOMPLETE) return;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "Estimate: %s", e->at_least ? "more than " : "");
    add_number(&b, e->mean);
    mz_strbuf_add(&b, " executions in all; 90 % interval ");
    add_number(&b, e->low);
    mz_strbuf_add(&b, " to ");
    add_number(&b, e->high);
    mz_strbuf_addf(&b, " (%" PRIu64 " samples)", e->tours);
    mz_text_paragraph(out, &b, style);
}

static void add_search(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_counters *c = &report->counters;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "Search: %s", completeness(report));
    if (report->verdict == MZ_INCOMPLETE && !report->only_estimate) add_work_done(&b, report);
    if (report->finding_count && report->reason) mz_strbuf_addf(&b, " (%s)", report->reason);
    if (report->strategy)
        mz_strbuf_addf(&b, "; strategy %s, ", report->strategy);
    else
        mz_strbuf_addf(&b, "; algorithm %s, ", report->algorithm);
    if (report->bound.kind != MZ_BOUND_NONE) {
        mz_strbuf_add(&b, "at most ");
        mz_strbuf_add_count(&b, report->bound.limit, mz_bound_unit(report->bound.kind));
        mz_strbuf_add(&b, ", ");
    }
    mz_strbuf_add_count(&b, c->executions, "execution");
    if (report->sharing.resumed)
        mz_strbuf_addf(&b, " (%" PRIu64 " of them before it was resumed)", report->sharing.resumed);
    if (c->states)
        mz_strbuf_addf(&b, ", %" PRIu64 " states, %" PRIu64 " revisited, ", c->states, c->revisited);
    else
        mz_strbuf_addf(&b, ", %" PRIu64 " blocked, ", c->blocked);
    if (c->cut) mz_strbuf_addf(&b, "%" PRIu64 " cut in loops that wait, ", c->cut);
    if (c->sets)
        mz_strbuf_addf(&b, "largest set %" PRIu64 ", mean %.2f, ", c->largest_set,
                       (double)c->set_sizes / (double)c->sets);
    mz_strbuf_add_count(&b, c->transitions, "transition");
    mz_strbuf_add(&b, ", at most ");
    mz_strbuf_add_count(&b, c->max_depth, "step");
    mz_strbuf_add(&b, " and ");
    mz_strbuf_add_count(&b, c->threads, "thread");
    mz_strbuf_addf(&b, "; %.3f s, ", report->seconds);
    mz_strbuf_add_size(&b, report->peak_memory);
    add_sharing(&b, &report->sharing, style->all);
    mz_text_paragraph(out, &b, style);
}

/* Searches that ran beside this one, in one sentence. */
static void add_beside(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    struct mz_strbuf b = {0};
    for (size_t i = 0; i < report->beside_count; i++) {
        const struct mz_beside *s = &report->beside[i];
        mz_strbuf_addf(&b, "%s %s with ", i ? "," : "Beside it:", s->name);
        if (s->states)
            mz_strbuf_add_count(&b, s->states, "state");
        else
            mz_strbuf_add_count(&b, s->executions, "execution");
        if (s->classes) mz_strbuf_addf(&b, " of %" PRIu64 " classes", s->classes);
        mz_strbuf_add(&b, s->error ? " (an error)" : " (no error)");
    }
    if (b.length) mz_text_paragraph(out, &b, style);
}

/* ---- why the search is large ---- */

static void add_spot(struct mz_strbuf *out, const struct mz_hot_spot_report *spot,
                     const struct mz_style *style)
{
    struct mz_strbuf b = {0};
    mz_strbuf_add(&b, mz_op_name((enum mz_op)spot->op));
    if (spot->object) {
        mz_strbuf_addc(&b, ' ');
        mz_text_shorten(&b, spot->object, OBJECT_MOST);
    }
    if (spot->file) mz_strbuf_addf(&b, ", %s:%u", mz_files_base(spot->file), spot->line);
    if (spot->threads > 1) mz_strbuf_addf(&b, ", in %u threads", spot->threads);
    if (spot->times > 1) mz_strbuf_addf(&b, ", up to %u times in a thread", spot->times);
    mz_strbuf_addf(out, "  %3.0f %% ", 100 * spot->share);
    mz_text_wrap(out, PERCENT_WIDTH, mz_strbuf_text(&b), style->width, PERCENT_WIDTH + 1);
    mz_strbuf_release(&b);
}

/* What would make the test smaller. */
static void add_advice(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    static const char *const advice[] = {"fewer rounds of these loops", "fewer threads that do the same",
                                         "fewer values to choose from"};
    bool helps[3] = {false};
    for (size_t i = 0; i < report->hot_spot_count; i++) {
        const struct mz_hot_spot_report *spot = &report->hot_spots[i];
        if (spot->share < LARGE_SHARE) continue;
        helps[0] |= spot->times >= MANY_TIMES;
        helps[1] |= spot->threads >= MANY_THREADS;
        helps[2] |= (mz_op_info(spot->op)->traits & MZ_TRAIT_NUMBERS) != 0;
    }
    struct mz_strbuf b = {0};
    for (int i = 0; i < 3; i++)
        if (helps[i]) mz_strbuf_addf(&b, "%s %s", b.length ? "," : "To make the test smaller:", advice[i]);
    if (b.length) mz_text_paragraph(out, &b, style);
}

/* For a search that did not end: which operations it reordered most often. */
static void add_hot_spots(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    if (!report->hot_spot_count || (report->verdict != MZ_INCOMPLETE && !style->all)) return;
    mz_strbuf_add(out, "Where the executions come from: each puts off one of these operations\n");
    for (size_t i = 0; i < report->hot_spot_count; i++) add_spot(out, &report->hot_spots[i], style);
    if (report->verdict == MZ_INCOMPLETE) add_advice(out, report, style);
}

/* "src/a.c:12: e" without the folders. */
static const char *without_folders(const char *text)
{
    const char *p = text + strcspn(text, ":");
    while (p > text && p[-1] != '/') p--;
    return p;
}

/* For a search that did not end: an assertion that was never reached has not been checked. */
static void add_unreached(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    size_t count = report->unreached.count, shown = style->all ? count : MOST_UNREACHED;
    if (!count || report->verdict != MZ_INCOMPLETE) return;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "Never reached in any execution: %zu of ", count);
    mz_strbuf_add_count(&b, report->assertions, "assertion");
    mz_text_paragraph(out, &b, style);
    for (size_t i = 0; i < count && i < shown; i++) {
        mz_strbuf_addc(out, ' ');
        mz_text_wrap(out, 1, without_folders(report->unreached.items[i]), style->width, 4);
    }
    if (count > shown) mz_strbuf_addf(out, "  and %zu more\n", count - shown);
}

static void add_saved(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    static const char *const more[MZ_END_COUNT] = {
        [MZ_END_MEMORY] = ", and more memory", [MZ_END_EXECUTIONS] = ", and a higher --max-executions"};
    struct mz_strbuf b = {0};
    bool ended = !report->interrupted || report->end == MZ_END_FINDING || report->end == MZ_END_STEPS ||
                 report->end == MZ_END_ROUNDS || report->end == MZ_END_THREADS;
    if (ended || !report->checkpoint || !report->sharing.is_saved) return;
    mz_strbuf_addf(&b, "To go on from here: the same command with --resume=%s%s", report->checkpoint,
                   more[report->end] ? more[report->end] : "");
    mz_text_paragraph(out, &b, style);
}

static void add_warnings(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    for (size_t i = 0; i < report->warnings.count; i++) {
        struct mz_strbuf b = {0};
        mz_strbuf_addf(&b, "Warning: %s", report->warnings.items[i]);
        mz_text_paragraph(out, &b, style);
    }
}

/* What was given up to save memory; no verdict depends on it. */
static void add_shortage(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_counters *c = &report->counters;
    const char *who = report->memory_limit ? "the memory limit" : "want of memory";
    struct mz_strbuf b = {0};
    if (report->lost_workers) {
        if (report->too_fine)
            mz_strbuf_add(
                &b, "Note: nearly every execution had to be handed out by itself: it started over with one "
                    "worker");
        else
            mz_strbuf_addf(&b, "Note: %s left no room for %u workers: it started over with one", who,
                           report->lost_workers);
        mz_text_paragraph(out, &b, style);
    }
    if (report->findings_lost) {
        mz_strbuf_addf(&b, "Note: there are more than %zu different errors; the others are not listed",
                       report->finding_count);
        mz_text_paragraph(out, &b, style);
    }
    if (c->fell_back) {
        mz_strbuf_addf(&b, "Note: %s made it go on with `source` after ", who);
        mz_strbuf_add_count(&b, c->fell_back, "execution");
        mz_text_paragraph(out, &b, style);
    }
    if (c->forgot) {
        mz_strbuf_addf(&b, "Note: %s made it forget states after ", who);
        mz_strbuf_add_count(&b, c->forgot, "state");
        mz_strbuf_add(&b, ": some were explored again, and count again");
        mz_text_paragraph(out, &b, style);
    }
}

static void add_notes(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    uint64_t unjoined = report->counters.unjoined;
    struct mz_strbuf b = {0};
    add_shortage(out, report, style);
    if (unjoined) {
        mz_strbuf_add(&b, "Note: in ");
        mz_strbuf_add_count(&b, unjoined, "execution");
        mz_strbuf_add(&b, " the program ended while other threads were still at work");
        mz_text_paragraph(out, &b, style);
    }
    for (size_t i = 0; i < report->notes.count; i++) {
        mz_strbuf_addf(&b, "Note: %s", report->notes.items[i]);
        mz_text_paragraph(out, &b, style);
    }
    if (report->hint) {
        mz_strbuf_addf(&b, "Hint: %s", report->hint);
        mz_text_paragraph(out, &b, style);
    }
}

void mz_text_search(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    add_search(out, report, style);
    mz_sample_text(out, report, style);
    add_estimate(out, report, style);
    add_beside(out, report, style);
    add_hot_spots(out, report, style);
    add_unreached(out, report, style);
    add_saved(out, report, style);
    add_warnings(out, report, style);
    add_notes(out, report, style);
}
