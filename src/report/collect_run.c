/* The run as a whole: verdict and its reason, counters, warnings, what was not seen. See collect.h. */
#include "report/collect_internal.h"

#include <stdlib.h>
#include "base/files.h"
#include "base/memory.h"

/* ---- the verdict and its reason ---- */

static char *where(const struct mz_outcome *outcome)
{
    const struct mz_channel *c = outcome->channel;
    const char *name = c->end_thread < MZ_MAX_THREADS ? c->threads[c->end_thread].name : "";
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    struct mz_strbuf b = {0};
    char *file = NULL;
    unsigned line = 0;
    mz_collect_place(s, &c->end_place, &file, &line);
    if (name[0]) mz_strbuf_addf(&b, "thread %s", name);
    if (file) mz_strbuf_addf(&b, "%s%s:%u", name[0] ? ", " : "", file, line);
    free(file);
    mz_symbols_close(s);
    return mz_strbuf_take(&b);
}

static char *with_place(const struct mz_outcome *outcome, const char *text)
{
    char *place = where(outcome), *all;
    all = place[0] ? mz_format("%s (%s)", text, place) : mz_memory_string(text);
    free(place);
    return all;
}

/* A limit as text: the number and its unit; NULL: bytes. */
static char *limit_of(const char *before, uint64_t n, const char *what, const char *after)
{
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "%s ", before);
    if (what)
        mz_strbuf_add_count(&b, n, what);
    else
        mz_strbuf_add_size(&b, n);
    mz_strbuf_add(&b, after);
    return mz_strbuf_take(&b);
}

static char *reason_of_steps(const struct mz_outcome *outcome)
{
    const struct mz_channel *c = outcome->channel;
    char *text = c->end_text[0]
                     ? mz_memory_string(c->end_text)
                     : limit_of("an execution reached the limit of", c->options.max_steps, "step", "");
    char *all = with_place(outcome, text);
    free(text);
    return all;
}

static char *reason_of_stop(const struct mz_outcome *outcome)
{
    if (outcome->interrupted) return mz_memory_string("it was interrupted");
    if (outcome->stalled) return with_place(outcome, "a thread loops or waits without any shared operation");
    char *text = mz_format("the time limit of %g s was reached", outcome->time_limit);
    char *all = outcome->killed ? with_place(outcome, text) : mz_memory_string(text);
    free(text);
    return all;
}

static enum mz_verdict limit(struct mz_report *report, char *reason)
{
    report->reason = reason;
    return MZ_INCOMPLETE;
}

static enum mz_verdict vacuous(struct mz_report *report, const char *reason)
{
    report->reason = mz_memory_string(reason);
    return MZ_VACUOUS;
}

static enum mz_verdict failed(struct mz_report *report, char *reason)
{
    report->reason = reason;
    return MZ_FAILED;
}

/* States are not compared, so endless loops were followed for some rounds only: runtime/loops/rounds.c. */
static char *reason_of_rounds(const struct mz_outcome *outcome)
{
    char *text = limit_of("a loop that need not end was followed for", MZ_ROUNDS, "round",
                          " only; try --algorithm=stateful");
    if (!outcome->channel->end_place.pc[0]) return text; /* an earlier run found it: --resume */
    char *all = with_place(outcome, text);
    free(text);
    return all;
}

static char *reason_of_threads(const struct mz_outcome *outcome)
{
    char *text =
        limit_of("an execution has more than", MZ_MAX_THREADS, "thread",
                 ": a thread stops where it would create another one; use fewer threads in the test");
    if (!outcome->channel->end_place.pc[0]) return text;
    char *all = with_place(outcome, text);
    free(text);
    return all;
}

/* Why the search checked nothing; NULL: it did. */
static const char *why_vacuous(const struct mz_channel *c)
{
    if (!c->instrumented) return "none of the program's code was compiled with `mazurka cc`";
    if (c->counters.hooks == 0) return "no code compiled with `mazurka cc` ever ran";
    if (c->counters.threads < 2) return "the program never started a second thread";
    if (c->counters.executions == 0) return "no execution came to its end";
    if (c->counters.kept == 0)
        return "in every execution an assumption does not hold (mz_assume, __VERIFIER_assume)";
    return NULL;
}

/* A sample has no other end than a limit. */
static enum mz_verdict verdict_of_sample(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    const char *why = why_vacuous(c);
    if (c->counters.bounded && !c->counters.executions) return limit(report, reason_of_rounds(outcome));
    if (c->counters.uncreated && !c->counters.executions) return limit(report, reason_of_threads(outcome));
    if (why) return vacuous(report, why);
    struct mz_strbuf b = {0};
    mz_strbuf_add(&b, "only ");
    mz_strbuf_add_count(&b, c->counters.executions, "execution");
    mz_strbuf_addf(&b, " %s sampled%s", c->counters.executions == 1 ? "was" : "were",
                   outcome->interrupted ? ", then it was interrupted" : "");
    return limit(report, mz_strbuf_take(&b));
}

static enum mz_verdict verdict_of_complete(const struct mz_channel *c, struct mz_report *report)
{
    const char *why = why_vacuous(c);
    if (why) return vacuous(report, why);
    if (report->bound.complete)
        return limit(report, limit_of("only executions with at most", c->options.bound_limit,
                                      mz_bound_unit(report->bound.kind), " were explored"));
    enum mz_algorithm algorithm = (enum mz_algorithm)c->options.algorithm;
    if (!mz_algorithm_is_sound(algorithm, c->options.sleep_sets))
        return limit(report, mz_memory_string(mz_algorithm_is_sound(algorithm, false)
                                                  ? "this algorithm may miss executions with sleep sets"
                                                  : "this algorithm may miss executions"));
    return MZ_VERIFIED;
}

static enum mz_verdict verdict_of_end(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    bool enough = c->end == MZ_END_EXECUTIONS || (c->end == MZ_END_TIME && !outcome->stalled);
    if (report->strategy && enough) return verdict_of_sample(outcome, report);
    switch ((enum mz_end)c->end) {
    case MZ_END_COMPLETE:
        return verdict_of_complete(c, report);
    case MZ_END_EXECUTIONS:
        return limit(report,
                     limit_of("the limit of", c->options.max_executions, "execution", " was reached"));
    case MZ_END_ROUNDS:
        return limit(report, reason_of_rounds(outcome));
    case MZ_END_THREADS:
        return limit(report, reason_of_threads(outcome));
    case MZ_END_STEPS:
        return limit(report, reason_of_steps(outcome));
    case MZ_END_MEMORY:
        if (!c->options.memory_limit)
            return limit(report, mz_memory_string("the search needs more memory than it can have"));
        return limit(report, limit_of("the memory limit of", c->options.memory_limit, NULL, " was reached"));
    case MZ_END_TIME:
        return limit(report, reason_of_stop(outcome));
    case MZ_END_UNSUPPORTED:
        return failed(report, with_place(outcome, c->end_text));
    case MZ_END_DIVERGED:
        return failed(report, mz_memory_string(c->end_text));
    case MZ_END_INTERNAL:
        return failed(report, mz_format("internal error: %s", c->end_text));
    case MZ_END_RUNNING:
        if (outcome->lost)
            return limit(report,
                         mz_memory_string(
                             "the program was killed from outside (SIGKILL), perhaps for lack of memory"));
        if (outcome->killed) return limit(report, reason_of_stop(outcome));
        break;
    case MZ_END_UNSEEN: /* the command starts over, unless it was asked to stop */
        return limit(report,
                     mz_memory_string("the program writes memory without a hook, and the search did not "
                                      "start over"));
    case MZ_END_COUNT:
    case MZ_END_FINDING:
        break;
    }
    return failed(report, mz_memory_string("internal error: the target ended without a result"));
}

/* ---- warnings ---- */

/* Mutexes that threads lock in a cycle, though no schedule of this test deadlocks. */
static char *describe_circle(struct mz_symbols *s, const struct mz_channel *c, const struct mz_warning *w)
{
    struct mz_strbuf b = {0};
    mz_strbuf_add(&b, "mutexes are locked in a circle:");
    for (uint32_t i = 0; i < w->steps && i < MZ_WARNING_STEPS; i++) {
        struct mz_place place = {{w->step[i].pc, 0}};
        char *held = mz_collect_object(s, MZ_OP_LOCK, w->step[i].held, 0), *file = NULL;
        char *locked = mz_collect_object(s, MZ_OP_LOCK, w->step[i].locked, 0);
        unsigned line = 0;
        mz_collect_place(s, &place, &file, &line);
        mz_strbuf_addf(&b, "%s thread %s locks %s while it holds %s", i ? "," : "",
                       c->threads[w->step[i].thread % MZ_MAX_THREADS].name, locked ? locked : "?",
                       held ? held : "?");
        if (file) mz_strbuf_addf(&b, " (%s:%u)", file, line);
        free(held);
        free(locked);
        free(file);
    }
    return mz_strbuf_take(&b);
}

static void collect_warnings(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    if (!c->warning_count) return;
    for (size_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == MZ_KIND_DEADLOCK) return; /* it is more than a warning */
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    for (uint32_t i = 0; i < c->warning_count; i++) {
        char *text = describe_circle(s, c, &c->warnings[i]);
        mz_list_add(&report->warnings, text);
        free(text);
    }
    mz_symbols_close(s);
}

/* ---- memory orders ---- */

static void describe_access(struct mz_strbuf *b, struct mz_symbols *s, const struct mz_reorder *r, int i)
{
    struct mz_place place = {{r->pc[i], 0}};
    char *object = mz_collect_object(s, MZ_OP_STORE, r->key[i], 0), *file = NULL;
    unsigned line = 0;
    mz_collect_place(s, &place, &file, &line);
    mz_strbuf_addf(b, "%s %s", r->writes[i] ? "store to" : "load of", object ? object : "an object");
    if (file) mz_strbuf_addf(b, " (%s:%u)", mz_files_base(file), line);
    free(object);
    free(file);
}

/* Atomic accesses run sequentially consistent: the search did not see accesses in another order that their memory
 * orders would allow. */
static void collect_reorders(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    if (!c->reorder_count) return;
    struct mz_symbols *s = mz_symbols_open(c, outcome->program);
    for (uint32_t i = 0; i < c->reorder_count; i++) {
        const struct mz_reorder *r = &c->reorders[i];
        struct mz_strbuf b = {0};
        mz_strbuf_addf(&b, "weak memory is not explored: thread %s may do its ",
                       c->threads[r->thread % MZ_MAX_THREADS].name);
        describe_access(&b, s, r, 1);
        mz_strbuf_add(&b, " before its ");
        describe_access(&b, s, r, 0);
        mz_strbuf_add(&b, ", their memory orders allow it");
        if (!mz_list_has(&report->unseen, mz_strbuf_text(&b)))
            mz_list_add(&report->unseen, mz_strbuf_text(&b));
        mz_strbuf_release(&b);
    }
    mz_symbols_close(s);
}

void mz_collect_run(const struct mz_outcome *outcome, struct mz_report *report)
{
    const struct mz_channel *c = outcome->channel;
    report->counters = c->counters;
    report->bound.kind = (enum mz_bound)c->options.bound;
    report->bound.limit = c->options.bound_limit;
    report->bound.complete = c->options.bound && c->counters.beyond && c->end == MZ_END_COMPLETE;
    report->sample = c->sample;
    report->depth = c->options.strategy_depth;
    report->repeats = mz_strategy_repeats((enum mz_strategy_kind)(c->options.strategy % MZ_STRATEGY_COUNT));
    report->switch_ns = c->switch_ns;
    report->seconds = outcome->seconds;
    report->processor = outcome->processor;
    report->peak_memory = outcome->peak_memory;
    report->sharing = outcome->sharing;
    report->estimate = outcome->estimate;
    report->only_estimate = c->options.survey != 0;
    report->findings_lost = c->findings_lost;
    report->memory_limit = c->options.memory_limit;
    report->end = (enum mz_end)c->end;
    report->interrupted = c->end != MZ_END_COMPLETE || report->bound.complete;
    for (size_t i = 0; i < sizeof c->notes / MZ_TEXT && c->notes[i][0]; i++)
        mz_list_add(&report->notes, c->notes[i]);
    for (size_t i = 0; i < MZ_MAX_UNSEEN && c->unseen[i][0]; i++)
        if (!mz_list_has(&report->unseen, c->unseen[i])) mz_list_add(&report->unseen, c->unseen[i]);
    collect_reorders(outcome, report);
    report->assertions = c->assertions_lost ? 0 : c->assertion_count;
    for (uint32_t i = 0; i < report->assertions; i++)
        if (!c->assertions[i].reached) mz_list_add(&report->unreached, c->assertions[i].text);
    mz_collect_hot_spots(outcome, report);
    mz_collect_unseen(outcome, &report->unseen);
    if (c->counters.uncreated && c->end != MZ_END_THREADS) {
        char *text = reason_of_threads(outcome);
        mz_list_add(&report->notes, text);
        free(text);
    }
    if (c->hint[0]) report->hint = mz_memory_string(c->hint);
    collect_warnings(outcome, report);
    if (report->finding_count)
        report->verdict = MZ_ERROR;
    else if (report->unreplayed)
        report->verdict = limit(report, mz_format("a finding could not be replayed: %s", report->unreplayed));
    else
        report->verdict = verdict_of_end(outcome, report);
    if (report->verdict == MZ_VERIFIED && report->strict && report->unseen.count) {
        report->verdict = MZ_INCOMPLETE;
        report->reason = mz_memory_string("not everything was seen (--strict)");
    }
    if (!report->finding_count || c->end == MZ_END_FINDING || c->end == MZ_END_COMPLETE) return;
    if (c->end == MZ_END_RUNNING && !outcome->killed)
        report->reason = mz_memory_string("the program's process is gone");
    else
        verdict_of_end(outcome, report); /* for its reason: what else ended the search */
}
