/* Searches beside an exhaustive one: see companions.h.
 *
 * Turns. With -j 1, every second turn belongs to the exhaustive search. The turns between belong to one companion each.
 * With more jobs, a quarter of them, at least one, belongs to companions. As many workers of the exhaustive search rest
 * meanwhile; which ones changes with each turn. The next turn belongs to the companion with the fewest turns so far, where
 * a turn that gained much counts less (gain()).
 *
 * A search without a turn is stopped by SIGSTOP. The command that watches its target does that, because no other process
 * can be sure that the target still exists.
 *
 * The progress of all searches is in shared memory, one seat for each. Seat 0 belongs to the exhaustive search. */
#define _GNU_SOURCE
#include "cmd/companions.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/memory.h"
#include "dist/cluster.h"
#include "launch/alongside.h"
#include "launch/process.h"

#define AFTER    1.0 /* seconds until the companions start */
#define TURN     0.3 /* seconds */
#define PATIENCE 5.0 /* seconds for a companion that has found an error to report it */

static void be_stateful(struct mz_settings *s)
{
    s->algorithm = MZ_ALG_S_POR;
    s->algorithm_name = "s-por";
    s->sleep_sets = false;
    s->memory_limit = s->memory_limit ? s->memory_limit / 4 : UINT64_C(1) << 30;
}

static void sample(struct mz_settings *s)
{
    s->strategy = MZ_STRATEGY_MIX;
    s->strategy_name = "mix";
    s->algorithm = MZ_ALG_NONE;
    s->algorithm_name = "none";
    s->seed = 1;
}

static void be_bounded(struct mz_settings *s)
{
    s->bound = MZ_BOUND_PREEMPTIONS;
    s->bound_auto = true;
    s->bound_limit = 0;
    s->algorithm = MZ_ALG_NONE;
    s->algorithm_name = "none";
}

static const struct kind {
    const char *name;
    void (*change)(struct mz_settings *s);
    bool
        proves; /* it may end the search with `verified`: then not for a search by an algorithm that was asked for */
} kinds[] = {{"s-por", be_stateful, true}, {"mix", sample, false}, {"preemptions=auto", be_bounded, true}};
#define KINDS (sizeof kinds / sizeof *kinds)

struct seat {
    struct mz_progress_view view;
    volatile bool rests;
};

struct work {
    uint64_t done, useful;
};

static struct {
    struct seat *seats; /* KINDS + 1, in shared memory; NULL: there are no companions */
    size_t own;         /* the seat of this process */
    struct mz_settings *settings;
    const char *exhaustive; /* the algorithm of the exhaustive search */
    mz_member_run *run;
    void *data;
    double began, after, turn_began;
    bool started;
    bool ours;  /* -j 1: the turn is the exhaustive search's */
    int answer; /* the companion that has ended the search; -1: none */
    struct mz_alongside alongside;
    struct mz_member members[KINDS];
    struct share {
        double used; /* turns, each divided by the gain when it was taken */
        struct work work;
    } shares[KINDS];
} co = {.answer = -1};

/* ---- in a companion ---- */

static bool look_for_rest(void *data, const struct mz_progress_view *view)
{
    (void)data, (void)view;
    co.alongside.resting = co.seats[co.own].rests;
    return false;
}

static int run_companion(void *data, const struct mz_settings *settings)
{
    co.own = (size_t)((const struct mz_member *)data - co.members) + 1;
    co.alongside = (struct mz_alongside){.look = look_for_rest};
    return co.run(co.data, settings);
}

/* ---- starting ---- */

/* For tests: MAZURKA_COMPANIONS_AFTER=SECONDS. */
static double seconds_until_start(void)
{
    const char *text = getenv("MAZURKA_COMPANIONS_AFTER");
    return text ? strtod(text, NULL) : AFTER;
}

static bool may_have_companions(const struct mz_settings *s)
{
    return s->companions && !s->portfolio && !mz_settings_recorded(s) &&
           s->strategy == MZ_STRATEGY_EXHAUSTIVE && s->bound == MZ_BOUND_NONE &&
           !mz_algorithm_is_stateful(s->algorithm) && !s->max_executions && mz_cluster_rank() < 0;
}

static bool look(void *data, const struct mz_progress_view *view);

void mz_companions_prepare(struct mz_settings *settings, mz_member_run *run, void *data)
{
    if (!may_have_companions(settings)) return;
    void *seats =
        mmap(NULL, (KINDS + 1) * sizeof *co.seats, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seats == MAP_FAILED) return;
    co.seats = seats;
    co.settings = settings;
    co.exhaustive = settings->algorithm_name;
    co.run = run;
    co.data = data;
    co.began = mz_process_clock();
    co.after = seconds_until_start();
    co.ours = true;
    co.alongside.look = look;
    settings->alongside = &co.alongside;
}

static void start(size_t i)
{
    struct mz_settings own = *co.settings;
    if (kinds[i].proves && (own.algorithm_given || own.checkpoint || own.resume)) return;
    own.companions = own.keep_going = false;
    own.jobs = 1;
    own.checkpoint = own.resume = own.record_tree = own.classes = NULL;
    own.progress = MZ_NEVER;
    own.estimate = MZ_ESTIMATE_NEVER;
    own.board = &co.seats[i + 1].view;
    own.begun = mz_process_clock() - co.began;
    kinds[i].change(&own);
    co.seats[i + 1].rests = true;
    co.members[i].name = kinds[i].name;
    mz_member_start(&co.members[i], &own, run_companion, &co.members[i]);
}

/* A companion makes no temporary files of its own: the program is built by now. So it may be killed. */
static void start_all(void)
{
    co.started = true;
    if (!mz_member_prepare(co.settings)) return;
    for (size_t i = 0; i < KINDS; i++) start(i);
}

/* ---- turns ---- */

/* What a companion has done, and how much of that is of use. A stateful search is useful where it meets states again; elsewhere
 * it does what the exhaustive search does, more slowly. A sample is useful where it meets new classes. */
static void look_at_work(size_t i, struct work *w)
{
    const struct mz_progress_view *v = &co.seats[i + 1].view;
    const struct mz_counters *c = &v->counters;
    *w = v->classes ? (struct work){c->executions, v->classes}
                    : (struct work){c->states + c->revisited, c->revisited};
}

/* The part of its last work that was of use, from 0.1 to 1. */
static double gain(size_t i)
{
    struct work before = co.shares[i].work, *now = &co.shares[i].work;
    look_at_work(i, now);
    if (now->done <= before.done || now->useful < before.useful)
        return 1; /* not known, or it has started over */
    return 0.1 + 0.9 * (double)(now->useful - before.useful) / (double)(now->done - before.done);
}

static int next_companion(void)
{
    int best = -1;
    for (int i = 0; i < (int)KINDS; i++)
        if (co.members[i].pid > 0 && co.seats[i + 1].rests &&
            (best < 0 || co.shares[i].used < co.shares[best].used))
            best = i;
    return best;
}

static uint32_t seats_of_companions(void)
{
    uint32_t jobs = co.settings->jobs;
    if (jobs > 1) return jobs < 4 ? 1 : jobs / 4;
    co.ours = !co.ours;
    return co.ours ? 0 : 1;
}

static void take_turns(double now)
{
    if (now - co.turn_began < TURN) return;
    co.turn_began = now;
    uint32_t free = seats_of_companions(), taken = 0;
    for (size_t i = 0; i < KINDS; i++) co.seats[i + 1].rests = true;
    for (int i; taken < free && (i = next_companion()) >= 0; taken++) {
        co.seats[i + 1].rests = false;
        co.shares[i].used += 1 / gain((size_t)i);
    }
    co.alongside.resting = taken;
    co.alongside.turn++;
}

/* ---- answers ---- */

static bool found_answer(size_t i)
{
    return mz_member_has_ended(&co.members[i]) && co.members[i].name && mz_member_has_answer(&co.members[i]);
}

bool mz_companions_have_answer(void) { return co.answer >= 0; }

/* With --keep-going, an error is kept until the exhaustive search ends; a proof ends it. */
static bool look(void *data, const struct mz_progress_view *view)
{
    (void)data;
    double now = mz_process_clock();
    co.seats[0].view = *view;
    if (now - co.began < co.after) return false;
    if (!co.started) start_all();
    for (size_t i = 0; i < KINDS; i++)
        if (found_answer(i) && (!co.settings->keep_going || co.members[i].status != MZ_STATUS_ERROR))
            co.answer = (int)i;
    if (co.answer >= 0) return true;
    take_turns(now);
    return false;
}

/* A companion that is about to report an error. */
static bool some_have_found(void)
{
    bool some = false;
    for (size_t i = 0; i < KINDS; i++)
        if (!mz_member_has_ended(&co.members[i]) && co.seats[i + 1].view.errors) {
            co.seats[i + 1].rests = false;
            some = true;
        }
    return some;
}

const struct mz_member *mz_companions_end(bool answer)
{
    if (!co.started || co.own) return NULL;
    double began = mz_process_clock();
    while (!answer && co.answer < 0 && some_have_found() && mz_process_clock() - began < PATIENCE)
        mz_process_look(MZ_ALONGSIDE_EVERY);
    for (size_t i = 0; !answer && co.answer < 0 && i < KINDS; i++)
        if (found_answer(i)) co.answer = (int)i;
    for (size_t i = 0; i < KINDS; i++) mz_member_kill(&co.members[i]);
    return co.answer >= 0 ? &co.members[co.answer] : NULL;
}

void mz_companions_tell(struct mz_report *report)
{
    if (!co.seats || (!co.started && !co.own)) return;
    free(report->hint); /* about stateful search */
    report->hint = NULL;
    report->beside = mz_memory_new((KINDS + 1) * sizeof *report->beside);
    for (size_t i = 0; i <= KINDS; i++) {
        const struct mz_progress_view *v = &co.seats[i].view;
        if (i == co.own || (i && !(v->counters.executions + v->counters.states))) continue;
        report->beside[report->beside_count++] =
            (struct mz_beside){.name = i ? kinds[i - 1].name : co.exhaustive,
                               .executions = v->counters.executions,
                               .states = v->counters.states,
                               .classes = v->classes,
                               .error = v->errors != 0};
    }
}
