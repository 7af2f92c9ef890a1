/* A survey beside a search: see survey.h. */
#define _GNU_SOURCE
#include "launch/survey.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "launch/process.h"
#include "launch/target_internal.h"

#define BEGIN  0.5  /* seconds of the search before the survey starts */
#define LOOK   0.1  /* seconds between looks */
#define PART   0.04 /* of the time of the search, in processor seconds */
#define GIVEN  0.1  /* processor seconds that it may use at once */
#define ENOUGH 1.05 /* the survey is over when the upper end of its interval is so close to the estimate */
#define SEED   0x5eed

uint64_t mz_survey_seed(void)
{
    const char *given = getenv("MAZURKA_SURVEY_SEED"); /* for tests */
    uint64_t n = given ? strtoull(given, NULL, 10) : 0;
    return n ? n : SEED;
}

static void start(struct mz_survey *s, const struct mz_target *target)
{
    struct mz_target t = *target;
    t.options.survey = mz_survey_seed();
    t.options.shared = 0;
    t.options.keep_going = 1;
    t.options.max_executions = 0;
    t.options.memory_limit = 0;
    t.show_output = false;
    t.options.show_output = 0;
    t.tree_file = NULL;
    s->state = MZ_SURVEY_OVER;
    s->outcome = mz_memory_new(sizeof *s->outcome);
    *s->outcome = (struct mz_outcome){0};
    int fd = mz_channel_create(&t, s->outcome);
    if (fd < 0) return;
    s->pid = mz_target_start(&t, fd, -1);
    close(fd);
    if (s->pid > 0) s->state = MZ_SURVEY_RUNS;
}

struct mz_interval mz_survey_read(const struct mz_survey_board *board)
{
    for (int i = 0; i < 1000; i++) {
        uint32_t before = __atomic_load_n(&board->version, __ATOMIC_SEQ_CST);
        struct mz_tour_sums sums = board->sums;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (!(before & 1) && before == __atomic_load_n(&board->version, __ATOMIC_SEQ_CST))
            return mz_interval_of(&sums);
    }
    return (struct mz_interval){0};
}

static void stop(struct mz_survey *s)
{
    if (s->pid <= 0) return;
    kill(-s->pid, SIGKILL);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
    s->state = MZ_SURVEY_OVER;
}

static bool is_gone(struct mz_survey *s)
{
    if (waitpid(s->pid, NULL, WNOHANG) != s->pid) return false;
    kill(-s->pid, SIGKILL);
    s->pid = 0;
    return true;
}

static void take_in(struct mz_survey *s)
{
    struct mz_interval i = mz_survey_read(&s->outcome->channel->survey);
    if (i.mean > 0) s->interval = i;
}

void mz_survey_look(struct mz_survey *s, const struct mz_target *target, double seconds)
{
    if (s->state == MZ_SURVEY_OFF || s->state == MZ_SURVEY_OVER || seconds < fmax(s->next, BEGIN)) return;
    s->next = seconds + LOOK;
    if (s->state == MZ_SURVEY_WAITS) {
        start(s, target);
        return;
    }
    take_in(s);
    if (is_gone(s)) {
        s->state = MZ_SURVEY_OVER;
        return;
    }
    if (s->interval.mean > 0 && s->interval.high <= ENOUGH * s->interval.mean) {
        stop(s);
        return;
    }
    bool rests = mz_process_used_of(s->pid) > GIVEN + PART * seconds;
    if (rests == (s->state == MZ_SURVEY_RESTS)) return;
    s->state = rests ? MZ_SURVEY_RESTS : MZ_SURVEY_RUNS;
    kill(-s->pid, rests ? SIGSTOP : SIGCONT);
}

void mz_survey_end(struct mz_survey *s)
{
    if (!s->outcome) return;
    stop(s);
    if (s->outcome->channel) {
        take_in(s);
        mz_outcome_release(s->outcome);
    }
    free(s->outcome);
    s->outcome = NULL;
}

/* The survey knows the whole tree roughly, the path knows the rest of it well when most is done. So the survey alone
 * counts in the first half, then its interval bounds what the path says. */
double mz_survey_share(const struct mz_survey *s, double executions, double path)
{
    const struct mz_interval *i = &s->interval;
    if (i->mean <= 0 || path >= 1) return path;
    double total = i->mean;
    if (executions > i->low / 2 && path > 0) total = fmin(fmax(executions / path, i->low), i->high);
    const double most = (double)MZ_NEARLY_ALL_WORK / (double)MZ_ALL_WORK;
    return executions < most * total ? executions / total : path > 0 ? path : most;
}
