/* A stateful search by several workers, without processes: see shared_states.h. */
#include "shared_states.h"

#include <stdlib.h>
#include <string.h>
#include "base/region.h"
#include "dist/balance/balance.h"
#include "event/finished.h"

#define WORKERS 4
#define ROOM    ((size_t)1 << 24)

struct worker {
    struct mz_model_explorer *explorer;
    struct mz_exploration *x;
    bool busy;
};

struct mz_sharing {
    struct worker workers[WORKERS];
    struct mz_balance *balance;
    struct mz_finished *finished;
    struct mz_message task, reply, saved;
    const struct mz_model *model;
    const struct mz_model_run *run;
    uint32_t count, talking; /* workers, for this program; whose turn it is */
    uint64_t random;
    bool failed;
};

static struct mz_sharing *running; /* callbacks only get the explorer */

static uint32_t draw(uint32_t n)
{
    running->random = running->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(running->random >> 33) % n;
}

static struct mz_finished *finished(void *explorer, uint64_t *salt)
{
    (void)explorer;
    *salt = 0;
    return running->finished;
}

/* The worker ends, with all that it has not published. */
static void end_worker(struct mz_sharing *s, uint32_t w)
{
    static const struct mz_model_report dead = {.verdict = MZ_MODEL_EXPLORED}; /* it can be used again */
    if (!s->workers[w].x) return;
    mz_model_end(s->workers[w].explorer, &dead);
    s->workers[w].x = NULL;
    s->workers[w].busy = false;
}

static void send(void *explorer, const struct mz_message *message)
{
    struct mz_sharing *s = running;
    struct mz_message m = *message;
    (void)explorer;
    m.at = 0;
    enum mz_heard heard = mz_balance_hear(s->balance, s->talking, &m, &s->reply);
    if (heard == MZ_HEARD_RESTART) {
        s->run->start_over(s->run->arg, false);
        for (uint32_t w = 0; w < WORKERS; w++)
            if (w != s->talking) end_worker(s, w);
    }
    if ((heard != MZ_HEARD && heard != MZ_HEARD_RESTART) || m.at != m.count) s->failed = true;
}

static const struct mz_share_options sharing = {.send = send, .finished = finished, .room = ROOM};

struct mz_sharing *mz_sharing_new(const struct mz_model_settings *settings)
{
    struct mz_sharing *s = calloc(1, sizeof *s);
    struct mz_model_settings own = *settings;
    if (!s) abort();
    own.share = &sharing;
    for (int w = 0; w < WORKERS; w++) s->workers[w].explorer = mz_model_explorer_new(&own);
    s->balance = mz_balance_new(settings->algorithm, false, MZ_MODEL_THREADS * MZ_MODEL_EVENTS);
    s->finished = mz_region_reserve(mz_finished_size());
    s->task = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
    s->reply = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
    s->saved = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
    if (!s->finished || !s->task.data || !s->reply.data || !s->saved.data) abort();
    return s;
}

void mz_sharing_free(struct mz_sharing *s)
{
    if (!s) return;
    for (int w = 0; w < WORKERS; w++) mz_model_explorer_free(s->workers[w].explorer);
    mz_balance_free(s->balance);
    mz_region_free(s->finished, mz_finished_size());
    free(s->task.data);
    free(s->reply.data);
    free(s->saved.data);
    free(s);
}

static void begin_worker(struct mz_sharing *s, uint32_t w)
{
    struct worker *worker = &s->workers[w];
    worker->x = mz_model_begin(worker->explorer, s->model);
    worker->busy = mz_balance_task(s->balance, w, true, &s->task);
    s->task.at = 0;
    if (!worker->busy || !mz_explore_task(worker->x, &s->task) || s->task.at != s->task.count)
        s->failed = true;
}

/* End the whole run, and continue from what was saved. */
static void save_and_load(struct mz_sharing *s)
{
    mz_message_clear(&s->saved);
    mz_balance_save(s->balance, &s->saved);
    mz_finished_save(s->finished, &s->saved);
    for (uint32_t w = 0; w < WORKERS; w++) {
        end_worker(s, w);
        mz_balance_lost(s->balance, w);
    }
    mz_balance_reuse(s->balance);
    mz_finished_begin(s->finished, 0);
    if (!mz_balance_load(s->balance, &s->saved) || !mz_finished_load(s->finished, &s->saved))
        s->failed = true;
    if (s->saved.at != s->saved.count) s->failed = true;
}

static void one_turn(struct mz_sharing *s, const struct mz_model_run *run, struct mz_model_report *report)
{
    uint32_t w = s->talking = draw(s->count);
    struct worker *worker = &s->workers[w];
    uint32_t what = draw(200);
    if (!worker->busy) {
        begin_worker(s, w);
    } else if (what < 4) {
        end_worker(s, w);
        mz_balance_lost(s->balance, w);
    } else if (what == 4) {
        save_and_load(s);
    } else if (!mz_model_next(worker->explorer, run, report) && report->verdict == MZ_MODEL_EXPLORED) {
        mz_explore_task_done(worker->x);
    }
}

void mz_sharing_explore(struct mz_sharing *s, const struct mz_model *m, const struct mz_model_run *run,
                        struct mz_model_report *report, uint64_t seed)
{
    uint64_t round = 0;
    running = s;
    s->model = m;
    s->run = run;
    s->random = seed * 0x9e3779b97f4a7c15ull + 1;
    s->count = 2 + draw(WORKERS - 1);
    s->failed = false;
    mz_balance_reuse(s->balance);
    mz_finished_begin(s->finished, 0);
    memset(report, 0, sizeof *report);
    while (report->verdict == MZ_MODEL_EXPLORED && !s->failed && !mz_balance_complete(s->balance))
        one_turn(s, run, report);
    for (uint32_t w = 0; w < WORKERS; w++) end_worker(s, w);
    if (!mz_finished_is_complete(s->finished, &round)) s->failed |= report->verdict == MZ_MODEL_EXPLORED;
    report->counters.states = mz_finished_states(s->finished, round);
    if (s->failed) report->verdict = MZ_MODEL_ILLEGAL;
}
