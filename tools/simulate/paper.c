/* The protocol of 2007 (Fig. 3 to 6) on a recorded tree of a search with backtrack sets.
 *
 * Every worker has a stack of its own: for each node of its path the branches that it knows of (`seen`: done,
 * or to be explored, or given to others) and those that it is to explore itself (`todo`). Workers do
 * not tell each other what they find later. So if two workers find a branch at a node that both have on their
 * stacks, both explore it, with all that is below it. The modified update is meant to avoid this redundancy:
 * with it, more branches are known when the stack is copied.
 *
 * The tree records for each execution what its new events ask for (tree_file.h): a worker that runs the
 * execution adds this to its own sets. The subtree below a branch is the recorded one, whichever worker
 * explores it; the simulation ignores that the worker's sleep set would differ.
 *
 * As in Fig. 6 a worker with more than `limit` branches to explore asks the balancer whether anybody is idle,
 * waits for the answer, and sends the branch nearest to the root directly to that one; at most once for each
 * new state, and not again in an execution in which there was nobody. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "simulate.h"

enum kind { RUN_END, ASK, REPORT, NOBODY, SOMEBODY, TASK, START };
#define BRANCHES 64 /* of a node */

struct worker {
    uint64_t *seen; /* for each node of the path */
    uint32_t *todo; /* the deepest node last; of the same node the last execution first */
    uint32_t count, room;
    uint32_t at, depth, asks; /* the execution; its length; how often the worker may still ask after it */
    double since;
};

struct sim {
    const struct tree *t;
    const struct parameters *p;
    struct result *r;
    struct queue queue;
    struct worker *workers;
    uint8_t *ran;
    uint32_t *idle;
    uint32_t idle_count;
    double now, free_at, last;
};

static uint64_t place(const struct sim *s, uint32_t i)
{
    MZ_ASSERT(s->t->place[i] < BRANCHES);
    return (uint64_t)1 << s->t->place[i];
}

static bool comes_first(const struct tree *t, uint32_t a, uint32_t b)
{
    return t->node[a] > t->node[b] || (t->node[a] == t->node[b] && a < b);
}

static void put_todo(const struct tree *t, struct worker *w, uint32_t i)
{
    if (w->count == w->room)
        w->todo = memory(w->todo, (w->room = w->room ? 2 * w->room : 16) * sizeof *w->todo);
    uint32_t k = w->count++;
    for (; k > 0 && comes_first(t, w->todo[k - 1], i); k--) w->todo[k] = w->todo[k - 1];
    w->todo[k] = i;
}

static void run_next(struct sim *s, uint32_t n)
{
    struct worker *w = &s->workers[n];
    uint32_t i = w->todo[--w->count], depth = s->t->node[i] + s->t->steps[i];
    double cost = cost_of(s->t, s->p, i);
    for (uint32_t k = s->t->node[i] + 1; k <= depth; k++) w->seen[k] = 0;
    w->at = i;
    w->depth = depth;
    s->r->executions++;
    s->r->redundant += s->ran[i];
    s->ran[i] = 1;
    s->r->busy += cost;
    queue_put(&s->queue, s->now + cost, RUN_END, n, 0);
}

static void send(struct sim *s, uint32_t kind, uint32_t n)
{
    queue_put(&s->queue, s->now + s->p->latency, kind, n, 0);
    s->r->messages++;
}

static void go_on(struct sim *s, uint32_t n)
{
    struct worker *w = &s->workers[n];
    if (w->count > s->p->limit && w->asks > 0) {
        w->asks--;
        w->since = s->now;
        send(s, ASK, n);
    } else if (w->count > 0) {
        run_next(s, n);
    } else {
        send(s, REPORT, n);
    }
}

static void ended(struct sim *s, uint32_t n)
{
    struct worker *w = &s->workers[n];
    const struct tree *t = s->t;
    for (uint64_t a = t->ask_start[w->at]; a < t->ask_start[w->at + 1]; a++) {
        uint32_t i = t->ask[a];
        if (w->seen[t->node[i]] & place(s, i)) continue;
        w->seen[t->node[i]] |= place(s, i);
        put_todo(t, w, i);
    }
    w->asks = t->steps[w->at] ? t->steps[w->at] : 1;
    go_on(s, n);
}

/* The balancer handles one message at a time. Returns when it has handled this one. */
static double served(struct sim *s, double cost)
{
    double begin = s->free_at > s->now ? s->free_at : s->now;
    s->r->balancer += cost;
    return s->free_at = begin + cost;
}

static void answer(struct sim *s, uint32_t n)
{
    double then = served(s, s->p->task) + s->p->latency;
    if (s->idle_count) {
        queue_put(&s->queue, then, SOMEBODY, n, s->idle[--s->idle_count]);
    } else {
        queue_put(&s->queue, then, NOBODY, n, 0);
        s->r->refused++;
    }
    s->r->messages++;
}

/* Worker n sends its branch nearest to the root to worker `to`, with what it knows of the nodes up to it. */
static void unload(struct sim *s, uint32_t n, uint32_t to)
{
    struct worker *from = &s->workers[n], *w = &s->workers[to];
    uint32_t k = 0;
    while (k + 1 < from->count && s->t->node[from->todo[k + 1]] == s->t->node[from->todo[0]]) k++;
    uint32_t i = from->todo[k];
    memmove(&from->todo[k], &from->todo[k + 1], (from->count - k - 1) * sizeof *from->todo);
    from->count--;
    memcpy(w->seen, from->seen, (s->t->node[i] + 1) * sizeof *w->seen);
    queue_put(&s->queue, s->now + s->p->latency, TASK, to, i);
    s->r->messages++;
}

static void handle(struct sim *s, const struct event *e)
{
    struct worker *w = &s->workers[e->who];
    s->now = e->time;
    switch (e->kind) {
    case RUN_END:
        ended(s, e->who);
        break;
    case ASK:
        answer(s, e->who);
        break;
    case REPORT:
        s->last = served(s, s->p->done);
        s->idle[s->idle_count++] = e->who;
        break;
    case START:
        if (e->what)
            s->idle[s->idle_count++] = e->who;
        else
            queue_put(&s->queue, s->now, TASK, e->who, 0);
        break;
    case TASK:
        s->r->tasks++;
        put_todo(s->t, w, e->what);
        run_next(s, e->who);
        break;
    case SOMEBODY:
        unload(s, e->who, e->what);
        s->r->waiting += s->now - w->since;
        go_on(s, e->who);
        break;
    default:
        w->asks = 0;
        s->r->waiting += s->now - w->since;
        go_on(s, e->who);
    }
}

bool simulate_paper(const struct tree *t, const struct parameters *p, struct result *r)
{
    struct sim s = {.t = t, .p = p, .r = r};
    struct event e;
    size_t depth = (size_t)t->max_depth + 1;
    memset(r, 0, sizeof *r);
    r->alone = p->start + time_alone(t, p);
    s.workers = memory(NULL, p->workers * sizeof *s.workers);
    s.idle = memory(NULL, p->workers * sizeof *s.idle);
    s.ran = memory(NULL, t->count);
    memset(s.ran, 0, t->count);
    for (uint32_t w = 0; w < p->workers; w++) {
        s.workers[w] = (struct worker){.seen = memory(NULL, depth * sizeof(uint64_t))};
        memset(s.workers[w].seen, 0, depth * sizeof(uint64_t));
        queue_put(&s.queue, p->start, START, w, w);
    }
    while (queue_take(&s.queue, &e)) handle(&s, &e);
    bool all = r->executions - r->redundant == t->count;
    r->time = s.last;
    for (uint32_t w = 0; w < p->workers; w++) {
        free(s.workers[w].seen);
        free(s.workers[w].todo);
    }
    free(s.workers);
    free(s.idle);
    free(s.ran);
    queue_free(&s.queue);
    return all;
}
