/* Progress: see progress.h. */
#include "launch/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/strbuf.h"

#define FIRST    0.5 /* seconds: short searches show nothing */
#define EVERY    0.2
#define LOG      2.0 /* seconds to the first line of a log, and the shortest time between two lines */
#define LOG_MOST 600.0
#define GROWTH   0.25      /* part of the time so far that passes between two lines of a log */
#define SAMPLE   0.25      /* seconds between samples */
#define ENOUGH   8         /* number of estimates that must agree ... */
#define AGREE    2.0       /* ... within this factor */
#define SOON     10.0      /* seconds: show so short a remaining time only for a while ... */
#define PATIENCE 30.0      /* ... of this length */
#define MANY     100000000 /* larger numbers are shortened */

static bool has_states(const struct mz_progress_view *v) { return v->counters.states > 0; }

/* What the rate counts: leaves of the tree, or states. */
static double leaves(const struct mz_progress_view *v)
{
    const struct mz_counters *c = &v->counters;
    return (double)(has_states(v) ? c->states : c->executions + c->blocked + c->cut);
}

/* ---- evaluating samples ---- */

static void take_sample(struct mz_progress *p, const struct mz_progress_view *v, double seconds)
{
    if (p->sample_count && seconds - p->sampled < SAMPLE) return;
    double now = leaves(v), last = p->samples[(p->sample_count - 1) % MZ_PROGRESS_SAMPLES].leaves;
    if (p->sample_count && now < last) { /* the search started over */
        p->sample_count = 0;
        memset(p->earlier, 0, sizeof p->earlier);
    }
    uint32_t i = p->sample_count++ % MZ_PROGRESS_SAMPLES;
    p->samples[i].seconds = p->sampled = seconds;
    p->samples[i].leaves = now;
    p->samples[i].total = v->work_done > 0 && !has_states(v) ? now / v->work_done : 0;
    if (now < 2 * p->earlier[0].leaves || p->samples[i].total <= 0) return;
    p->earlier[1] = p->earlier[0];
    p->earlier[0].leaves = now;
    p->earlier[0].total = p->samples[i].total;
}

static uint32_t samples(const struct mz_progress *p)
{
    return p->sample_count < MZ_PROGRESS_SAMPLES ? p->sample_count : MZ_PROGRESS_SAMPLES;
}

/* Rate per second; over the last samples, if there are enough. */
static double rate(const struct mz_progress *p, const struct mz_progress_view *v, double seconds)
{
    uint32_t n = samples(p), oldest = p->sample_count > n ? p->sample_count % MZ_PROGRESS_SAMPLES : 0;
    double since = n > 1 ? p->samples[oldest].seconds : 0,
           before = n > 1 ? p->samples[oldest].leaves : p->before;
    return seconds > since ? fmax(leaves(v) - before, 0) / (seconds - since)
                           : 0; /* the search may have started over */
}

/* The total on which the estimates agree; 0: they do not agree. */
static double agreed_total(const struct mz_progress *p)
{
    uint32_t n = samples(p);
    double least = INFINITY, most = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double total = p->samples[i].total;
        least = fmin(least, total);
        most = fmax(most, total);
        sum += log(total);
    }
    for (size_t i = 0; i < sizeof p->earlier / sizeof *p->earlier; i++) {
        least = fmin(least, p->earlier[i].total);
        most = fmax(most, p->earlier[i].total);
    }
    return n >= ENOUGH && least > 0 && most <= AGREE * least ? exp(sum / n) : 0;
}

struct outlook {
    double rate;
    double work_done; /* 0: not known */
    double left;      /* seconds; negative: not known */
};

static struct outlook look_ahead(struct mz_progress *p, const struct mz_progress_view *v, double seconds)
{
    struct outlook o = {
        .rate = rate(p, v, seconds), .work_done = has_states(v) ? 0 : v->work_done, .left = -1};
    double total = agreed_total(p), now = leaves(v);
    if (o.work_done >= 1 || total <= 0 || o.rate <= 0) return o;
    if (total > now) o.work_done = fmin(now / total, (double)MZ_NEARLY_ALL_WORK / (double)MZ_ALL_WORK);
    o.left = total > now ? (total - now) / o.rate : 0;
    if (o.left >= SOON)
        p->soon_since = 0;
    else if (p->soon_since <= 0)
        p->soon_since = seconds;
    else if (seconds - p->soon_since > PATIENCE)
        o.left = -1; /* the estimate was wrong */
    return o;
}

/* ---- one line for people ---- */

struct piece {
    char text[96];
    int rank; /* the piece with the largest number is left out first */
};

struct line {
    struct piece pieces[10];
    size_t count;
};

static void add(struct line *l, int rank, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct line *l, int rank, const char *format, ...)
{
    struct piece *piece = &l->pieces[l->count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece->text, sizeof piece->text, format, arguments);
    va_end(arguments);
    piece->rank = rank;
}

/* Short numbers, to save space on the line: 950, 21.3k, 1.21M. */
static void in_short(char *to, size_t size, double n)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    if (n >= 1e15) {
        snprintf(to, size, "%.1g", n);
        return;
    }
    while (n >= 999.5 && i + 1 < sizeof units / sizeof *units) n /= 1000, i++;
    snprintf(to, size, "%.*f%s", i == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[i]);
}

static void in_words(char *to, size_t size, double seconds)
{
    static const struct {
        double most, unit;
        const char *name;
    } units[] = {{1000, 1, "s"}, {100 * 60, 60, "min"}, {48 * 3600, 3600, "h"}, {INFINITY, 86400, "days"}};
    size_t i = 0;
    while (seconds >= units[i].most) i++;
    snprintf(to, size, "%.0f %s", floor(seconds / units[i].unit), units[i].name);
}

/* Count and elapsed time in one piece, so that nobody takes the time for the time left. */
static void add_count(struct line *l, const struct mz_progress_view *v, double seconds)
{
    char number[32], time[32];
    uint64_t n = has_states(v) ? v->counters.states : v->counters.executions;
    if (n < MANY)
        snprintf(number, sizeof number, "%" PRIu64, n);
    else
        in_short(number, sizeof number, (double)n);
    in_words(time, sizeof time, seconds);
    add(l, 0, "%s %s%s in %s", number, has_states(v) ? "state" : "execution", n == 1 ? "" : "s", time);
}

/* With a remaining time, "left" explains the percentage; otherwise add "done". */
static void add_work_done(struct line *l, const struct mz_progress_view *v, const struct outlook *o)
{
    int percent = (int)(100 * o->work_done);
    char of[64] = "";
    const char *done = o->left < 0 ? " done" : "";
    if (o->work_done <= 0) return;
    if (v->total.mean > 0) {
        char number[32];
        in_short(number, sizeof number, v->total.mean);
        snprintf(of, sizeof of, " of %s%s", v->total.at_least ? ">" : "~", number);
    }
    if (percent < 1)
        add(l, 2, "<1 %%%s%s", of, done);
    else
        add(l, 2, "~%d %%%s%s", percent > 99 ? 99 : percent, of, done);
}

static void add_time_left(struct line *l, double left)
{
    static const struct {
        double most, unit;
        const char *name;
    } units[] = {
        {100, 10, "s"}, {100 * 60, 60, "min"}, {48 * 3600, 3600, "h"}, {400 * 86400., 86400, "days"}};
    if (left < 0) return;
    if (left < SOON) {
        add(l, 3, "<%.0f s left", SOON);
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (left >= units[i].most) continue;
        double n = round(left / units[i].unit) * (i ? 1 : units[i].unit);
        add(l, 3, "~%.0f %s left", n, units[i].name);
        return;
    }
    add(l, 3, ">1 year left");
}

static void compose(struct line *l, const struct mz_progress_view *v, const struct outlook *o, double seconds)
{
    char rate[32];
    in_short(rate, sizeof rate, o->rate);
    add_count(l, v, seconds);
    add(l, 4, "%s/s", rate);
    add(l, 6, "depth %" PRIu64, v->counters.max_depth);
    if (v->workers > 1) add(l, 5, "%u workers", v->workers);
    if (v->errors) add(l, 1, "%u error%s", v->errors, v->errors == 1 ? "" : "s");
    add_work_done(l, v, o);
    add_time_left(l, o->left);
}

/* As many pieces as fit. */
static char *joined(struct line *l, size_t width)
{
    for (;;) {
        struct mz_strbuf b = {0};
        size_t worst = 0;
        for (size_t i = 0; i < l->count; i++) {
            mz_strbuf_addf(&b, "%s%s", i ? ", " : "", l->pieces[i].text);
            if (l->pieces[i].rank > l->pieces[worst].rank) worst = i;
        }
        if (b.length <= width || l->count == 1) return mz_strbuf_take(&b);
        mz_strbuf_release(&b);
        memmove(&l->pieces[worst], &l->pieces[worst + 1], (--l->count - worst) * sizeof *l->pieces);
    }
}

/* Keep the last column of a terminal free: some terminals would start a new line. */
static size_t width(const struct mz_progress *p)
{
    struct winsize size;
    if (p->form != MZ_PROGRESS_LINE) return 80;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 ? 79 : size.ws_col - 1u;
}

static void write_text(struct mz_progress *p, const struct mz_progress_view *v, const struct outlook *o,
                       double seconds)
{
    struct line l = {0};
    compose(&l, v, o, p->so_far + seconds);
    char *text = joined(&l, width(p));
    bool over = p->form == MZ_PROGRESS_LINE;
    fprintf(stderr, over ? "\r\033[K%s" : "%s\n", text);
    fflush(stderr);
    p->visible = over;
    free(text);
}

/* ---- objects for programs ---- */

static void write_json(const struct mz_progress *p, const struct mz_progress_view *v, const struct outlook *o,
                       double seconds, bool last)
{
    const struct mz_counters *c = &v->counters;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "{\"algorithm\": \"%s\", \"executions\": %" PRIu64 ", \"blocked\": %" PRIu64,
                   p->algorithm, c->executions, c->blocked);
    mz_strbuf_addf(&b, ", \"cut\": %" PRIu64 ", \"transitions\": %" PRIu64 ", \"states\": %" PRIu64, c->cut,
                   c->transitions, c->states);
    mz_strbuf_addf(&b, ", \"revisited\": %" PRIu64, c->revisited);
    mz_strbuf_addf(&b, ", \"rate\": %.1f, \"depth\": %" PRIu64 ", \"errors\": %u, \"workers\": %u", o->rate,
                   c->max_depth, v->errors, v->workers);
    mz_strbuf_addf(&b, ", \"seconds\": %.3f", p->so_far + seconds);
    if (o->work_done > 0)
        mz_strbuf_addf(&b, ", \"share\": %.6g", o->work_done);
    else
        mz_strbuf_add(&b, ", \"share\": null");
    if (v->total.mean > 0)
        mz_strbuf_addf(&b, ", \"total\": %.6g, \"total_low\": %.6g, \"total_high\": %.6g", v->total.mean,
                       v->total.low, v->total.high);
    else
        mz_strbuf_add(&b, ", \"total\": null, \"total_low\": null, \"total_high\": null");
    if (o->left >= 0)
        mz_strbuf_addf(&b, ", \"seconds_left\": %.1f", o->left);
    else
        mz_strbuf_add(&b, ", \"seconds_left\": null");
    mz_strbuf_addf(&b, ", \"final\": %s}\n", last ? "true" : "false");
    fputs(mz_strbuf_text(&b), stderr);
    fflush(stderr);
    mz_strbuf_release(&b);
}

/* ---- when ---- */

struct mz_progress_view mz_progress_of(const struct mz_channel *c, const struct mz_survey *survey)
{
    double path = (double)c->counters.work_done / (double)MZ_ALL_WORK;
    return (struct mz_progress_view){.counters = c->counters,
                                     .classes = c->sample.classes << c->sample.shift,
                                     .work_done =
                                         mz_survey_share(survey, (double)c->counters.executions, path),
                                     .total = survey->interval,
                                     .errors = c->finding_count,
                                     .workers = 1};
}

bool mz_progress_due(const struct mz_progress *p, double seconds)
{
    return (p->form != MZ_PROGRESS_NONE || p->board) &&
           (seconds >= p->next || seconds >= p->sampled + SAMPLE);
}

static double time_of_next(const struct mz_progress *p, double seconds)
{
    if (p->form != MZ_PROGRESS_LOG) return seconds + EVERY;
    return seconds + fmin(fmax(LOG, GROWTH * seconds), LOG_MOST);
}

static double time_of_first(const struct mz_progress *p)
{
    return p->form == MZ_PROGRESS_LOG ? LOG : p->form == MZ_PROGRESS_JSON ? 0 : FIRST;
}

void mz_progress_update(struct mz_progress *p, const struct mz_progress_view *v, double seconds)
{
    if (!mz_progress_due(p, seconds)) return;
    if (p->board) {
        *p->board = *v;
        p->next = seconds + EVERY;
        return;
    }
    take_sample(p, v, seconds);
    if (seconds < p->next || seconds < time_of_first(p)) return;
    p->next = time_of_next(p, seconds);
    struct outlook o = look_ahead(p, v, seconds);
    if (p->form == MZ_PROGRESS_JSON)
        write_json(p, v, &o, seconds, false);
    else
        write_text(p, v, &o, seconds);
}

void mz_progress_end(struct mz_progress *p, const struct mz_progress_view *v, double seconds)
{
    if (p->visible) fputs("\r\033[K", stderr);
    p->visible = false;
    if (p->board) *p->board = *v;
    p->last = *v;
    p->ended = seconds;
}

void mz_progress_restart(struct mz_progress *p, double seconds)
{
    *p = (struct mz_progress){
        .form = p->form, .algorithm = p->algorithm, .board = p->board, .so_far = seconds};
}

void mz_progress_close(const struct mz_progress *p)
{
    const struct mz_progress_view *v = &p->last;
    if (p->form != MZ_PROGRESS_JSON || p->board || p->ended <= 0) return;
    struct outlook o = {.rate = (leaves(v) - p->before) / p->ended,
                        .work_done = has_states(v) && v->work_done < 1 ? 0 : v->work_done,
                        .left = v->work_done >= 1 ? 0 : -1};
    write_json(p, v, &o, p->ended, true);
}
