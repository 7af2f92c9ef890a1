/* The balancer itself in simulated time: see live.h. Messages and their times are those of ours.c; their
 * content is real. When the engine asks something during an execution (whether to give work to others, for
 * replies), the answer is the one at the time when the execution began. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dist/balance/balance.h"
#include "model/system.h"
#include "record.h"

#define ROOM ((size_t)1 << 24)

enum kind { RUN_END, ARRIVE, RING, ROUND, REPLY, TASK, START };

struct letter {
    uint8_t *bytes;
    size_t size;
};

struct letters { /* first in, first out */
    struct letter *at;
    size_t count, room, first;
};

struct worker {
    struct mz_model_explorer *explorer;
    struct mz_exploration *x;
    bool knows, more;
    double given, gave;
    double rung; /* as in ours.c */
    bool unheard;
    struct letters out;     /* of the execution under way */
    struct letters sent;    /* on their way to the balancer */
    struct letters replies; /* that can be listened for */
    struct letters coming;  /* replies that are on their way */
    struct letter task;
    uint32_t skip; /* number of letters that hurry() delivered before they arrived */
};

struct live {
    const struct parameters *p;
    struct result *r;
    struct measured *measured;
    uint64_t counts[4];
    struct queue queue;
    struct worker *workers;
    struct mz_balance *balance;
    struct mz_message task, reply;
    uint32_t *inbox, *hungry; /* workers: one for each letter; those with nothing to do */
    uint32_t started;
    size_t inbox_count, inbox_room, hungry_count;
    bool busy, wanting, failed;
    double now, wanted;
};

static struct live *live; /* callbacks only get the explorer */

/* ---- letters ---- */

static void put(struct letters *l, const uint8_t *bytes, size_t size)
{
    if (l->count == l->room) l->at = memory(l->at, (l->room = l->room ? 2 * l->room : 16) * sizeof *l->at);
    struct letter letter = {memory(NULL, size), size};
    memcpy(letter.bytes, bytes, size);
    l->at[l->count++] = letter;
}

static bool take(struct letters *l, struct letter *to)
{
    if (l->first == l->count) return false;
    *to = l->at[l->first++];
    if (l->first == l->count) l->first = l->count = 0;
    return true;
}

static void discard(struct letters *l)
{
    struct letter letter;
    while (take(l, &letter)) free(letter.bytes);
    free(l->at);
}

static uint32_t kind_of(struct letter l)
{
    uint32_t kind;
    memcpy(&kind, l.bytes, sizeof kind);
    return kind;
}

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(double *sum, uint64_t *count, double since)
{
    *sum += clock_now() - since;
    ++*count;
}

/* ---- the balancer ---- */

/* The balancer hears one letter. Returns its cost. */
static double hear_letter(struct live *l, uint32_t w, struct letter letter)
{
    struct mz_message m = {.data = letter.bytes, .count = letter.size, .capacity = letter.size};
    const struct parameters *p = l->p;
    uint32_t kind = kind_of(letter);
    double since = clock_now(), cost;
    enum mz_heard heard = mz_balance_hear(l->balance, w, &m, &l->reply);
    if (kind == MZ_SHARE_UPDATE) {
        measure(&l->measured->update, &l->counts[2], since);
        cost = p->update;
    } else if (kind == MZ_SHARE_DONE) {
        measure(&l->measured->done, &l->counts[3], since);
        cost = p->done;
    } else {
        measure(&l->measured->split, &l->counts[1], since);
        cost = p->split;
    }
    if (heard == MZ_HEARD_REPLY)
        put(&l->workers[w].coming, l->reply.data, l->reply.count);
    else if (heard != MZ_HEARD)
        l->failed = true;
    if (!mz_balance_holds(l->balance, w)) l->hungry[l->hungry_count++] = w;
    free(letter.bytes);
    return cost;
}

static bool hand_out(struct live *l, uint32_t w)
{
    struct worker *k = &l->workers[w];
    double since = clock_now();
    if (!mz_balance_task(l->balance, w, !k->knows, &l->task)) return false;
    measure(&l->measured->task, &l->counts[0], since);
    k->knows = true;
    k->task = (struct letter){memory(NULL, l->task.count), l->task.count};
    memcpy(k->task.bytes, l->task.data, l->task.count);
    return true;
}

static void round_of_balancer(struct live *l)
{
    const struct parameters *p = l->p;
    double now = l->now + cost_of_round(p);
    struct letter letter;
    for (size_t n = 0; n < l->inbox_count; n++) {
        uint32_t w = l->inbox[n];
        size_t replies = l->workers[w].coming.count;
        if (l->workers[w].skip) {
            l->workers[w].skip--;
        } else if (take(&l->workers[w].sent, &letter)) {
            now += hear_letter(l, w, letter);
            if (l->workers[w].coming.count != replies) queue_put(&l->queue, now + p->latency, REPLY, w, 0);
        } else { /* it has started */
            mz_balance_expect(l->balance, ++l->started);
            l->hungry[l->hungry_count++] = w;
        }
    }
    l->inbox_count = 0;
    while (l->hungry_count && hand_out(l, l->hungry[l->hungry_count - 1])) {
        now += p->task;
        queue_put(&l->queue, now + p->latency, TASK, l->hungry[--l->hungry_count], 0);
    }
    if (l->hungry_count && !l->wanting) l->wanted = now;
    l->wanting = l->hungry_count > 0;
    l->r->balancer += now - l->now;
    l->busy = true;
    queue_put(&l->queue, now, ROUND, 0, 0);
}

static void arrive(struct live *l, uint32_t w, bool ring)
{
    if (l->inbox_count == l->inbox_room)
        l->inbox =
            memory(l->inbox, (l->inbox_room = l->inbox_room ? 2 * l->inbox_room : 64) * sizeof *l->inbox);
    l->inbox[l->inbox_count++] = w;
    l->r->messages++;
    if (ring && !l->busy) round_of_balancer(l);
}

/* ---- what the engine asks for ---- */

static struct worker *worker_of(const void *explorer)
{
    uint32_t w = 0;
    while (live->workers[w].explorer != explorer) w++;
    return &live->workers[w];
}

static enum mz_share_wish wish(void *explorer)
{
    const struct worker *k = worker_of(explorer);
    const struct live *l = live;
    const struct parameters *p = l->p;
    bool now = l->wanting && l->now >= l->wanted + p->latency && l->now >= k->gave + 2 * p->latency &&
               l->now >= k->given + p->least && l->now >= k->gave + p->least;
    return now ? MZ_SHARE_GIVE : MZ_SHARE_KEEP;
}

static void send(void *explorer, const struct mz_message *m)
{
    struct worker *k = worker_of(explorer);
    put(&k->out, m->data, m->count);
    uint32_t kind = kind_of((struct letter){m->data, m->count});
    if (kind == MZ_SHARE_SPLIT || kind == MZ_SHARE_RETURN) k->gave = live->now;
}

/* Deliver all letters on their way at once, so that the engine gets an answer. */
static void hurry(struct live *l, struct worker *k)
{
    uint32_t w = (uint32_t)(k - l->workers);
    struct letter letter;
    while (take(&k->sent, &letter)) {
        hear_letter(l, w, letter);
        k->skip++;
    }
    while (take(&k->out, &letter)) hear_letter(l, w, letter);
    while (take(&k->coming, &letter)) {
        put(&k->replies, letter.bytes, letter.size);
        free(letter.bytes);
    }
}

static bool listen(void *explorer, struct mz_message *reply, bool wait)
{
    struct worker *k = worker_of(explorer);
    struct letter letter;
    if (wait && k->replies.first == k->replies.count) hurry(live, k);
    if (!take(&k->replies, &letter)) return false;
    mz_message_clear(reply);
    mz_put_bytes(reply, letter.bytes, letter.size);
    free(letter.bytes);
    return true;
}

static const struct mz_share_options sharing = {.wish = wish, .send = send, .listen = listen, .room = ROOM};

/* ---- workers ---- */

static void run(struct live *l, uint32_t w)
{
    struct worker *k = &l->workers[w];
    struct mz_model_run all = {0};
    struct mz_model_report report = {0};
    uint64_t before = mz_explore_counters(k->x)->transitions;
    k->more = mz_model_next(k->explorer, &all, &report);
    if (report.verdict != MZ_MODEL_EXPLORED) l->failed = true;
    uint64_t steps = mz_explore_counters(k->x)->transitions - before;
    double cost = l->p->execution + (double)steps * l->p->step;
    l->r->busy += cost;
    queue_put(&l->queue, l->now + cost, RUN_END, w, 0);
}

static void begin_task(struct live *l, uint32_t w)
{
    struct worker *k = &l->workers[w];
    struct mz_message m = {.data = k->task.bytes, .count = k->task.size, .capacity = k->task.size};
    struct letter letter;
    k->given = l->now;
    while (take(&k->coming, &letter)) { /* sent before the task, so they have arrived */
        put(&k->replies, letter.bytes, letter.size);
        free(letter.bytes);
    }
    while (take(&k->replies, &letter)) {
        struct mz_message reply = {.data = letter.bytes, .count = letter.size, .capacity = letter.size};
        mz_get(&reply);
        mz_explore_learn(k->x, &reply);
        free(letter.bytes);
    }
    if (!mz_explore_task(k->x, &m)) l->failed = true;
    free(k->task.bytes);
    k->task.bytes = NULL;
    run(l, w);
}

static void run_end(struct live *l, uint32_t w)
{
    struct worker *k = &l->workers[w];
    struct letter letter;
    if (!k->more) mz_explore_task_done(k->x);
    while (take(&k->out, &letter)) {
        k->unheard = kind_of(letter) == MZ_SHARE_UPDATE;
        if (!k->unheard) k->rung = l->now;
        put(&k->sent, letter.bytes, letter.size);
        free(letter.bytes);
        queue_put(&l->queue, l->now + l->p->latency, ARRIVE, w, !k->unheard);
    }
    if (k->unheard && l->now - k->rung >= l->p->quiet) {
        k->unheard = false;
        k->rung = l->now;
        queue_put(&l->queue, l->now + l->p->latency, RING, w, 0);
    }
    if (k->more) run(l, w);
}

static void handle(struct live *l, const struct event *e)
{
    struct worker *k = &l->workers[e->who];
    struct letter letter;
    l->now = e->time;
    switch (e->kind) {
    case START:
        queue_put(&l->queue, l->now + l->p->latency, ARRIVE, e->who, 1);
        break;
    case ARRIVE:
        arrive(l, e->who, e->what);
        break;
    case RING:
        if (!l->busy && l->inbox_count) round_of_balancer(l);
        break;
    case ROUND:
        l->busy = false;
        if (l->inbox_count) round_of_balancer(l);
        break;
    case REPLY:
        if (!take(&k->coming, &letter)) break;
        put(&k->replies, letter.bytes, letter.size);
        free(letter.bytes);
        break;
    case TASK:
        begin_task(l, e->who);
        break;
    default:
        run_end(l, e->who);
    }
}

/* ---- the whole ---- */

static double alone(const struct mz_model *m, const struct parameters *p)
{
    struct mz_model_settings settings = {.algorithm = MZ_ALG_OPTIMAL, .sleep_sets = true};
    struct mz_model_run all = {0};
    struct mz_model_report report;
    struct mz_model_explorer *e = mz_model_explorer_new(&settings);
    mz_model_explore(e, m, &all, &report);
    mz_model_explorer_free(e);
    return p->start + (double)report.complete * p->execution + (double)report.counters.transitions * p->step;
}

static void begin(struct live *l, const struct mz_model *m)
{
    struct mz_model_settings settings = {.algorithm = MZ_ALG_OPTIMAL, .sleep_sets = true, .share = &sharing};
    uint32_t workers = l->p->workers;
    l->workers = memory(NULL, workers * sizeof *l->workers);
    memset(l->workers, 0, workers * sizeof *l->workers);
    l->hungry = memory(NULL, (workers + 1) * sizeof *l->hungry);
    l->task = (struct mz_message){.data = memory(NULL, ROOM), .capacity = ROOM};
    l->reply = (struct mz_message){.data = memory(NULL, ROOM), .capacity = ROOM};
    l->balance = mz_balance_new(MZ_ALG_OPTIMAL, true, MZ_MODEL_THREADS * MZ_MODEL_EVENTS);
    for (uint32_t w = 0; w < workers; w++) {
        l->workers[w].explorer = mz_model_explorer_new(&settings);
        l->workers[w].x = mz_model_begin(l->workers[w].explorer, m);
        queue_put(&l->queue, start_of(l->p, w), START, w, 0);
    }
}

static void finish(struct live *l)
{
    struct mz_model_report report = {.verdict = MZ_MODEL_STOPPED};
    for (uint32_t w = 0; w < l->p->workers; w++) {
        struct worker *k = &l->workers[w];
        mz_model_end(k->explorer, &report);
        mz_model_explorer_free(k->explorer);
        discard(&k->out);
        discard(&k->sent);
        discard(&k->replies);
        discard(&k->coming);
        free(k->task.bytes);
    }
    mz_balance_free(l->balance);
    free(l->workers);
    free(l->inbox);
    free(l->hungry);
    free(l->task.data);
    free(l->reply.data);
    queue_free(&l->queue);
}

static void average(double *sum, uint64_t count)
{
    if (count) *sum /= (double)count;
}

bool live_run(const char *file, const struct mz_model *model, const struct parameters *p, struct result *r,
              struct measured *m)
{
    struct live l = {.p = p, .r = r, .measured = m};
    struct event e;
    live = &l;
    memset(r, 0, sizeof *r);
    memset(m, 0, sizeof *m);
    r->alone = alone(model, p);
    begin(&l, model);
    while (!mz_balance_complete(l.balance) && !l.failed && queue_take(&l.queue, &e)) handle(&l, &e);
    struct mz_balance_counts counts = mz_balance_counts(l.balance);
    r->time = l.now + p->done;
    r->executions = counts.executions;
    r->tasks = counts.tasks;
    r->parts = counts.parts;
    r->splits = counts.splits + counts.returns;
    r->returns = counts.returns;
    r->updates = counts.updates;
    finish(&l);
    average(&m->task, l.counts[0]);
    average(&m->split, l.counts[1]);
    average(&m->update, l.counts[2]);
    average(&m->done, l.counts[3]);
    if (l.failed) fprintf(stderr, "mz-simulate: %s: the balancer and its workers do not agree\n", file);
    return !l.failed;
}
