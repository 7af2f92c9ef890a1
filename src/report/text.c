/* The report as text: see text.h. The order is that of a reader's questions: is it right, what is wrong,
 * where, who was doing what, how did it come to that, can I see it again, how sure is all this. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "memory.h"
#include "printable.h"

/* ---- small things ---- */

void mz_text_paint(struct mz_strbuf *out, const struct mz_style *style, enum mz_paint paint, const char *text)
{
    static const char *const codes[] = {"", "1", "2", "1;31", "1;32", "1;33"};
    if (!style->color || paint == MZ_PLAIN || !text[0])
        mz_strbuf_add(out, text);
    else
        mz_strbuf_addf(out, "\033[%sm%s\033[0m", codes[paint], text);
}

void mz_text_shorten(struct mz_strbuf *out, const char *text, size_t length)
{
    size_t n = strlen(text);
    if (n <= length || length < 4) {
        mz_strbuf_addn(out, text, n < length ? n : length);
        return;
    }
    size_t tail = (length - 2) / 2, head = length - 2 - tail;
    while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80) head--; /* whole UTF-8 characters */
    while (tail > 0 && ((unsigned char)text[n - tail] & 0xc0) == 0x80) tail--;
    mz_strbuf_addn(out, text, head);
    mz_strbuf_add(out, "..");
    mz_strbuf_addn(out, text + n - tail, tail);
}

static void heading(struct mz_strbuf *out, const struct mz_style *style, const char *text)
{
    mz_text_paint(out, style, MZ_BOLD, text);
    mz_strbuf_addc(out, '\n');
}

/* "0.1 (worker)" */
static void add_thread(struct mz_strbuf *out, const struct mz_bug *bug, int slot)
{
    const struct mz_thread_report *t = mz_bug_thread(bug, slot);
    mz_strbuf_add(out, mz_bug_thread_name(bug, slot));
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

/* ---- long lines ---- */

/* Length of the text up to and with the next comma or semicolon that a space follows. */
static size_t clause(const char *text)
{
    size_t n = 0;
    while (text[n] && !((text[n] == ',' || text[n] == ';') && text[n + 1] == ' ')) n++;
    return n + (text[n] != '\0');
}

/* Text behind so many columns that are there already; further lines are indented. Broken between clauses, and
 * between words where a clause is longer than a line. */
static void add_wrapped(struct mz_strbuf *out, size_t column, const char *text, size_t width, size_t indent)
{
    const char *end = text; /* of the clause */
    bool whole = false;
    while (*text) {
        if (text >= end) {
            end = text + clause(text);
            whole = indent + (size_t)(end - text) <= width;
        }
        size_t n = whole ? (size_t)(end - text) : strcspn(text, " ");
        if (column && column + 1 + n > width) {
            mz_strbuf_addc(out, '\n');
            mz_strbuf_repeat(out, ' ', indent);
            column = indent;
        } else if (column) {
            mz_strbuf_addc(out, ' ');
            column++;
        }
        mz_strbuf_addn(out, text, n);
        column += n;
        text += n + strspn(text + n, " ");
    }
    mz_strbuf_addc(out, '\n');
}

/* The same of what has been put together; then it is released. */
static void add_paragraph(struct mz_strbuf *out, struct mz_strbuf *text, const struct mz_style *style)
{
    add_wrapped(out, 0, mz_strbuf_text(text), style->width, 2);
    mz_strbuf_release(text);
}

/* ---- verdict ---- */

static void add_bug_line(struct mz_strbuf *out, const struct mz_bug *bug)
{
    mz_strbuf_add(out, bug->message);
    if (bug->file) mz_strbuf_addf(out, ", at %s:%u", bug->file, bug->line);
    if (bug->kind == MZ_KIND_DEADLOCK) return;
    mz_strbuf_add(out, bug->file ? " in thread " : ", in thread ");
    add_thread(out, bug, bug->thread);
}

/* What the search did not see, one text a line behind the label. */
static void add_unseen(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style,
                       const char *label)
{
    size_t width = strlen(label);
    for (size_t i = 0; i < report->unseen.count; i++) {
        if (i)
            mz_strbuf_repeat(out, ' ', width);
        else
            mz_strbuf_add(out, label);
        add_wrapped(out, width, report->unseen.items[i], style->width, width + 3);
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
        if (report->bug_count > 1) mz_strbuf_addf(out, "%zu errors, the first: ", report->bug_count);
        add_bug_line(out, &report->bugs[0]);
        break;
    case MZ_INCOMPLETE:
        mz_strbuf_addf(out, "no error so far, but %s", report->reason);
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
    switch (op) {
    case MZ_OP_READ:
        return past ? "read" : "reads";
    case MZ_OP_WRITE:
        return past ? "wrote" : "writes";
    case MZ_OP_LOAD:
        return past ? "read (atomically)" : "reads (atomically)";
    case MZ_OP_STORE:
        return past ? "wrote (atomically)" : "writes (atomically)";
    case MZ_OP_RMW:
    case MZ_OP_CAS:
        return past ? "changed (atomically)" : "changes (atomically)";
    case MZ_OP_FREE:
    case MZ_OP_DEALLOCATE:
        return past ? "freed" : "frees";
    case MZ_OP_FINISH:
        return past ? "ended, and with it" : "ends, and with it";
    default: /* of a synchronization object */
        return past ? "used" : "uses";
    }
}

static void add_race(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style)
{
    mz_strbuf_add(out, "Nothing orders these two accesses:\n");
    for (int i = 0; i < 2; i++) {
        const struct mz_access_report *a = &bug->access[i];
        mz_strbuf_add(out, i ? "  before that, thread " : "  thread ");
        add_thread(out, bug, a->thread);
        mz_strbuf_addf(out, " %s ", access_verb(a->op, i));
        mz_text_shorten(out, i ? "it" : bug->object ? bug->object : "?", 30);
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

static void add_life(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_access_report *a,
                     const char *what)
{
    if (a->op == MZ_OP_NONE) return;
    mz_strbuf_addf(out, "  %s by thread ", what);
    add_thread(out, bug, a->thread);
    mz_strbuf_add(out, ":\n");
    add_stack(out, &a->stack);
}

static void add_leaks(struct mz_strbuf *out, const struct mz_bug *bug)
{
    for (size_t i = 0; i < bug->leak_count; i++) {
        const struct mz_leak_report *l = &bug->leaks[i];
        mz_strbuf_add(out, "  ");
        mz_strbuf_add_count(out, l->blocks, "block");
        mz_strbuf_add(out, ", ");
        mz_strbuf_add_count(out, l->bytes, "byte");
        mz_strbuf_add(out, ", allocated by thread ");
        add_thread(out, bug, l->allocated.thread);
        mz_strbuf_add(out, ":\n");
        add_stack(out, &l->allocated.stack);
    }
}

static void add_history(struct mz_strbuf *out, const struct mz_bug *bug)
{
    add_life(out, bug, &bug->allocated, "The block was allocated");
    add_life(out, bug, &bug->freed, "The block was freed");
    add_leaks(out, bug);
}

/* ---- threads ---- */

static const char *lock_wait(unsigned op)
{
    switch (op) {
    case MZ_OP_RDLOCK:
        return "to read-lock";
    case MZ_OP_WRLOCK:
        return "to write-lock";
    case MZ_OP_ONCE:
        return "for the function of";
    default:
        return "for mutex";
    }
}

static void add_state(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_thread_report *t)
{
    const char *object = t->object ? t->object : "?";
    const char *holder = t->holder >= 0 ? mz_bug_thread_name(bug, t->holder) : NULL;
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
        mz_strbuf_addf(out, "waits %s %s", lock_wait(t->op), object);
        if (holder)
            mz_strbuf_addf(out, ", %s by %s", t->op == MZ_OP_ONCE ? "run" : "held",
                           t->holder == t->slot ? "itself" : holder);
        if (!holder && t->op == MZ_OP_RDLOCK) mz_strbuf_add(out, ", after a writer that waits");
        break;
    case MZ_THREAD_WAITING:
        mz_strbuf_addf(out, "waits on condition variable %s", object);
        break;
    case MZ_THREAD_JOINING:
        mz_strbuf_addf(out, "waits for thread %s to end", holder ? holder : "?");
        break;
    case MZ_THREAD_SEMWAIT:
        mz_strbuf_addf(out, "waits on semaphore %s", object);
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
        mz_strbuf_add(out, "here it happened");
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

/* Not if the process is gone with all that it knew. */
static bool states_known(const struct mz_bug *bug)
{
    for (size_t i = 0; i < bug->thread_count; i++)
        if (bug->threads[i].state != MZ_THREAD_ABSENT) return true;
    return false;
}

static size_t name_width(const struct mz_bug *bug)
{
    size_t widest = 0;
    for (size_t i = 0; i < bug->thread_count; i++) {
        struct mz_strbuf name = {0};
        add_thread(&name, bug, bug->threads[i].slot);
        if (name.length > widest) widest = name.length;
        mz_strbuf_release(&name);
    }
    return widest < 24 ? widest : 24;
}

static void add_threads(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style)
{
    size_t width = name_width(bug);
    heading(out, style, "Threads");
    for (size_t i = 0; i < bug->thread_count; i++) {
        const struct mz_thread_report *t = &bug->threads[i];
        struct mz_strbuf name = {0}, shown = {0};
        add_thread(&name, bug, t->slot);
        mz_text_shorten(&shown, mz_strbuf_text(&name), width);
        mz_strbuf_addf(out, "  %-*s  ", (int)width, mz_strbuf_text(&shown));
        add_state(out, bug, t);
        if (t->state != MZ_THREAD_FINISHED && t->stack.count && t->stack.frames[0].file)
            mz_strbuf_addf(out, ", %s:%u", base_name(t->stack.frames[0].file), t->stack.frames[0].line);
        mz_strbuf_addc(out, '\n');
        mz_strbuf_release(&name);
        mz_strbuf_release(&shown);
    }
}

/* ---- a bug, and the search ---- */

static void add_replay_line(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style)
{
    struct mz_strbuf b = {0};
    if (bug->replayed)
        mz_strbuf_add(&b, "Replayed: same outcome. ");
    else if (bug->replay_problem)
        mz_strbuf_addf(&b, "NOT reproduced when replayed: %s. ", bug->replay_problem);
    if (bug->trace) mz_strbuf_add(&b, "To run it again:");
    if (b.length) add_paragraph(out, &b, style);
    if (bug->trace) mz_strbuf_addf(out, "  mazurka replay %s\n", bug->trace);
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

/* Nothing to show but the two operations: a schedule that does not decide what happens cannot be replayed. */
static void add_nondeterminism(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style)
{
    add_side(out, "before:", &bug->access[1]);
    add_side(out, "now:   ", &bug->access[0]);
    add_wrapped(
        out, 0,
        "A schedule must decide what the program does. Look for uninitialised memory, real time, "
        "random numbers, addresses used as values, files, process ids (workers of -j N differ) or other "
        "processes.",
        style->width, 0);
}

void mz_text_bug(struct mz_strbuf *out, const struct mz_bug *bug, const struct mz_style *style)
{
    const struct mz_stack *stack = &bug->access[0].stack;
    if (bug->kind == MZ_KIND_DATA_RACE) {
        add_race(out, bug, style);
    } else if (bug->kind == MZ_KIND_NONDETERMINISM) {
        add_nondeterminism(out, bug, style);
        return;
    } else if (bug->kind != MZ_KIND_DEADLOCK) {
        quote_source(out, style, 4, bug->file, bug->line);
        if (stack->count > 1 && bug->kind != MZ_KIND_LEAK) {
            mz_strbuf_add(out, "  call stack:\n");
            add_stack(out, stack);
        }
    }
    add_history(out, bug);
    mz_strbuf_addc(out, '\n');
    if (states_known(bug)) {
        add_threads(out, bug, style);
        mz_strbuf_addc(out, '\n');
    }
    mz_text_schedule(out, bug, style);
    mz_strbuf_addc(out, '\n');
    add_replay_line(out, bug, style);
}

static const char *completeness(const struct mz_report *report)
{
    if (!report->interrupted) return "complete";
    if (report->bug_count && !report->reason) return "stopped at the first error";
    return "not complete";
}

/* Who searched; with --verbose, what they said to each other. */
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

/* By estimate. */
static void add_share(struct mz_strbuf *b, uint64_t share)
{
    unsigned percent = (unsigned)(share / (MZ_SHARE_ONE / 100));
    if (!share || share >= MZ_SHARE_ONE) return;
    if (percent < 1)
        mz_strbuf_add(b, ", less than 1 % done");
    else
        mz_strbuf_addf(b, ", about %u %% done", percent);
}

static void add_search(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    const struct mz_counters *c = &report->counters;
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "Search: %s", completeness(report));
    if (report->verdict == MZ_INCOMPLETE) add_share(&b, c->share);
    if (report->bug_count && report->reason) mz_strbuf_addf(&b, " (%s)", report->reason);
    mz_strbuf_addf(&b, "; algorithm %s, ", report->algorithm);
    mz_strbuf_add_count(&b, c->executions, "execution");
    if (report->sharing.resumed)
        mz_strbuf_addf(&b, " (%" PRIu64 " of them before it was resumed)", report->sharing.resumed);
    if (c->states)
        mz_strbuf_addf(&b, ", %" PRIu64 " states, %" PRIu64 " revisited, ", c->states, c->revisited);
    else
        mz_strbuf_addf(&b, ", %" PRIu64 " blocked, ", c->blocked);
    if (c->cut) mz_strbuf_addf(&b, "%" PRIu64 " cut in loops that wait, ", c->cut);
    mz_strbuf_add_count(&b, c->transitions, "transition");
    mz_strbuf_add(&b, ", at most ");
    mz_strbuf_add_count(&b, c->max_depth, "step");
    mz_strbuf_add(&b, " and ");
    mz_strbuf_add_count(&b, c->threads, "thread");
    mz_strbuf_addf(&b, "; %.3f s, ", report->seconds);
    mz_strbuf_add_size(&b, report->peak_memory);
    add_sharing(&b, &report->sharing, style->all);
    add_paragraph(out, &b, style);
}

static void add_saved(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    static const char *const more[MZ_END_COUNT] = {
        [MZ_END_MEMORY] = ", and more memory", [MZ_END_EXECUTIONS] = ", and a higher --max-executions"};
    struct mz_strbuf b = {0};
    bool ended = !report->interrupted || report->end == MZ_END_FINDING || report->end == MZ_END_STEPS ||
                 report->end == MZ_END_ROUNDS;
    if (ended || !report->checkpoint || !report->sharing.is_saved) return;
    mz_strbuf_addf(&b, "To go on from here: the same command with --resume=%s%s", report->checkpoint,
                   more[report->end] ? more[report->end] : "");
    add_paragraph(out, &b, style);
}

static void add_warnings(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    for (size_t i = 0; i < report->warnings.count; i++) {
        struct mz_strbuf b = {0};
        mz_strbuf_addf(&b, "Warning: %s", report->warnings.items[i]);
        add_paragraph(out, &b, style);
    }
}

/* What was given up for want of memory; no verdict depends on it. */
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
        add_paragraph(out, &b, style);
    }
    if (report->bugs_lost) {
        mz_strbuf_addf(&b, "Note: there are more than %zu different errors; the others are not listed",
                       report->bug_count);
        add_paragraph(out, &b, style);
    }
    if (c->fell_back) {
        mz_strbuf_addf(&b, "Note: %s made it go on with `source` after ", who);
        mz_strbuf_add_count(&b, c->fell_back, "execution");
        add_paragraph(out, &b, style);
    }
    if (c->forgot) {
        mz_strbuf_addf(&b, "Note: %s made it forget states after ", who);
        mz_strbuf_add_count(&b, c->forgot, "state");
        mz_strbuf_add(&b, ": some were explored again, and count again");
        add_paragraph(out, &b, style);
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
        add_paragraph(out, &b, style);
    }
    for (size_t i = 0; i < report->notes.count; i++) {
        mz_strbuf_addf(&b, "Note: %s", report->notes.items[i]);
        add_paragraph(out, &b, style);
    }
    if (report->hint) {
        mz_strbuf_addf(&b, "Hint: %s", report->hint);
        add_paragraph(out, &b, style);
    }
}

void mz_text_report(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    mz_text_verdict(out, report, style);
    for (size_t i = 0; i < report->bug_count; i++) {
        if (report->bug_count > 1) {
            mz_strbuf_addf(out, "\nError %zu of %zu: ", i + 1, report->bug_count);
            add_bug_line(out, &report->bugs[i]);
            mz_strbuf_addc(out, '\n');
        }
        mz_text_bug(out, &report->bugs[i], style);
    }
    if (report->verdict == MZ_FAILED || report->replay) return;
    add_search(out, report, style);
    add_saved(out, report, style);
    add_warnings(out, report, style);
    add_notes(out, report, style);
}
