/* The schedule as a table. Each row holds one operation, so its text starts in the column of its thread and
 * may run over the columns to its right, which are empty in that row. That leaves room for names and values
 * even with six threads on 80 columns. A thread's life, from its first to its last operation, is drawn as a
 * vertical line wherever no text is in the way. With more threads than fit, there is one column and the
 * thread's name stands in front. */
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define STEP_WIDTH   7  /* "  1234 " */
#define PLACE_MAX    20 /* "long_file_name.c:123" */
#define LAST_COLUMN  20 /* least room for the text of the rightmost thread */
#define COLUMN_LEAST 7
#define NAME_MOST    28
#define COLUMN_MOST  20
#define ROWS_WHOLE   100 /* longer schedules are cut in the middle: */
#define ROWS_HEAD    30
#define ROWS_TAIL    60

struct lane { /* a thread's column */
    uint8_t thread;
    size_t first, last; /* rows of its first and last operation */
};

struct table {
    const struct mz_finding_report *finding;
    const struct mz_style *style;
    struct lane lanes[MZ_MAX_THREADS];
    size_t lane_count;
    bool single;   /* one column for all */
    size_t column; /* width of a column */
    size_t place;  /* where the place column starts */
};

/* ---- what an operation does ---- */

static void add_object(struct mz_strbuf *out, const struct mz_operation *o, size_t limit)
{
    mz_strbuf_addc(out, ' ');
    mz_text_shorten(out, o->object ? o->object : "?", limit);
}

static void add_memory(struct mz_strbuf *out, const struct mz_operation *o, size_t limit)
{
    add_object(out, o, limit);
    if (o->value) mz_strbuf_addf(out, ": %s", o->value);
    if (o->new_value) mz_strbuf_addf(out, " -> %s", o->new_value);
    const char *failed = mz_op_info(o->op)->failed;
    if (o->failed && failed) mz_strbuf_addf(out, ", %s", failed);
    if (o->racing) mz_strbuf_add(out, "  <- race");
}

static const char *failure_text(const struct mz_finding_report *finding)
{
    if (finding->kind == MZ_KIND_ASSERTION) return "assertion fails";
    return mz_kind_name(finding->kind);
}

static void add_failed(struct mz_strbuf *out, const struct mz_operation *o)
{
    const char *failed = mz_op_info(o->op)->failed;
    if (o->failed && failed) mz_strbuf_addf(out, ": %s", failed);
}

/* What stands after the text of an operation. */
static void add_detail(struct mz_strbuf *out, const struct mz_operation *o, const char *other, size_t limit)
{
    switch ((enum mz_op_shows)mz_op_info(o->op)->shows) {
    case MZ_SHOW_OBJECT:
        add_object(out, o, limit);
        add_failed(out, o);
        break;
    case MZ_SHOW_ACCESS:
        add_memory(out, o, limit);
        break;
    case MZ_SHOW_OUTCOME:
        add_object(out, o, limit);
        if (o->value)
            mz_strbuf_addf(out, ": %s", o->value);
        else
            add_failed(out, o);
        break;
    case MZ_SHOW_WOKEN:
        add_object(out, o, limit);
        if (other) mz_strbuf_addf(out, ": wakes %s", other);
        add_failed(out, o);
        break;
    case MZ_SHOW_WAKING:
    case MZ_SHOW_THREAD:
        mz_strbuf_addf(out, " %s", other ? other : "?");
        add_failed(out, o);
        break;
    case MZ_SHOW_VALUE:
        if (o->value) mz_strbuf_addf(out, " %s", o->value);
        break;
    case MZ_SHOW_TEXT:
    case MZ_SHOW_FINDING:
        break;
    }
}

void mz_text_operation(struct mz_strbuf *out, const struct mz_finding_report *finding,
                       const struct mz_operation *o, size_t limit)
{
    const struct mz_op_info *op = mz_op_info(o->op);
    const char *text = op->shows == MZ_SHOW_FINDING  ? failure_text(finding)
                       : op->shows == MZ_SHOW_WAKING ? "wakes"
                                                     : mz_op_name((enum mz_op)o->op);
    mz_strbuf_add(out, text);
    if (op->joint) mz_strbuf_add(out, op->joint);
    add_detail(out, o, o->other >= 0 ? mz_finding_report_thread_name(finding, o->other) : NULL, limit);
}

/* ---- layout ---- */

static struct lane *lane_of(struct table *t, uint8_t thread)
{
    for (size_t i = 0; i < t->lane_count; i++)
        if (t->lanes[i].thread == thread) return &t->lanes[i];
    return NULL;
}

static int by_thread(const void *a, const void *b)
{
    return ((const struct lane *)a)->thread - ((const struct lane *)b)->thread;
}

static void find_lanes(struct table *t)
{
    for (size_t row = 0; row < t->finding->operation_count; row++) {
        struct lane *lane = lane_of(t, t->finding->operations[row].thread);
        if (!lane && t->lane_count < MZ_MAX_THREADS) {
            lane = &t->lanes[t->lane_count++];
            lane->thread = t->finding->operations[row].thread;
            lane->first = row;
        }
        if (lane) lane->last = row;
    }
    qsort(t->lanes, t->lane_count, sizeof *t->lanes, by_thread);
}

/* "file.c:12", a new string. */
static char *place_text(const struct mz_operation *o)
{
    if (!o->file) return mz_memory_string("");
    const char *slash = strrchr(o->file, '/');
    return mz_format("%s:%u", slash ? slash + 1 : o->file, o->line);
}

static size_t widest_place(const struct mz_finding_report *finding)
{
    size_t widest = 0;
    for (size_t i = 0; i < finding->operation_count; i++) {
        char *text = place_text(&finding->operations[i]);
        size_t length = strlen(text);
        if (length > widest) widest = length;
        free(text);
    }
    return widest < PLACE_MAX ? widest : PLACE_MAX;
}

/* The widest column with which the text of every lane still fits before the place. */
static size_t wanted_column(struct table *t)
{
    size_t column = COLUMN_MOST, end = t->place - 1;
    struct mz_strbuf text = {0};
    for (size_t i = 0; i < t->finding->operation_count; i++) {
        size_t lane = (size_t)(lane_of(t, t->finding->operations[i].thread) - t->lanes);
        mz_strbuf_clear(&text);
        mz_text_operation(&text, t->finding, &t->finding->operations[i], NAME_MOST);
        size_t used = STEP_WIDTH + text.length, room = end > used ? end - used : 0;
        if (lane > 0 && room / lane < column) column = room / lane;
    }
    mz_strbuf_release(&text);
    return column;
}

static void lay_out(struct table *t)
{
    size_t lanes = t->lane_count;
    t->place = t->style->width - widest_place(t->finding);
    size_t room = t->place - STEP_WIDTH - 1, wanted = wanted_column(t);
    t->column = lanes < 2 ? COLUMN_MOST : room > LAST_COLUMN ? (room - LAST_COLUMN) / (lanes - 1) : 0;
    t->single = t->column < COLUMN_LEAST;
    if (t->single || t->column > wanted) t->column = wanted > COLUMN_LEAST ? wanted : COLUMN_LEAST;
    if (t->single) t->column = COLUMN_LEAST;
    size_t used = STEP_WIDTH + (t->single ? 1 : lanes - 1) * t->column + 2 * LAST_COLUMN + 1;
    if (t->place > used) t->place = used; /* few threads: keep the place near */
}

/* ---- rows ---- */

static void put(char *line, size_t at, const char *text, size_t room)
{
    size_t length = strlen(text);
    memcpy(line + at, text, length < room ? length : room);
}

/* The operation's text, made to fit by shortening its object, at last by cutting. */
static void fitting_text(struct mz_strbuf *out, const struct table *t, const struct mz_operation *o,
                         size_t room)
{
    for (size_t limit = NAME_MOST; limit >= 6; limit -= 2) {
        mz_strbuf_clear(out);
        mz_text_operation(out, t->finding, o, limit);
        if (out->length <= room) return;
    }
    while (room > 0 && ((unsigned char)out->data[room] & 0xc0) == 0x80) room--; /* whole UTF-8 characters */
    out->length = room;
    out->data[room] = '\0';
}

static void draw_lives(const struct table *t, char *line, size_t row, size_t from, size_t to)
{
    for (size_t i = 0; !t->single && i < t->lane_count; i++) {
        size_t at = STEP_WIDTH + i * t->column;
        if (row >= t->lanes[i].first && row <= t->lanes[i].last && (at + 1 < from || at > to)) line[at] = '|';
    }
}

static enum mz_paint paint_of(const struct mz_operation *o)
{
    return o->racing || o->op == MZ_OP_FAIL ? MZ_RED : MZ_PLAIN;
}

static void emit(struct mz_strbuf *out, const struct table *t, const char *line, size_t from, size_t to,
                 enum mz_paint paint)
{
    char *left = mz_memory_stringn(line, from), *middle = mz_memory_stringn(line + from, to - from);
    size_t end = strlen(line);
    while (end > to && line[end - 1] == ' ') end--;
    char *right = mz_memory_stringn(line + to, end - to);
    mz_text_paint(out, t->style, MZ_DIM, left);
    mz_text_paint(out, t->style, paint, middle);
    mz_text_paint(out, t->style, MZ_DIM, right);
    mz_strbuf_addc(out, '\n');
    free(left), free(middle), free(right);
}

static void add_row(struct mz_strbuf *out, struct table *t, size_t row, uint32_t *last_step)
{
    const struct mz_operation *o = &t->finding->operations[row];
    size_t width = t->style->width + PLACE_MAX, at = STEP_WIDTH, from = at;
    struct mz_strbuf text = {0};
    char *line = mz_memory_new(width + 1), *place = place_text(o), number[32] = "";
    memset(line, ' ', width);
    if (o->step != *last_step) snprintf(number, sizeof number, "%5u", o->step);
    put(line, 0, number, STEP_WIDTH);
    *last_step = o->step;
    if (t->single) {
        put(line, at, mz_finding_report_thread_name(t->finding, o->thread), t->column - 1);
        at += t->column;
    } else {
        from = at += (size_t)(lane_of(t, o->thread) - t->lanes) * t->column;
    }
    fitting_text(&text, t, o, t->place - 1 - at);
    put(line, at, mz_strbuf_text(&text), t->place - 1 - at);
    draw_lives(t, line, row, at, at + text.length);
    struct mz_strbuf shown = {0};
    mz_text_shorten(&shown, place, PLACE_MAX);
    put(line, t->place, mz_strbuf_text(&shown), PLACE_MAX);
    emit(out, t, line, from, at + text.length, paint_of(o));
    mz_strbuf_release(&shown);
    mz_strbuf_release(&text);
    free(line), free(place);
}

static void add_head(struct mz_strbuf *out, const struct table *t)
{
    size_t width = t->style->width + PLACE_MAX;
    char *line = mz_memory_new(width + 1);
    memset(line, ' ', width);
    put(line, 1, "step", 4);
    for (size_t i = 0; !t->single && i < t->lane_count; i++)
        put(line, STEP_WIDTH + i * t->column, mz_finding_report_thread_name(t->finding, t->lanes[i].thread),
            t->column - 1);
    if (t->single) put(line, STEP_WIDTH, "thread", 6);
    put(line, t->place, "where", 5);
    emit(out, t, line, 0, t->place + 5, MZ_BOLD);
    free(line);
}

static void add_rows(struct mz_strbuf *out, struct table *t)
{
    size_t count = t->finding->operation_count;
    bool cut = count > ROWS_WHOLE && !t->style->all;
    uint32_t last_step = 0;
    for (size_t row = 0; row < count; row++) {
        if (cut && row == ROWS_HEAD) {
            size_t left_out = count - ROWS_HEAD - ROWS_TAIL;
            mz_strbuf_addf(out, "  ...  %zu operations left out; `mazurka show` prints all of them\n",
                           left_out);
            row += left_out;
        }
        add_row(out, t, row, &last_step);
    }
}

/* Without recorded operations only the thread of each step is known. */
static void add_bare_schedule(struct mz_strbuf *out, const struct mz_finding_report *finding,
                              const struct mz_style *style)
{
    size_t column = 0;
    mz_strbuf_addf(out, "Schedule: %zu steps, by these threads in turn\n", finding->schedule_length);
    for (size_t i = 0; i < finding->schedule_length; i++) {
        const char *name = mz_finding_report_thread_name(finding, finding->schedule[i].thread);
        if (column + strlen(name) + 1 > style->width) {
            mz_strbuf_addc(out, '\n');
            column = 0;
        }
        mz_strbuf_addf(out, "%s%s", column ? " " : "  ", name);
        column += strlen(name) + (column ? 1 : 2);
    }
    if (column) mz_strbuf_addc(out, '\n');
}

void mz_text_schedule(struct mz_strbuf *out, const struct mz_finding_report *finding,
                      const struct mz_style *style)
{
    struct table t = {.finding = finding, .style = style};
    if (finding->operation_count == 0) {
        add_bare_schedule(out, finding, style);
        return;
    }
    find_lanes(&t);
    lay_out(&t);
    mz_text_paint(out, style, MZ_BOLD, "Schedule");
    if (finding->schedule_length)
        mz_strbuf_addf(out, " (%zu step%s)", finding->schedule_length,
                       finding->schedule_length == 1 ? "" : "s");
    mz_strbuf_addc(out, '\n');
    add_head(out, &t);
    add_rows(out, &t);
    if (finding->operations_lost)
        mz_strbuf_addf(out, "  and %llu more operations, too many to record\n",
                       (unsigned long long)finding->operations_lost);
}
