/* Each algorithm runs in a child of the command (member.h). The first child with an answer wins: the other child is
 * asked to stop, and its output is discarded. A child whose search is incomplete (a limit was reached) or failed counts
 * only if the other child does no better. */
#define _GNU_SOURCE
#include "cmd/portfolio.h"

#include <signal.h>
#include <sys/mman.h>
#include "report/report.h"
#include "cmd/help.h"
#include "launch/process.h"

static const struct {
    const char *name;
    enum mz_algorithm algorithm;
} members[] = {{"s-por", MZ_ALG_S_POR}, {"dl-s-por", MZ_ALG_DL_S_POR}};
#define MEMBERS (sizeof members / sizeof *members)

static struct mz_member children[MEMBERS];
static struct mz_progress_view *boards; /* progress of each member, in shared memory */

/* A signal for the command is also for both children. */
static void forward(int number)
{
    for (size_t i = 0; i < MEMBERS; i++) mz_member_signal(&children[i], number);
}

static void start(size_t i, const struct mz_settings *settings, mz_member_run *run, void *data)
{
    struct mz_settings own = *settings;
    own.algorithm = members[i].algorithm;
    own.algorithm_name = children[i].name = members[i].name;
    own.portfolio = false;
    own.jobs = 1;
    own.progress = MZ_NEVER;
    own.board = boards ? &boards[i] : NULL;
    mz_member_start(&children[i], &own, run, data);
}

/* Progress of both together. */
static struct mz_progress_view view(void)
{
    struct mz_progress_view all = {.workers = MEMBERS};
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct mz_counters *c = &boards[i].counters;
        all.counters.executions += c->executions;
        all.counters.states += c->states;
        all.counters.revisited += c->revisited;
        if (c->max_depth > all.counters.max_depth) all.counters.max_depth = c->max_depth;
        if (boards[i].errors > all.errors) all.errors = boards[i].errors;
    }
    return all;
}

/* A terminal sends a signal to all of us: pass it on only to children that still run later. */
#define LATER 0.5

/* Wait for a child to end. Return its number, or -1 if all have ended before. */
static int wait_for_one(struct mz_progress *progress)
{
    static double started, asked;
    static int which;
    if (started <= 0) started = mz_process_clock();
    for (;;) {
        bool some = false;
        for (size_t i = 0; i < MEMBERS; i++) {
            if (children[i].pid <= 0) continue;
            if (mz_member_has_ended(&children[i])) return (int)i;
            some = true;
        }
        if (!some) return -1;
        double now = mz_process_clock();
        if (boards && mz_progress_due(progress, now - started)) {
            struct mz_progress_view all = view();
            mz_progress_update(progress, &all, now - started);
        }
        int signal = mz_process_next_signal(0.1);
        if (signal && signal != SIGCHLD) which = signal, asked = asked > 0 ? asked : now;
        if (which && now - asked >= LATER) {
            forward(which);
            which = 0;
        }
    }
}

/* Is the result of the one better? */
static bool is_better(const struct mz_member *one, const struct mz_member *other)
{
    if (mz_member_has_answer(one) != mz_member_has_answer(other)) return mz_member_has_answer(one);
    return other->status == MZ_STATUS_FAILED && one->status != MZ_STATUS_FAILED;
}

int mz_portfolio(const struct mz_settings *settings, struct mz_progress *progress, mz_member_run *run,
                 void *data)
{
    int best = -1, one;
    if (!mz_member_prepare(settings)) return MZ_STATUS_FAILED;
    boards = mmap(NULL, MEMBERS * sizeof *boards, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (boards == MAP_FAILED) boards = NULL; /* then there is no progress line */
    double started = mz_process_clock();
    for (size_t i = 0; i < MEMBERS; i++) start(i, settings, run, data);
    while ((one = wait_for_one(progress)) >= 0) {
        if (best < 0 || is_better(&children[one], &children[best])) best = one;
        if (mz_member_has_answer(&children[one])) forward(SIGTERM);
    }
    bool answer = best >= 0 && mz_member_has_answer(&children[best]);
    struct mz_progress_view all = boards ? view() : (struct mz_progress_view){0};
    all.work_done = answer ? 1 : 0;
    mz_progress_end(progress, &all, mz_process_clock() - started);
    mz_progress_close(progress);
    int status = best < 0 ? mz_fail("check: cannot start processes for the portfolio")
                          : mz_member_pass_on(&children[best], settings);
    for (size_t i = 0; i < MEMBERS; i++) mz_member_release(&children[i]);
    return status;
}
