/* Where the executions of a large search come from: the hot spots of the channel (event/hot_spot.h) with names and
 * lines. Spots with the same operation, object and line are one row. */
#include "report/collect_internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define ROWS        5   /* at most */
#define LEAST_SHARE .02 /* rows with less are left out */

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static struct mz_hot_spot_report *row_of(struct mz_report *report, const struct mz_hot_spot_report *new)
{
    for (size_t i = 0; i < report->hot_spot_count; i++) {
        struct mz_hot_spot_report *row = &report->hot_spots[i];
        if (row->op == new->op && row->line == new->line &&same(row->object, new->object) &&
            same(row->file, new->file))
            return row;
    }
    return NULL;
}

static void add_row(struct mz_report *report, struct mz_symbols *s, const struct mz_hot_spot *spot)
{
    struct mz_place place = {{spot->pc, 0}};
    struct mz_hot_spot_report new = {
        .op = spot->op, .threads = spot->threads, .times = spot->times, .share = (double)spot->executions};
    new.object = mz_collect_object(s, spot->op, spot->key, 0);
    mz_collect_place(s, &place, &new.file, &new.line);
    struct mz_hot_spot_report *row = row_of(report, &new);
    if (!row) {
        report->hot_spots[report->hot_spot_count++] = new;
        return;
    }
    row->share += new.share;
    row->times += new.times;
    if (new.threads > row->threads) row->threads = new.threads;
    free(new.object);
    free(new.file);
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct mz_hot_spot_report *)a)->share,
           y = ((const struct mz_hot_spot_report *)b)->share;
    return (x < y) - (x > y);
}

void mz_collect_hot_spots(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    double sum = 0;
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++)
        if (c->hot_spots[i].pc) sum += (double)c->hot_spots[i].executions;
    if (sum <= 0) return;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    report->hot_spots = mz_memory_new(MZ_MAX_HOT_SPOTS * sizeof *report->hot_spots);
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++)
        if (c->hot_spots[i].pc) add_row(report, s, &c->hot_spots[i]);
    mz_symbols_close(s);
    qsort(report->hot_spots, report->hot_spot_count, sizeof *report->hot_spots, by_share);
    size_t keep = 0;
    for (size_t i = 0; i < report->hot_spot_count; i++) {
        struct mz_hot_spot_report *row = &report->hot_spots[i];
        row->share /= sum;
        if (i < ROWS && row->share >= LEAST_SHARE)
            keep++;
        else
            mz_hot_spot_report_release(row);
    }
    report->hot_spot_count = keep;
}
