/* The report as text: the verdict, and each finding. See text.h. The order is that of a reader's questions: Is the
 * program correct? What is wrong, and where? What was each thread doing? How did it come to that? Can I run it
 * again? How complete was the search (text_search.c)? */
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/printable.h"

static void heading(struct mz_strbuf *out, const struct mz_style *style, const char *text)
{
    mz_text_paint(out, style, MZ_BOLD, text);
    mz_strbuf_addc(out, '\n');
}

/* "0.1 (worker)" */
static void add_thread(struct mz_strbuf *out, const struct mz_finding_report *finding, int slot)
{
    const struct mz_thread_report *t = mz_finding_report_thread(finding, slot);
    mz_strbuf_add(out, mz_finding_report_thread_name(finding, slot));
    if (!t || !t->function) return;
    mz_strbuf_add(out, " (");
    mz_text_shorten(out, t->function, 20);
    mz_strbuf_addc(out, ')');
}

/* The source line itself, without its indentation; nothing if the file is not there. */
static void quote_source(struct mz_strbuf *out, const struct mz_style *style, int indent, const char *file,
                         unsigned line)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n = -1;
    struct stat s;
    bool there = style->sources && file && line && stat(file, &s) == 0 && S_ISREG(s.st_mode);
    FILE *f = there ? fopen(file, "re") : NULL;
    if (!f) return;
    while (line-- > 0 && (n = getline(&text, &room, f)) >= 0) continue;
    fclose(f);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) text[--n] = '\0';
    if (n > 0) {
        struct mz_strbuf printable = {0};
        mz_printable(&printable, text + strspn(text, " \t"));
        const char *code = mz_strbuf_text(&printable);
        int most = (int)style->width - indent - 2;
        mz_strbuf_addf(out, "%*s%.*s%s\n", indent, "", most, code, (int)strlen(code) > most ? ".." : "");
        mz_strbuf_release(&printable);
    }
    free(text);
}

/* ---- verdict ---- */

static void add_finding_line(struct mz_strbuf *out, const struct mz_finding_report *finding)
{
    mz_strbuf_add(out, finding->message);
    if (finding->file) mz_strbuf_addf(out, ", at %s:%u", finding->file, finding->line);
    if (finding->kind == MZ_KIND_DEADLOCK) return;
    mz_strbuf_add(out, finding->file ? " in thread " : ", in thread ");
    add_thread(out, finding, finding->thread);
}

/* What the search did not see: one text on each line, after the label. */
static void add_unseen(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style,
                       const char *label)
{
    size_t width = strlen(label);
    for (size_t i = 0; i < report->unseen.count; i++) {
        if (i)
            mz_strbuf_repeat(out, ' ', width);
        else
            mz_strbuf_add(out, label);
        mz_text_wrap(out, width, report->unseen.items[i], style->width, width + 3);
    }
}

/* "verified, except: ...": the exception must not be overlooked, so it stands in the first line. */
static void add_verified_except(struct mz_strbuf *out, const struct mz_report *report,
                                const struct mz_style *style)
{
    struct mz_strbuf rest = {0};
    const char *name = mz_verdict_name(MZ_VERIFIED);
    add_unseen(&rest, report, style, "verified, except:");
    mz_text_paint(out, style, MZ_YELLOW, name);
    mz_strbuf_add(out, mz_strbuf_text(&rest) + strlen(name));
    mz_strbuf_release(&rest);
    mz_strbuf_add(out, "No error in any interleaving of what was seen (");
    mz_strbuf_add_count(out, report->counters.executions, "execution");
    mz_strbuf_add(out, ", all explored)\n");
}

/* What a search with a bound has explored is part of the verdict. */
static void add_incomplete(struct mz_strbuf *out, const struct mz_report *report)
{
    bool all = report->bound.complete;
    if (!all && !report->bound.some_before) {
        mz_strbuf_addf(out, "no error so far, but %s", report->reason);
        return;
    }
    mz_strbuf_add(out, "no error with at most ");
    mz_strbuf_add_count(out, report->bound.limit - !all, mz_bound_unit(report->bound.kind));
    if (!all) {
        mz_strbuf_addf(out, "; with %u: %s", report->bound.limit, report->reason);
        return;
    }
    mz_strbuf_add(out, " (");
    mz_strbuf_add_count(out, report->counters.executions, "execution");
    mz_strbuf_add(out, ", all of these explored)");
}

void mz_text_verdict(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    static const enum mz_paint paints[] = {MZ_GREEN, MZ_RED, MZ_YELLOW, MZ_YELLOW, MZ_RED};
    if (report->verdict == MZ_VERIFIED && report->unseen.count) {
        add_verified_except(out, report, style);
        return;
    }
    mz_text_paint(out, style, paints[report->verdict], mz_verdict_name(report->verdict));
    mz_strbuf_add(out, ": ");
    switch (report->verdict) {
    case MZ_VERIFIED:
        mz_strbuf_add(out, "no error in any interleaving (");
        mz_strbuf_add_count(out, report->counters.executions, "execution");
        mz_strbuf_add(out, ", all explored)");
        break;
    case MZ_ERROR:
        if (report->finding_count > 1) mz_strbuf_addf(out, "%zu errors, the first: ", report->finding_count);
        add_finding_line(out, &report->findings[0]);
        break;
    case MZ_INCOMPLETE:
        add_incomplete(out, report);
        break;
    case MZ_VACUOUS:
        mz_strbuf_addf(out, "NOTHING WAS CHECKED: %s", report->reason);
        break;
    case MZ_FAILED:
        mz_strbuf_add(out, report->reason);
        break;
    }
    mz_strbuf_addc(out, '\n');
    if (report->verdict != MZ_FAILED) add_unseen(out, report, style, "Not seen:");
}

/* ---- call stacks ---- */

static bool same_frame(const struct mz_frame *a, const struct mz_frame *b)
{
    return a->line == b->line && a->function && b->function && !strcmp(a->function, b->function);
}

static void add_stack(struct mz_strbuf *out, const struct mz_stack *stack)
{
    for (size_t i = 0, times; i < stack->count; i += times) {
        const struct mz_frame *f = &stack->frames[i];
        for (times = 1; i + times < stack->count && same_frame(f, f + times);) times++;
        mz_strbuf_add(out, "      ");
        mz_text_shorten(out, f->function ? f->function : "?", 30);
        if (f->file) mz_strbuf_addf(out, ", %s:%u", f->file, f->line);
        if (times > 1) mz_strbuf_addf(out, "  (%zu times)", times);
        mz_strbuf_addc(out, '\n');
    }
}

static const char *access_verb(unsigned op, bool past)
{
    const char *verb = mz_op_info(op)->verb[past];
    if (verb) return verb;
    return past ? "used" : "uses"; /* of a synchronization object */
}

static void add_race(struct mz_strbuf *out, const struct mz_finding_report *finding,
                     const struct mz_style *style)
{
    mz_strbuf_add(out, "Nothing orders these two accesses:\n");
    for (int i = 0; i < 2; i++) {
        const struct mz_access_report *a = &finding->access[i];
        mz_strbuf_add(out, i ? "  before that, thread " : "  thread ");
        add_thread(out, finding, a->thread);
        mz_strbuf_addf(out, " %s ", access_verb(a->op, i));
        mz_text_shorten(out, i ? "it" : finding->object ? finding->object : "?", 30);
        if (a->size) {
            mz_strbuf_add(out, " (");
            mz_strbuf_add_count(out, a->size, "byte");
            mz_strbuf_addc(out, ')');
        }
        mz_strbuf_add(out, ":\n");
        add_stack(out, &a->stack);
        if (a->stack.count) quote_source(out, style, 10, a->stack.frames[0].file, a->stack.frames[0].line);
    }
}

/* ---- the heap ---- */

static void add_life(struct mz_strbuf *out, const struct mz_finding_report *finding,
                     const struct mz_access_report *a, const char *what)
{
    if (a->op == MZ_OP_NONE) return;
    mz_strbuf_addf(out, "  %s by thread ", what);
    add_thread(out, finding, a->thread);
    mz_strbuf_add(out, ":\n");
    add_stack(out, &a->stack);
}

static void add_leaks(struct mz_strbuf *out, const struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->leak_count; i++) {
        const struct mz_leak_report *l = &finding->leaks[i];
        mz_strbuf_add(out, "  ");
        mz_strbuf_add_count(out, l->blocks, "block");
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, l->bytes, "byte");
        mz_strbuf_add(out, ", allocated by thread ");
        add_thread(out, finding, l->allocated.thread);
        mz_strbuf_add(out, ":\n");
        add_stack(out, &l->allocated.stack);
    }
}

static void add_history(struct mz_strbuf *out, const struct mz_finding_report *finding)
{
    add_life(out, finding, &finding->allocated, "The block was allocated");
    add_life(out, finding, &finding->freed, "The block was freed");
    add_leaks(out, finding);
}

/* ---- threads ---- */

/* A thread that is blocked at its next operation. */
static void add_blocked(struct mz_strbuf *out, const struct mz_thread_report *t, const char *object,
                        const char *holder)
{
    const struct mz_op_info *op = mz_op_info(t->op);
    const char *held = mz_object_kinds[op->object].held;
    mz_strbuf_addf(out, "waits %s %s", op->waits ? op->waits : "for mutex", object);
    if (holder)
        mz_strbuf_addf(out, ", %s by %s", held ? held : "held", t->holder == t->slot ? "itself" : holder);
    else if (op->needs == MZ_NEEDS_NO_WRITER)
        mz_strbuf_add(out, ", after a writer that waits");
}

static void add_state(struct mz_strbuf *out, const struct mz_finding_report *finding,
                      const struct mz_thread_report *t)
{
    const char *object = t->object ? t->object : "?";
    const char *holder = t->holder >= 0 ? mz_finding_report_thread_name(finding, t->holder) : NULL;
    switch ((enum mz_thread_state)t->state) {
    case MZ_THREAD_ABSENT:
        mz_strbuf_add(out, "state not known");
        break;
    case MZ_THREAD_RUNNABLE:
        mz_strbuf_add(out, "running");
        if (t->op != MZ_OP_NONE) mz_strbuf_addf(out, ", about to %s", mz_op_name((enum mz_op)t->op));
        if (t->op != MZ_OP_NONE && t->object) mz_strbuf_addf(out, " %s", object);
        break;
    case MZ_THREAD_FINISHED:
        mz_strbuf_add(out, "finished");
        break;
    case MZ_THREAD_LOCKING:
        add_blocked(out, t, object, holder);
        break;
    case MZ_THREAD_WAITING:
        mz_strbuf_addf(out, "waits on condition variable %s", object);
        break;
    case MZ_THREAD_JOINING:
        mz_strbuf_addf(out, "waits for thread %s to end", holder ? holder : "?");
        break;
    case MZ_THREAD_SEMWAIT:
        mz_strbuf_addf(out, "waits %s %s", mz_ops[MZ_OP_SEM_WAIT].waits, object);
        break;
    case MZ_THREAD_BARRIER:
        mz_strbuf_addf(out, "waits at barrier %s", object);
        break;
    case MZ_THREAD_FUTEX:
        mz_strbuf_addf(out, "waits on futex %s", object);
        break;
    case MZ_THREAD_SIGWAIT:
        mz_strbuf_add(out, "waits for a signal");
        break;
    case MZ_THREAD_SPINNING:
        if (t->object)
            mz_strbuf_addf(out, "spins, waiting for a change of %s", object);
        else
            mz_strbuf_add(out, "loops for ever without reading anything shared");
        break;
    case MZ_THREAD_FAILED:
        mz_strbuf_add(out, "failed here");
        break;
    case MZ_THREAD_EXITING:
        mz_strbuf_add(out, "was ending the program");
        break;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Not known if the process died. */
static bool states_known(const struct mz_finding_report *finding)
{
    for (size_t i = 0; i < finding->thread_count; i++)
        if (finding->threads[i].state != MZ_THREAD_ABSENT) return true;
    return false;
}

static size_t name_width(const struct mz_finding_report *finding)
{
    size_t widest = 0;
    for (size_t i = 0; i < finding->thread_count; i++) {
        struct mz_strbuf name = {0};
        add_thread(&name, finding, finding->threads[i].slot);
        if (name.length > widest) widest = name.length;
        mz_strbuf_release(&name);
    }
    return widest < 24 ? widest : 24;
}

static void add_threads(struct mz_strbuf *out, const struct mz_finding_report *finding,
                        const struct mz_style *style)
{
    size_t width = name_width(finding);
    heading(out, style, "Threads");
    for (size_t i = 0; i < finding->thread_count; i++) {
        const struct mz_thread_report *t = &finding->threads[i];
        struct mz_strbuf name = {0}, shown = {0};
        add_thread(&name, finding, t->slot);
        mz_text_shorten(&shown, mz_strbuf_text(&name), width);
        mz_strbuf_addf(out, "  %-*s  ", (int)width, mz_strbuf_text(&shown));
        add_state(out, finding, t);
        if (t->state != MZ_THREAD_FINISHED && t->stack.count && t->stack.frames[0].file)
            mz_strbuf_addf(out, ", %s:%u", base_name(t->stack.frames[0].file), t->stack.frames[0].line);
        mz_strbuf_addc(out, '\n');
        mz_strbuf_release(&name);
        mz_strbuf_release(&shown);
    }
}

/* ---- a finding ---- */

static void add_replay_line(struct mz_strbuf *out, const struct mz_finding_report *finding,
                            const struct mz_style *style)
{
    struct mz_strbuf b = {0};
    if (finding->replayed)
        mz_strbuf_add(&b, "Replayed: same outcome. ");
    else if (finding->replay_problem)
        mz_strbuf_addf(&b, "NOT reproduced when replayed: %s. ", finding->replay_problem);
    if (finding->trace) mz_strbuf_add(&b, "To run it again:");
    if (b.length) mz_text_paragraph(out, &b, style);
    if (finding->trace) mz_strbuf_addf(out, "  mazurka replay %s\n", finding->trace);
}

static void add_side(struct mz_strbuf *out, const char *when, const struct mz_access_report *a)
{
    const struct mz_frame *frame = a->stack.count ? &a->stack.frames[0] : NULL;
    mz_strbuf_addf(out, "  %s %s", when,
                   a->op == MZ_OP_NONE ? "blocked, or ended" : mz_op_name((enum mz_op)a->op));
    if (a->object) mz_strbuf_addf(out, " %s", a->object);
    if (frame && frame->file) mz_strbuf_addf(out, ", %s:%u", base_name(frame->file), frame->line);
    mz_strbuf_addc(out, '\n');
}

/* Show only the two operations: a schedule that does not decide what happens cannot be replayed. */
static void add_nondeterminism(struct mz_strbuf *out, const struct mz_finding_report *finding,
                               const struct mz_style *style)
{
    add_side(out, "before:", &finding->access[1]);
    add_side(out, "now:   ", &finding->access[0]);
    mz_text_wrap(
        out, 0,
        "A schedule must decide what the program does. Look for uninitialised memory, real time, "
        "random numbers, addresses used as values, files, process ids (workers of -j N differ) or other "
        "processes.",
        style->width, 0);
}

void mz_text_finding(struct mz_strbuf *out, const struct mz_finding_report *finding,
                     const struct mz_style *style)
{
    const struct mz_stack *stack = &finding->access[0].stack;
    if (finding->kind == MZ_KIND_DATA_RACE) {
        add_race(out, finding, style);
    } else if (finding->kind == MZ_KIND_NONDETERMINISM) {
        add_nondeterminism(out, finding, style);
        return;
    } else if (finding->kind != MZ_KIND_DEADLOCK) {
        quote_source(out, style, 4, finding->file, finding->line);
        if (stack->count > 1 && finding->kind != MZ_KIND_LEAK) {
            mz_strbuf_add(out, "  call stack:\n");
            add_stack(out, stack);
        }
    }
    add_history(out, finding);
    mz_strbuf_addc(out, '\n');
    if (states_known(finding)) {
        add_threads(out, finding, style);
        mz_strbuf_addc(out, '\n');
    }
    mz_text_schedule(out, finding, style);
    mz_strbuf_addc(out, '\n');
    add_replay_line(out, finding, style);
}

/* ---- the whole ---- */

void mz_text_report(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    mz_text_verdict(out, report, style);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->finding_count > 1) {
            mz_strbuf_addf(out, "\nError %zu of %zu: ", i + 1, report->finding_count);
            add_finding_line(out, &report->findings[i]);
            mz_strbuf_addc(out, '\n');
        }
        mz_text_finding(out, &report->findings[i], style);
    }
    if (report->verdict == MZ_FAILED || report->replay) return;
    mz_text_search(out, report, style);
}

/* Standard error has the reason of the failure: there is no report to show. */
static void write_text(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    if (report->verdict == MZ_FAILED) return;
    if (style->quiet)
        mz_text_verdict(out, report, style);
    else
        mz_text_report(out, report, style);
}

const struct mz_writer mz_text_writer = {"text", ".txt", .is_for_display = true, write_text};
