/* A search by several workers, without processes: see shared.h. */
#include "shared.h"

#include <stdlib.h>
#include <string.h>
#include "dist/balance/balance.h"

#define WORKERS 4
#define ROOM    ((size_t)1 << 24)
#define TURNS   400 /* of a sample: walks, and tasks handed out */

struct worker {
    struct mz_model_explorer *explorer;
    struct mz_exploration *x;
    bool busy, knows;          /* the worker has a task; the balancer has sent it the known tree */
    struct mz_message replies; /* that the worker has not read yet */
};

struct mz_shared {
    struct worker workers[WORKERS];
    struct mz_balance *balance;
    struct mz_message task, reply;
    enum mz_algorithm algorithm;
    bool lossy, samples;
    int count; /* of workers, for this program */
    uint64_t random;
    bool failed; /* the balancer refused a message */
};

static struct mz_shared *running; /* callbacks only get the explorer */

static uint32_t draw(uint32_t n)
{
    running->random = running->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(running->random >> 33) % n;
}

static uint32_t number_of(const void *explorer)
{
    uint32_t w = 0;
    while (running->workers[w].explorer != explorer) w++;
    return w;
}

static enum mz_share_wish wish(void *explorer)
{
    (void)explorer;
    uint32_t r = draw(60);
    return r == 0 ? MZ_SHARE_GIVE_ALL : r < 25 ? MZ_SHARE_GIVE : MZ_SHARE_KEEP;
}

static void forget_tasks(uint32_t but)
{
    for (uint32_t w = 0; w < WORKERS; w++) {
        if (w == but) continue; /* what it has asked is answered all the same */
        running->workers[w].busy = running->workers[w].knows = false;
        mz_message_clear(&running->workers[w].replies);
    }
}

static enum mz_heard tell(uint32_t w, const struct mz_message *message)
{
    struct mz_message m = *message;
    m.at = 0;
    enum mz_heard heard = mz_balance_hear(running->balance, w, &m, &running->reply);
    if (heard == MZ_HEARD_RESTART) forget_tasks(w);
    if (heard == MZ_HEARD_VOID) forget_tasks(WORKERS);
    if (heard == MZ_HEARD_NONSENSE || m.at != m.count) running->failed = true;
    return heard;
}

/* The balancer's reply is queued until the worker listens. */
static void send(void *explorer, const struct mz_message *m)
{
    uint32_t w = number_of(explorer);
    if (tell(w, m) != MZ_HEARD_REPLY) return;
    mz_put(&running->workers[w].replies, (uint32_t)running->reply.count);
    mz_put_bytes(&running->workers[w].replies, running->reply.data, running->reply.count);
}

static bool next_reply(struct mz_message *from, struct mz_message *reply)
{
    if (from->at == from->count) return false;
    uint32_t size = mz_get(from);
    mz_message_clear(reply);
    mz_put_bytes(reply, from->data + from->at, size);
    from->at += size;
    if (from->at == from->count) mz_message_clear(from);
    return true;
}

static bool listen(void *explorer, struct mz_message *reply, bool wait)
{
    if (!wait && draw(3) == 0) return false;
    return next_reply(&running->workers[number_of(explorer)].replies, reply);
}

static const struct mz_share_options sharing = {.wish = wish, .send = send, .listen = listen, .room = ROOM};

struct mz_shared *mz_shared_new(const struct mz_model_settings *settings, bool lossy)
{
    struct mz_shared *s = calloc(1, sizeof *s);
    struct mz_model_settings own = *settings;
    if (!s) abort();
    own.share = &sharing;
    s->algorithm = settings->algorithm;
    s->lossy = lossy;
    s->samples = settings->strategy != MZ_STRATEGY_EXHAUSTIVE;
    for (int w = 0; w < WORKERS; w++) {
        s->workers[w].explorer = mz_model_explorer_new(&own);
        s->workers[w].replies = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
        if (!s->workers[w].replies.data) abort();
    }
    s->balance =
        mz_balance_new(settings->algorithm, settings->sleep_sets, MZ_MODEL_THREADS * MZ_MODEL_EVENTS);
    if (settings->strategy != MZ_STRATEGY_EXHAUSTIVE) mz_balance_sample(s->balance, 1);
    s->task = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
    s->reply = (struct mz_message){.data = malloc(ROOM), .capacity = ROOM};
    if (!s->task.data || !s->reply.data) abort();
    return s;
}

void mz_shared_set_order(struct mz_shared *s, enum mz_order order, uint64_t seed)
{
    for (int w = 0; w < WORKERS; w++) mz_model_set_order(s->workers[w].explorer, order, seed);
}

void mz_shared_set_bound(struct mz_shared *s, uint32_t limit)
{
    for (int w = 0; w < WORKERS; w++) mz_model_set_bound(s->workers[w].explorer, limit);
}

void mz_shared_free(struct mz_shared *s)
{
    if (!s) return;
    for (int w = 0; w < WORKERS; w++) {
        mz_model_explorer_free(s->workers[w].explorer);
        free(s->workers[w].replies.data);
    }
    mz_balance_free(s->balance);
    free(s->task.data);
    free(s->reply.data);
    free(s);
}

static void give_task(struct mz_shared *s, uint32_t w)
{
    struct worker *worker = &s->workers[w];
    mz_balance_expect(s->balance, 1 + draw(6));          /* batches, or one at a time */
    mz_balance_tell(s->balance, draw(4) ? draw(6) : 16); /* of what is around them */
    if (!mz_balance_task(s->balance, w, !worker->knows, &s->task)) return;
    while (next_reply(&worker->replies, &s->reply)) { /* too late */
        mz_get(&s->reply);
        mz_explore_learn(worker->x, &s->reply);
    }
    worker->busy = worker->knows = true;
    if (!mz_explore_task(worker->x, &s->task) || s->task.at != s->task.count) s->failed = true;
}

/* End the whole run, and continue from what was saved. */
static void save_and_load(struct mz_shared *s)
{
    for (uint32_t w = 0; w < WORKERS; w++)
        if (s->workers[w].busy) mz_explore_leave(s->workers[w].x);
    mz_message_clear(&s->task);
    mz_balance_save(s->balance, &s->task);
    mz_balance_reuse(s->balance);
    if (!mz_balance_load(s->balance, &s->task)) s->failed = true;
    forget_tasks(WORKERS);
}

static void one_turn(struct mz_shared *s, const struct mz_model_run *run, struct mz_model_report *report)
{
    uint32_t w = draw((uint32_t)s->count);
    struct worker *worker = &s->workers[w];
    if (!worker->busy) {
        give_task(s, w);
    } else if (s->lossy && draw(40) == 0) {
        mz_balance_lost(s->balance, w);
        mz_message_clear(&worker->replies);
        worker->busy = false;
    } else if ((s->lossy || s->samples) && draw(100) == 0) {
        save_and_load(s);
    } else if (!mz_model_next(worker->explorer, run, report) && report->verdict == MZ_MODEL_EXPLORED &&
               worker->busy) {
        mz_explore_task_done(worker->x);
        worker->busy = false;
    }
}

static void begin(struct mz_shared *s, const struct mz_model *m, struct mz_model_report *report,
                  uint64_t seed)
{
    running = s;
    s->random = seed * 0x9e3779b97f4a7c15ull + 1;
    s->count = 2 + (int)draw(WORKERS - 1);
    s->failed = false;
    mz_balance_reuse(s->balance);
    memset(report, 0, sizeof *report);
    for (int w = 0; w < WORKERS; w++) {
        s->workers[w].x = mz_model_begin(s->workers[w].explorer, m);
        s->workers[w].busy = s->workers[w].knows = false;
        mz_message_clear(&s->workers[w].replies);
    }
}

void mz_shared_sample(struct mz_shared *s, const struct mz_model *m, const struct mz_model_run *run,
                      struct mz_model_report *report, uint64_t seed, struct mz_sample *sample)
{
    begin(s, m, report, seed);
    for (uint32_t turn = 0; turn < TURNS && report->verdict == MZ_MODEL_EXPLORED && !s->failed; turn++)
        one_turn(s, run, report);
    for (uint32_t w = 0; w < WORKERS; w++)
        if (s->workers[w].busy) mz_explore_leave(s->workers[w].x);
    mz_balance_sampled(s->balance, sample);
    report->complete = mz_balance_counts(s->balance).executions;
    if (s->failed) report->verdict = MZ_MODEL_ILLEGAL;
    for (int w = 0; w < WORKERS; w++) mz_model_end(s->workers[w].explorer, report);
}

void mz_shared_explore(struct mz_shared *s, const struct mz_model *m, const struct mz_model_run *run,
                       struct mz_model_report *report, uint64_t seed)
{
    begin(s, m, report, seed);
    while (report->verdict == MZ_MODEL_EXPLORED && !s->failed && !mz_balance_complete(s->balance))
        one_turn(s, run, report);
    struct mz_balance_counts counts = mz_balance_counts(s->balance);
    report->counters.executions = counts.executions;
    report->counters.blocked = counts.blocked;
    bool all = report->verdict == MZ_MODEL_EXPLORED;
    if (all && !s->lossy && counts.executions != report->complete) s->failed = true;
    report->complete = counts.executions;
    if (s->lossy) report->asleep = counts.blocked;
    if (s->failed) report->verdict = MZ_MODEL_ILLEGAL;
    for (int w = 0; w < WORKERS; w++) report->counters.beyond += mz_explore_counters(s->workers[w].x)->beyond;
    for (int w = 0; w < WORKERS; w++) mz_model_end(s->workers[w].explorer, report);
}
