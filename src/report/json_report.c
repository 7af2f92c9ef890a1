/* The report as JSON, one object, as the manual describes it: keys may be added, never renamed or removed. */
#include "report/sample.h"
#include "report/writer.h"

#include "base/json.h"

static void add_place(struct mz_json *j, const char *file, unsigned line)
{
    mz_json_string(j, "file", file);
    if (file)
        mz_json_number(j, "line", line);
    else
        mz_json_string(j, "line", NULL);
}

static void add_step(struct mz_json *j, const struct mz_finding_report *finding, const struct mz_operation *o)
{
    mz_json_open(j, NULL, '{');
    mz_json_string(j, "thread", mz_finding_report_thread_name(finding, o->thread));
    mz_json_string(j, "op", mz_op_name((enum mz_op)o->op));
    mz_json_string(j, "object", o->object);
    add_place(j, o->file, o->line);
    mz_json_number(j, "step", o->step);
    if (o->value) mz_json_string(j, "value", o->value);
    if (o->new_value) mz_json_string(j, "new_value", o->new_value);
    if (o->other >= 0) mz_json_string(j, "other", mz_finding_report_thread_name(finding, o->other));
    if (o->failed) mz_json_bool(j, "failed", true);
    if (o->racing) mz_json_bool(j, "racing", true);
    mz_json_close(j, '}');
}

static void add_stack(struct mz_json *j, const char *key, const struct mz_stack *stack)
{
    mz_json_open(j, key, '[');
    for (size_t i = 0; i < stack->count; i++) {
        mz_json_open(j, NULL, '{');
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `count` is the length of `frames` */
        mz_json_string(j, "function", stack->frames[i].function);
        add_place(j, stack->frames[i].file, stack->frames[i].line);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

static const char *state_name(unsigned state)
{
    static const char *const names[] = {"unknown",  "runnable", "finished", "locking", "waiting",
                                        "joining",  "sem_wait", "barrier",  "futex",   "sigwait",
                                        "spinning", "failed",   "exiting"};
    _Static_assert(sizeof names / sizeof *names == MZ_THREAD_EXITING + 1, "a name for every state");
    return state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static void add_threads(struct mz_json *j, const struct mz_finding_report *finding)
{
    mz_json_open(j, "threads", '[');
    for (size_t i = 0; i < finding->thread_count; i++) {
        const struct mz_thread_report *t = &finding->threads[i];
        mz_json_open(j, NULL, '{');
        mz_json_string(j, "thread", t->name);
        mz_json_string(j, "function", t->function);
        mz_json_string(j, "state", state_name(t->state));
        mz_json_string(j, "object", t->object);
        mz_json_string(j, "holder",
                       t->holder >= 0 ? mz_finding_report_thread_name(finding, t->holder) : NULL);
        add_stack(j, "stack", &t->stack);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

static void add_race(struct mz_json *j, const struct mz_finding_report *finding)
{
    mz_json_string(j, "object", finding->object);
    mz_json_open(j, "accesses", '[');
    for (int i = 0; i < 2; i++) {
        mz_json_open(j, NULL, '{');
        mz_json_string(j, "thread", mz_finding_report_thread_name(finding, finding->access[i].thread));
        mz_json_string(j, "op", mz_op_name((enum mz_op)finding->access[i].op));
        mz_json_number(j, "size", finding->access[i].size);
        add_stack(j, "stack", &finding->access[i].stack);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

/* "allocated", "freed": {thread, stack} */
static void add_life(struct mz_json *j, const char *key, const struct mz_finding_report *finding,
                     const struct mz_access_report *a)
{
    const struct mz_frame *frame = a->stack.count ? &a->stack.frames[0] : NULL;
    if (a->op == MZ_OP_NONE) return;
    mz_json_open(j, key, '{');
    mz_json_string(j, "thread", mz_finding_report_thread_name(finding, a->thread));
    add_place(j, frame ? frame->file : NULL, frame ? frame->line : 0);
    mz_json_number(j, "size", a->size);
    add_stack(j, "stack", &a->stack);
    mz_json_close(j, '}');
}

static void add_leaks(struct mz_json *j, const struct mz_finding_report *finding)
{
    if (!finding->leak_count) return;
    mz_json_open(j, "leaks", '[');
    for (size_t i = 0; i < finding->leak_count; i++) {
        mz_json_open(j, NULL, '{');
        mz_json_number(j, "blocks", finding->leaks[i].blocks);
        mz_json_number(j, "bytes", finding->leaks[i].bytes);
        add_life(j, "allocated", finding, &finding->leaks[i].allocated);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

static void add_finding(struct mz_json *j, const struct mz_finding_report *finding)
{
    mz_json_open(j, NULL, '{');
    mz_json_string(j, "kind", mz_kind_name(finding->kind));
    mz_json_string(j, "message", finding->message);
    add_place(j, finding->file, finding->line);
    mz_json_string(j, "thread", mz_finding_report_thread_name(finding, finding->thread));
    mz_json_string(j, "trace", finding->trace);
    mz_json_bool(j, "replayed", finding->replayed);
    mz_json_number(j, "execution", finding->execution);
    if (finding->expression) mz_json_string(j, "expression", finding->expression);
    if (finding->kind == MZ_KIND_DATA_RACE)
        add_race(j, finding);
    else
        add_stack(j, "stack", &finding->access[0].stack);
    add_life(j, "allocated", finding, &finding->allocated);
    add_life(j, "freed", finding, &finding->freed);
    add_leaks(j, finding);
    add_threads(j, finding);
    mz_json_open(j, "steps", '[');
    for (size_t i = 0; i < finding->operation_count; i++) add_step(j, finding, &finding->operations[i]);
    mz_json_close(j, ']');
    mz_json_close(j, '}');
}

static void add_counters(struct mz_json *j, const struct mz_report *report)
{
    const struct mz_counters *c = &report->counters;
    double seconds = report->seconds;
    mz_json_number(j, "executions", c->executions);
    mz_json_number(j, "blocked", c->blocked);
    mz_json_number(j, "cut",
                   c->cut); /* executions that ended in a loop which waits for another execution's write */
    mz_json_number(j, "transitions", c->transitions);
    mz_json_number(j, "states", c->states);
    mz_json_number(j, "revisited", c->revisited);
    mz_json_number(j, "max_depth", c->max_depth);
    mz_json_number(j, "threads", c->threads);
    mz_json_decimal(j, "seconds", seconds);
    mz_json_decimal(j, "executions_per_second",
                    seconds > 0 ? (double)(c->executions - report->sharing.resumed) / seconds : 0);
    mz_json_number(j, "peak_memory_bytes", report->peak_memory);
    mz_json_decimal(j, "processor_seconds",
                    report->sharing.workers ? report->sharing.processor : report->processor);
    /* All visible operations that were run; events are those that the search orders. */
    mz_json_number(j, "operations", c->operations + c->local_operations);
    mz_json_number(j, "events", c->operations);
    mz_json_decimal(j, "switch_ns", report->switch_ns);
    mz_json_number(j, "races", c->races);
    mz_json_number(j, "wakeup_nodes", c->wakeup_nodes);
    mz_json_number(j, "wakeup_nodes_peak", c->wakeup_nodes_peak);
    if (c->sets) { /* --count-sets */
        mz_json_number(j, "largest_set", c->largest_set);
        mz_json_decimal(j, "mean_set", (double)c->set_sizes / (double)c->sets);
    }
    mz_json_number(j, "restarts", c->restarts);
    mz_json_number(j, "hooks", c->hooks);
    mz_json_number(j, "engine_bytes", c->engine_bytes);
    mz_json_number(j, "unjoined", c->unjoined);
    /* Estimated part that is done; not for stateful algorithms. */
    double done = report->interrupted ? (double)c->work_done / (double)MZ_ALL_WORK : 1;
    if (done <= 0 && report->estimate.mean > 0)
        done = (double)c->executions / report->estimate.mean; /* tiny */
    if (done > 0 && !report->only_estimate) mz_json_decimal(j, "share", done);
    /* To save memory: executions before optimal continued as source, states before states were forgotten. */
    if (c->fell_back) mz_json_number(j, "fell_back_after", c->fell_back);
    if (c->forgot) mz_json_number(j, "forgot_after", c->forgot);
}

/* Of the executions of the whole search. */
static void add_estimate(struct mz_json *j, const struct mz_interval *e)
{
    if (e->mean <= 0) return;
    mz_json_open(j, "estimate", '{');
    mz_json_decimal(j, "executions", e->mean);
    mz_json_decimal(j, "low", e->low);
    mz_json_decimal(j, "high", e->high);
    mz_json_decimal(j, "confidence", MZ_CONFIDENCE);
    mz_json_number(j, "samples", e->tours);
    mz_json_bool(j, "at_least", e->at_least);
    mz_json_close(j, '}');
}

static void add_bound(struct mz_json *j, const struct mz_report *report)
{
    if (report->bound.kind == MZ_BOUND_NONE) return;
    bool explored = report->bound.complete || !report->interrupted;
    mz_json_open(j, "bound", '{');
    mz_json_string(j, "kind", report->bound.kind == MZ_BOUND_DELAYS ? "delays" : "preemptions");
    mz_json_number(j, "limit", report->bound.limit);
    if (explored || report->bound.some_before)
        mz_json_number(j, "explored",
                       report->bound.limit - !explored); /* the largest that was explored in full */
    mz_json_number(j, "beyond", report->counters.beyond);
    mz_json_close(j, '}');
}

static void add_sharing(struct mz_json *j, const struct mz_sharing *s)
{
    if (!s->workers) return;
    mz_json_number(j, "workers", s->workers);
    mz_json_number(j, "tasks", s->tasks);
    mz_json_number(j, "redundant", s->redundant);
    mz_json_number(j, "lost", s->lost);
    if (s->is_resumed)
        mz_json_number(j, "resumed", s->resumed); /* executions that were explored before this run */
    if (s->ranks) {
        mz_json_number(j, "ranks", s->ranks);
        mz_json_number(j, "hosts", s->hosts);
        mz_json_number(j, "lost_ranks", s->lost_ranks);
    }
    mz_json_open(j, "sharing", '{');
    mz_json_number(j, "parts", s->parts);
    mz_json_number(j, "splits", s->splits);
    mz_json_number(j, "updates", s->updates);
    mz_json_number(j, "inserted", s->inserted);
    mz_json_number(j, "bytes", s->bytes);
    mz_json_decimal(j, "idle", s->idle);
    mz_json_decimal(j, "processor_seconds", s->processor);
    mz_json_close(j, '}');
}

static void add_hot_spots(struct mz_json *j, const struct mz_report *report)
{
    mz_json_open(j, "hot_spots", '[');
    for (size_t i = 0; i < report->hot_spot_count; i++) {
        const struct mz_hot_spot_report *spot = &report->hot_spots[i];
        mz_json_open(j, NULL, '{');
        mz_json_string(j, "op", mz_op_name((enum mz_op)spot->op));
        mz_json_string(j, "object", spot->object);
        add_place(j, spot->file, spot->line);
        mz_json_decimal(j, "share", spot->share);
        mz_json_number(j, "threads", spot->threads);
        mz_json_number(j, "times", spot->times);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

static void add_texts(struct mz_json *j, const char *key, const struct mz_list *texts)
{
    mz_json_open(j, key, '[');
    for (size_t i = 0; i < texts->count; i++) mz_json_string(j, NULL, texts->items[i]);
    mz_json_close(j, ']');
}

/* A search without companions has no such list. */
static void add_beside(struct mz_json *j, const struct mz_report *report)
{
    if (!report->beside_count) return;
    mz_json_open(j, "beside", '[');
    for (size_t i = 0; i < report->beside_count; i++) {
        const struct mz_beside *b = &report->beside[i];
        mz_json_open(j, NULL, '{');
        mz_json_string(j, "search", b->name);
        mz_json_number(j, "executions", b->executions);
        mz_json_number(j, "states", b->states);
        if (b->classes) mz_json_number(j, "classes", b->classes);
        mz_json_bool(j, "error", b->error);
        mz_json_close(j, '}');
    }
    mz_json_close(j, ']');
}

static void write_json(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style)
{
    (void)style;
    struct mz_json j = {0};
    mz_json_open(&j, NULL, '{');
    mz_json_string(&j, "version", MZ_VERSION);
    mz_json_string(&j, "verdict", mz_verdict_name(report->verdict));
    mz_json_string(&j, "algorithm", report->algorithm);
    if (report->reason) mz_json_string(&j, "reason", report->reason);
    mz_json_bool(&j, "complete", !report->interrupted);
    add_texts(&j, "unseen", &report->unseen);
    add_counters(&j, report);
    mz_sample_json(&j, report);
    add_estimate(&j, &report->estimate);
    add_bound(&j, report);
    add_sharing(&j, &report->sharing);
    mz_json_open(&j, "errors", '[');
    for (size_t i = 0; i < report->finding_count; i++) add_finding(&j, &report->findings[i]);
    mz_json_close(&j, ']');
    if (report->findings_lost) mz_json_bool(&j, "more_errors", true);
    add_hot_spots(&j, report);
    add_texts(&j, "unreached_assertions", &report->unreached);
    add_beside(&j, report);
    add_texts(&j, "warnings", &report->warnings);
    add_texts(&j, "notes", &report->notes);
    if (report->hint) mz_json_string(&j, "hint", report->hint);
    mz_json_close(&j, '}');
    mz_strbuf_addc(&j.out, '\n');
    mz_strbuf_add(out, mz_strbuf_text(&j.out));
    mz_strbuf_release(&j.out);
}

const struct mz_writer mz_json_writer = {"json", ".json", .is_for_display = false, write_json};
