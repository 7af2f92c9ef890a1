/* `mazurka check`: what a search found. Each finding is replayed. If a finding cannot be replayed, the search runs
 * again in a safer mode. See check_internal.h. */
#define _GNU_SOURCE
#include "cmd/check_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "base/files.h"
#include "base/memory.h"

/* ---- findings ---- */

static char *trace_name(const struct mz_check *c, size_t number)
{
    if (c->settings.trace)
        return number == 1 ? mz_memory_string(c->settings.trace)
                           : mz_format("%s.%zu", c->settings.trace, number);
    return mz_format("mazurka-%s-%zu.trace", mz_files_base(c->program.name), number);
}

static void write_trace(const struct mz_check *c, struct mz_finding_report *finding, size_t number)
{
    char *name = trace_name(c, number);
    if (mz_trace_write(name, &c->recipe, finding) == 0) {
        finding->trace = name;
        return;
    }
    mz_notice("cannot write the trace file %s: %s", name, mz_reason(errno));
    free(name);
}

/* Is it an error of the program? Yes if it was replayed, or if there was no time to replay it. A program that is not
 * deterministic cannot be replayed: that finding counts if the search found it without going back. */
static bool is_certain(const struct mz_check *c, const struct mz_finding_report *finding)
{
    if (finding->replayed || c->outcome.interrupted) return true;
    return finding->kind == MZ_KIND_NONDETERMINISM && c->settings.safe == MZ_SAFE_RERUN;
}

#define REPLAYS 3

/* Somebody may kill the replaying process (SIGKILL, perhaps because memory runs out): that says nothing about the
 * finding. */
static void replay(struct mz_target *t, const struct mz_replay *r, struct mz_outcome *again,
                   struct mz_finding_report *finding)
{
    for (int i = 0; i < REPLAYS; i++) {
        if (i) {
            mz_outcome_release(again);
            *again = (struct mz_outcome){0};
            free(finding->replay_problem);
            finding->replay_problem = NULL;
        }
        mz_rerun_replay(t, r, again, finding);
        bool killed = WIFSIGNALED(again->wait_status) && WTERMSIG(again->wait_status) == SIGKILL;
        if (finding->replayed || !killed || again->killed || again->interrupted) return;
    }
}

static void explain(struct mz_check *c, const struct mz_finding *f, size_t number)
{
    const struct mz_step *schedule = mz_outcome_schedule(&c->outcome, f);
    uint64_t block = f->area == MZ_AREA_HEAP ? f->object_start : 0;
    const struct mz_channel *channel = c->outcome.channel;
    size_t locations = f->locations < channel->location_count ? f->locations : channel->location_count;
    struct mz_replay r = {
        (enum mz_kind)f->kind, f->thread, f->code,         schedule, f->steps, 0, 0, f->hash, block,
        channel->locations,    locations, channel->threads};
    struct mz_finding_report *finding = &c->report.findings[c->report.finding_count++];
    struct mz_outcome again = {0};
    struct mz_target t;
    if (f->kind == MZ_KIND_DATA_RACE) r.address = f->address, r.size = f->size;
    mz_rerun_target(&t, &c->settings, &c->program, &c->settings.arguments);
    t.show_output = false;
    t.options.keep_going = c->settings.keep_going;
    if (c->outcome.interrupted)
        finding->replay_problem = mz_memory_string("interrupted before that");
    else
        replay(&t, &r, &again, finding);
    if (again.interrupted) c->outcome.interrupted = true; /* do not replay the other findings either */
    if (f == c->death && f->code == SIGKILL && !finding->replayed) {
        mz_finding_report_release(finding);
        c->report.finding_count--;
        c->outcome.lost = true; /* this is not the program's fault */
        mz_outcome_release(&again);
        return;
    }
    if (!finding->replayed) { /* then use what the exploration recorded */
        char *problem = finding->replay_problem;
        mz_collect_finding(&c->outcome, f, schedule, f->steps, finding);
        finding->replay_problem = problem;
    }
    finding->execution = f->execution;
    mz_finding_report_set_locations(finding, channel->locations, locations);
    if (is_certain(c, finding)) write_trace(c, finding, number);
    mz_outcome_release(&again);
}

/* With --keep-going the search goes on after a data race. What a thread reads there depends on more than the order of the
 * visible operations, so the same schedule may lead elsewhere. That is a consequence of the race, and no reason to doubt
 * the search. */
static void drop_consequences(struct mz_check *c)
{
    struct mz_report *r = &c->report;
    size_t kept = 0;
    bool raced = false;
    for (size_t i = 0; i < r->finding_count; i++)
        raced |= r->findings[i].kind == MZ_KIND_DATA_RACE && r->findings[i].replayed;
    for (size_t i = 0; i < r->finding_count; i++) {
        if (raced && r->findings[i].kind == MZ_KIND_NONDETERMINISM && !r->findings[i].replayed)
            mz_finding_report_release(&r->findings[i]);
        else
            r->findings[kept++] = r->findings[i];
    }
    if (kept < r->finding_count)
        mz_list_add(&r->unseen, "executions after a data race that depend on more than their schedule");
    r->finding_count = kept;
}

void mz_check_explain(struct mz_check *c)
{
    const struct mz_channel *channel = c->outcome.channel;
    size_t count = channel->finding_count, number = 0;
    c->death = mz_memory_new(sizeof *c->death);
    bool died = mz_collect_death(&c->outcome, c->death);
    c->report.findings = mz_memory_new((count + 1) * sizeof *c->report.findings);
    for (size_t i = 0; i < count; i++) explain(c, &channel->findings[i], ++number);
    if (died) explain(c, c->death, ++number);
    drop_consequences(c);
}

/* For tests: a finding that does not replay is a bug of ours, unless the program is not deterministic. */
int mz_check_must_replay(const struct mz_check *c)
{
    if (!getenv("MAZURKA_MUST_REPLAY") || c->outcome.interrupted) return 0;
    for (size_t i = 0; i < c->report.finding_count; i++) {
        const struct mz_finding_report *finding = &c->report.findings[i];
        if (!finding->replayed && finding->kind != MZ_KIND_NONDETERMINISM)
            return mz_fail("internal error: finding %zu (%s) does not replay: %s", i + 1,
                           mz_kind_name(finding->kind),
                           finding->replay_problem ? finding->replay_problem : "?");
    }
    return 0;
}

/* ---- a search that cannot be trusted ---- */

static const struct mz_finding_report *uncertain_finding(const struct mz_check *c)
{
    for (size_t i = 0; i < c->report.finding_count; i++)
        if (!is_certain(c, &c->report.findings[i])) return &c->report.findings[i];
    return NULL;
}

/* Memory changed without a hook, or a finding cannot be replayed: then going back did not restore the right state.
 * Return the mode in which to search again; MZ_SAFE_OFF: no need to. */
enum mz_safe mz_check_must_be_safe(const struct mz_check *c)
{
    if (c->outcome.interrupted || c->settings.safe == MZ_SAFE_RERUN) return MZ_SAFE_OFF;
    if (uncertain_finding(c)) return MZ_SAFE_RERUN;
    return c->outcome.channel->end == MZ_END_UNSEEN ? MZ_SAFE_PAGES : MZ_SAFE_OFF;
}

static void forget_findings(struct mz_check *c)
{
    for (size_t i = 0; i < c->report.finding_count; i++) mz_finding_report_release(&c->report.findings[i]);
    free(c->report.findings);
    free(c->death);
    c->report.findings = NULL;
    c->report.finding_count = 0;
    c->death = NULL;
}

/* Forget what the search found, except the list of what it did not see. */
/* Another search follows. Its time and memory count as well. */
static void put_aside(struct mz_check *c)
{
    struct mz_outcome *o = &c->outcome;
    c->spent.seconds += o->seconds;
    c->spent.processor += o->sharing.workers ? o->sharing.processor : o->processor;
    if (o->peak_memory > c->spent.peak_memory) c->spent.peak_memory = o->peak_memory;
    forget_findings(c);
    mz_outcome_release(o);
}

void mz_check_start_over(struct mz_check *c, enum mz_safe safe)
{
    const struct mz_finding_report *finding = uncertain_finding(c);
    struct mz_outcome *o = &c->outcome;
    mz_collect_unseen(o, &c->report.unseen);
    if (finding)
        mz_list_addf(&c->report.unseen,
                     "a first search came to \"%s\", which could not be replayed (%s): the search was run "
                     "again, every "
                     "execution from the start",
                     finding->message ? finding->message : mz_kind_name(finding->kind),
                     finding->replay_problem ? finding->replay_problem : "it ended differently");
    put_aside(c);
    mz_check_dismiss_ranks(c);
    c->settings.safe = safe;
}

bool mz_check_next_bound(struct mz_check *c)
{
    const struct mz_channel *channel = c->outcome.channel;
    bool more = channel->end == MZ_END_COMPLETE && channel->counters.beyond && !channel->finding_count;
    if (!c->settings.bound_auto || !more || c->settings.bound_limit == MZ_MOST_BOUND) return false;
    c->report.bound.some_before = true;
    c->settings.bound_limit++;
    put_aside(c);
    return true;
}

void mz_check_add_spent(struct mz_check *c)
{
    struct mz_outcome *o = &c->outcome;
    o->seconds += c->spent.seconds;
    o->processor += c->spent.processor;
    if (o->sharing.workers) o->sharing.processor += c->spent.processor;
    if (c->spent.peak_memory > o->peak_memory) o->peak_memory = c->spent.peak_memory;
    if (c->spent.seconds > 0) o->time_limit = c->settings.time_limit;
}

/* A finding that cannot be replayed is not an error, but then nothing is verified either. */
void mz_check_drop_uncertain(struct mz_check *c)
{
    struct mz_report *r = &c->report;
    size_t kept = 0;
    for (size_t i = 0; i < r->finding_count; i++) {
        struct mz_finding_report *finding = &r->findings[i];
        if (is_certain(c, finding)) {
            r->findings[kept++] = *finding;
            continue;
        }
        char *text = mz_format(
            "%s (%s:%u): found, but not when the same schedule was replayed (%s); the outcome depends "
            "on more than the schedule",
            finding->message ? finding->message : mz_kind_name(finding->kind),
            finding->file ? finding->file : "?", finding->line,
            finding->replay_problem ? finding->replay_problem : "it ended differently");
        free(r->unreplayed);
        r->unreplayed = text;
        mz_finding_report_release(finding);
    }
    r->finding_count = kept;
    if (kept && r->unreplayed) mz_list_add(&r->unseen, r->unreplayed);
}
