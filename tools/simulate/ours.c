/* Our own protocol (src/balance, src/engine/worker_part.c, src/dist/pool.c) on a recorded tree.
 *
 * A worker has a batch of leaves and explores them one after the other. For a leaf it explores a range of
 * executions: those that share the first `root` steps of the leaf. When other workers are idle, it gives back
 * the leaves that it has not begun. If there are none, it gives up its topmost node with known branches: its
 * range then ends where the current branch of that node ends, and the rest belongs to the balancer. So a
 * branch always has one owner, and every execution is run exactly once; otherwise the tree is damaged.
 *
 * A branch is known when an execution that asks for it has ended. If the branch is in the range of the worker,
 * the worker tells nobody. If it is at a node of the balancer, the worker tells the balancer, once for each
 * branch as long as the worker's tasks pass that node. With a task, the balancer tells the worker the tree
 * around it (of large trees only a part; the simulation always tells all). With backtrack sets it tells
 * nothing: with its first execution the worker asks for the branches that the steps to the task call for, that
 * is, all that was asked for below the same branch before.
 *
 * The balancer works in rounds. A round costs time for each worker and for each message. Then an idle worker
 * gets a batch, larger if many branches wait, or else the branch nearest to the root. If a worker is still
 * idle, the balancer asks all others to give something. */
#include <stdlib.h>
#include <string.h>
#include "askers.h"
#include "waiting.h"

#define MOST_PARTS     4096 /* in a batch */
#define MOST_QUESTIONS 256  /* of one worker without an answer: at this number it waits */

enum kind { RUN_END, ARRIVE, RING, ROUND, ANSWER, ANSWERS, TASK, START };
enum message { READY, SPLIT, UPDATE, AGAIN, DONE };

struct worker {
    uint32_t at, root, end; /* the execution under way; the range ends before `end` */
    bool first;             /* it is the first of its task */
    uint32_t top;           /* the node around which the batch lies */
    double given, gave, since;
    double rung;       /* when the balancer was last told to look */
    bool unheard;      /* the worker has sent messages that the balancer was not told to look at */
    uint32_t open;     /* questions without an answer */
    uint32_t flight;   /* answers that are still to come, also to repeated questions */
    bool stalled;      /* flight is too large: the worker waits */
    uint32_t task;     /* number of the task: answers to questions of another are ignored */
    struct list batch; /* leaves that have not been begun, the next one last */
    struct list to_ask, knows;
    size_t asked;
};

struct sim {
    const struct tree *t;
    const struct parameters *p;
    struct result *r;
    struct queue queue;
    struct worker *workers;
    uint8_t *known, *ran;
    struct askers askers;
    struct waiting waiting;
    struct list hungry; /* idle workers, the first to come at the end */
    struct list inbox;  /* kind, worker, what */
    struct list given;  /* branches in messages: how many, and which */
    bool busy, wanting;
    bool wrong; /* the tree contradicts itself */
    double wanted, now, last;
    uint32_t done, started;
    uint32_t asked_to_give; /* workers that may still give something before the balancer looks again */
};

/* ---- the balancer ---- */

static double hear(struct sim *s, uint32_t kind, uint32_t w, uint32_t what, double now)
{
    const struct parameters *p = s->p;
    switch (kind) {
    case READY:
        s->started++;
        list_add(&s->hungry, w);
        return now;
    case SPLIT:
        for (uint32_t k = 1; k <= s->given.at[what]; k++) waiting_put(&s->waiting, s->given.at[what + k]);
        s->r->splits++;
        return now + p->split;
    case UPDATE:
        now += p->update;
        if (!s->known[what]) waiting_put(&s->waiting, what);
        s->known[what] = 1;
        s->r->updates++;
        queue_put(&s->queue, now + p->latency, ANSWER, w, s->workers[w].task);
        return now;
    case AGAIN:
        s->r->updates += what;
        now += what * p->update;
        queue_put(&s->queue, now + p->latency, ANSWERS, w, what);
        return now;
    default:
        s->done++;
        list_add(&s->hungry, w);
        s->last = now + p->done;
        return now + p->done;
    }
}

static void hand_out(struct sim *s, uint32_t w, double now)
{
    struct worker *k = &s->workers[w];
    uint32_t wanted = s->waiting.count / (2 * s->started);
    if (wanted > MOST_PARTS) wanted = MOST_PARTS;
    if (wanted > 1 && !s->p->single) {
        k->top = waiting_take_batch(&s->waiting, &k->batch, wanted);
    } else {
        waiting_take_nearest(&s->waiting, &k->batch);
        k->top = tree_root(s->t, k->batch.at[0]);
    }
    s->r->tasks++;
    s->r->parts += k->batch.count;
    queue_put(&s->queue, now + s->p->latency, TASK, w, 0);
}

static void round_of_balancer(struct sim *s)
{
    const struct parameters *p = s->p;
    double now = s->now + cost_of_round(p);
    for (size_t m = 0; m < s->inbox.count; m += 3)
        now = hear(s, s->inbox.at[m], s->inbox.at[m + 1], s->inbox.at[m + 2], now);
    s->inbox.count = 0;
    while (s->waiting.count && s->hungry.count) hand_out(s, s->hungry.at[--s->hungry.count], now += p->task);
    bool wanting = s->hungry.count || s->waiting.count < p->ahead;
    s->asked_to_give = p->few ? p->few * (uint32_t)s->hungry.count : UINT32_MAX;
    if (wanting && !s->wanting) s->wanted = now;
    s->wanting = wanting;
    s->r->balancer += now - s->now;
    s->busy = true;
    queue_put(&s->queue, now, ROUND, 0, 0);
}

static void arrive(struct sim *s, uint32_t kind, uint32_t w, uint32_t what)
{
    list_add(&s->inbox, kind);
    list_add(&s->inbox, w);
    list_add(&s->inbox, what);
    s->r->messages += kind == AGAIN ? what : 1;
    if (!s->busy && ((kind != UPDATE && kind != AGAIN) || s->p->waits)) round_of_balancer(s);
}

/* ---- workers ---- */

/* Kinds of messages and workers in one word. Tells the balancer to look, unless the message can wait. */
static void send(struct sim *s, uint32_t kind, uint32_t w, uint32_t what)
{
    struct worker *k = &s->workers[w];
    queue_put(&s->queue, s->now + s->p->latency, ARRIVE, w | kind << 24, what);
    k->unheard = kind == UPDATE || kind == AGAIN;
    if (!k->unheard) k->rung = s->now;
}

static void ring(struct sim *s, struct worker *k)
{
    if (!k->unheard || s->now - k->rung < s->p->quiet) return;
    queue_put(&s->queue, s->now + s->p->latency, RING, 0, 0);
    k->rung = s->now;
    k->unheard = false;
}

static void run(struct sim *s, uint32_t w, double extra)
{
    struct worker *k = &s->workers[w];
    double cost = cost_of(s->t, s->p, k->at) + extra;
    if (!s->known[k->at] || s->ran[k->at]) {
        s->wrong = true;
        return;
    }
    s->ran[k->at] = 1;
    s->r->executions++;
    s->r->busy += cost;
    s->r->leading += extra;
    queue_put(&s->queue, s->now + cost, RUN_END, w, 0);
}

static void begin_leaf(struct sim *s, uint32_t w, double extra)
{
    struct worker *k = &s->workers[w];
    k->at = k->batch.at[--k->batch.count];
    k->root = tree_root(s->t, k->at);
    k->end = tree_end(s->t, k->at, k->root);
    run(s, w, extra);
}

static double of_steps(const struct parameters *p, uint32_t steps)
{
    return p->step > p->replay ? steps * (p->step - p->replay) : 0;
}

static void begin_task(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    size_t kept = 0;
    uint32_t first = k->batch.at[k->batch.count - 1];
    k->first = true;
    k->task++;
    k->open = 0;
    k->given = s->now;
    for (size_t n = 0; n < k->knows.count; n++)
        if (tree_passes(s->t, k->knows.at[n], first)) k->knows.at[kept++] = k->knows.at[n];
    k->knows.count = kept;
    begin_leaf(s, w, of_steps(s->p, s->t->node[first]));
}

/* Go to the next leaf, down from the node `top`, unless the path is the right one already. */
static void next_leaf(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    uint32_t i = k->batch.at[k->batch.count - 1], node = s->t->node[i];
    begin_leaf(s, w, tree_passes(s->t, i, k->at) || node < k->top ? 0 : of_steps(s->p, node - k->top));
}

static bool has(const struct list *l, uint32_t value)
{
    for (size_t n = 0; n < l->count; n++)
        if (l->at[n] == value) return true;
    return false;
}

static bool learn(struct worker *k, uint32_t i)
{
    if (has(&k->knows, i)) return false;
    list_add(&k->knows, i);
    return true;
}

static void will_ask(struct worker *k, uint32_t i)
{
    if (learn(k, i)) list_add(&k->to_ask, i);
}

/* Find the branches that the steps to the task call for; the worker knows the tree from `top` on. */
static void look_at_way(struct sim *s, struct worker *k)
{
    bool told = s->t->algorithm == MZ_ALG_OPTIMAL && !s->p->untold;
    for (uint32_t e = k->end; e < s->t->count; e = tree_end(s->t, e, s->t->node[e] + 1)) {
        if (s->t->node[e] >= k->top || !s->known[e] || !asked_before(&s->askers, e, k->at)) continue;
        if (told)
            learn(k, e);
        else
            will_ask(k, e);
    }
}

static void look_at_races(struct sim *s, struct worker *k)
{
    const struct tree *t = s->t;
    if (k->first) look_at_way(s, k);
    k->first = false;
    for (uint64_t a = t->ask_start[k->at]; a < t->ask_start[k->at + 1]; a++) {
        uint32_t i = t->ask[a];
        uint32_t node = tree_parting(t, k->at, i);
        if (node >= k->root)
            s->known[i] = 1;
        else if (node < k->top || !s->known[i])
            will_ask(k, i);
    }
}

/* List the known branches from e on, up to `end`, that are not below another branch of the list. */
static uint32_t list_branches(struct sim *s, uint32_t e, uint32_t end)
{
    uint32_t head = (uint32_t)s->given.count;
    list_add(&s->given, 0);
    for (; e < end; e = tree_end(s->t, e, tree_root(s->t, e)))
        if (s->known[e]) list_add(&s->given, e);
    s->given.at[head] = (uint32_t)(s->given.count - head - 1);
    return head;
}

static bool is_wanted(const struct sim *s, const struct worker *k)
{
    const struct parameters *p = s->p;
    return s->wanting && s->asked_to_give && s->now >= s->wanted + p->latency &&
           s->now >= k->gave + 2 * p->latency && s->now >= k->given + p->least &&
           s->now >= k->gave + p->least;
}

static bool give_back(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    uint32_t head = (uint32_t)s->given.count;
    list_add(&s->given, (uint32_t)k->batch.count);
    while (k->batch.count) list_add(&s->given, k->batch.at[--k->batch.count]);
    k->gave = s->now;
    s->r->returns++;
    send(s, SPLIT, w, head);
    return true;
}

/* The worker gives up its topmost node with a known branch, and goes on from a leaf. */
static bool give(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    const struct tree *t = s->t;
    uint32_t first = UINT32_MAX, branch = k->at;
    if (k->batch.count) return give_back(s, w);
    for (uint32_t e = k->at + 1; e < k->end; e = tree_end(t, e, t->node[e] + 1))
        if (s->known[e] && (first == UINT32_MAX || t->node[e] < t->node[first])) first = e;
    if (first == UINT32_MAX) return false;
    uint32_t end = k->end;
    while (t->node[branch] > t->node[first]) branch = s->askers.up[branch];
    k->root = branch && t->node[branch] == t->node[first] ? tree_root(t, branch) : t->node[first] + 1;
    k->top = k->root;
    k->end = tree_end(t, k->at, k->root);
    k->gave = s->now;
    send(s, SPLIT, w, list_branches(s, k->end, end));
    return true;
}

static void next(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    if (is_wanted(s, k) && give(s, w)) s->asked_to_give--;
    if (++k->at < k->end) {
        run(s, w, 0);
    } else if (k->batch.count) {
        k->at--;
        next_leaf(s, w);
    } else {
        send(s, DONE, w, 0);
    }
}

/* Ask all questions. With --again, repeat after every execution the questions without an answer. */
static void ask_all(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    uint32_t again = s->p->again ? k->open : 0;
    if (again) send(s, AGAIN, w, again);
    k->flight += again + (uint32_t)k->to_ask.count;
    k->open += (uint32_t)k->to_ask.count;
    for (size_t n = 0; n < k->to_ask.count; n++) send(s, UPDATE, w, k->to_ask.at[n]);
    k->to_ask.count = 0;
    k->stalled = k->flight > MOST_QUESTIONS;
    k->since = s->now;
    if (k->stalled) k->rung = -s->p->quiet; /* so that the balancer is told at once */
    ring(s, k);
    if (!k->stalled) next(s, w);
}

/* The same with --wait: ask one question, and wait for its answer before the next. */
static void ask_one(struct sim *s, uint32_t w)
{
    struct worker *k = &s->workers[w];
    if (k->asked < k->to_ask.count) {
        k->since = s->now;
        send(s, UPDATE, w, k->to_ask.at[k->asked++]);
        return;
    }
    k->to_ask.count = k->asked = 0;
    next(s, w);
}

static void answered(struct sim *s, uint32_t w, uint32_t count)
{
    struct worker *k = &s->workers[w];
    k->flight -= count;
    if (!k->stalled || k->flight > MOST_QUESTIONS / 2) return;
    k->stalled = false;
    s->r->waiting += s->now - k->since;
    next(s, w);
}

static void answer(struct sim *s, uint32_t w, uint32_t task)
{
    struct worker *k = &s->workers[w];
    if (s->p->waits) {
        s->r->waiting += s->now - k->since;
        ask_one(s, w);
        return;
    }
    if (k->open && task == k->task) k->open--;
    answered(s, w, 1);
}

static void handle(struct sim *s, const struct event *e)
{
    struct worker *k = &s->workers[e->who & 0xffffff];
    s->now = e->time;
    switch (e->kind) {
    case START:
        send(s, READY, e->who, 0);
        break;
    case ARRIVE:
        arrive(s, e->who >> 24, e->who & 0xffffff, e->what);
        break;
    case ROUND:
        s->busy = false;
        if (s->inbox.count) round_of_balancer(s);
        break;
    case TASK:
        begin_task(s, e->who);
        break;
    case RUN_END:
        look_at_races(s, k);
        (s->p->waits ? ask_one : ask_all)(s, e->who);
        break;
    case RING:
        if (!s->busy && s->inbox.count) round_of_balancer(s);
        break;
    case ANSWERS:
        answered(s, e->who, e->what);
        break;
    default:
        answer(s, e->who, e->what);
    }
}

/* ---- the whole ---- */

static void clean_up(struct sim *s)
{
    for (uint32_t w = 0; w < s->p->workers; w++) {
        free(s->workers[w].batch.at);
        free(s->workers[w].to_ask.at);
        free(s->workers[w].knows.at);
    }
    free(s->workers);
    free(s->known);
    free(s->ran);
    askers_free(&s->askers);
    waiting_free(&s->waiting);
    free(s->hungry.at);
    free(s->inbox.at);
    free(s->given.at);
    queue_free(&s->queue);
}

bool simulate_ours(const struct tree *t, const struct parameters *p, struct result *r)
{
    struct sim s = {.t = t, .p = p, .r = r};
    struct event e;
    memset(r, 0, sizeof *r);
    r->alone = p->start + time_alone(t, p);
    s.workers = zeros(p->workers * sizeof *s.workers);
    s.known = zeros(t->count);
    s.ran = zeros(t->count);
    waiting_init(&s.waiting, t);
    askers_init(&s.askers, t);
    s.known[0] = 1;
    waiting_put(&s.waiting, 0);
    for (uint32_t w = 0; w < p->workers; w++) queue_put(&s.queue, start_of(p, w), START, w, 0);
    while (!s.wrong && queue_take(&s.queue, &e)) {
        handle(&s, &e);
        if (r->executions == t->count && s.done == r->tasks && !s.waiting.count) break;
    }
    bool all = !s.wrong && r->executions == t->count;
    r->time = s.last;
    clean_up(&s);
    return all;
}
