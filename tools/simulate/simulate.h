/* Simulating a search that is shared by many workers, on a recorded tree: discrete events, times in
 * nanoseconds. Two protocols: that of 2007 (paper.c), and ours (ours.c: src/balance, src/engine/worker_part.c). */
#ifndef MZ_SIMULATE_SIMULATE_H
#define MZ_SIMULATE_SIMULATE_H

#include "tree.h"

#define MAX_WORKERS 65536

struct parameters {
    uint32_t workers;
    /* Cost of an execution: `execution`, plus `step` for each new step and `replay` for each repeated step. */
    double execution, step, replay;
    double latency; /* of a message, one way */
    double start;   /* time until a worker can have a task */
    /* The balancer, for a message of each kind. Paper: task for a request, done for a report. */
    double task, split, update, done;
    /* Ours */
    uint32_t here;    /* workers on the host of the balancer; the others are started at once */
    double alone;     /* the first worker is alone here for this time; then the number doubles, each time */
    double least;     /* between two pieces that a worker gives to others, at least */
    double quiet;     /* between two times that a worker tells the balancer to look, for what can wait */
    double round;     /* the balancer, each time it looks ... */
    double poll, far; /* ... and for each worker here, and elsewhere */
    bool single;      /* no batches of leaves */
    bool waits;       /* workers wait for the answers to updates */
    bool untold;      /* workers are not told the tree around a task */
    bool again;       /* workers repeat questions while the answer is on its way */
    uint32_t few;     /* workers that are asked to give something for each idle one; 0: all */
    uint32_t ahead;   /* the balancer asks for more when fewer branches than this are waiting */
    /* Paper */
    uint32_t limit; /* backtrack points that a worker keeps before it offers some */
};

struct result {
    uint64_t executions; /* all runs, also those of executions that were run before */
    uint64_t redundant;
    uint64_t tasks, splits, updates, messages;
    uint64_t parts,
        returns;      /* ours: leaves that were handed out; batches that were given back (also splits) */
    uint64_t refused; /* paper: requests that came when nobody was idle */
    double alone;     /* time of one worker without balancer and messages */
    double time;      /* until the balancer knows that all is done */
    double busy;      /* running executions, of all workers together */
    double leading;   /* of that: repeating the steps that lead to a task */
    double waiting;   /* for answers of the balancer */
    double balancer;  /* time that the balancer was busy */
    double path;      /* the longest chain of executions of which each was asked for by the one before */
};

/* False: the tree contradicts itself, so a protocol cannot explore each of its executions. No recording of a
 * search does that: the file is damaged. */
bool simulate_ours(const struct tree *t, const struct parameters *p, struct result *r);
bool simulate_paper(const struct tree *t, const struct parameters *p, struct result *r);

/* Cost of execution i for a worker that has just run execution i - 1. */
static inline double cost_of(const struct tree *t, const struct parameters *p, uint32_t i)
{
    return p->execution + t->steps[i] * p->step + t->node[i] * p->replay;
}
static inline double cost_of_round(const struct parameters *p)
{
    uint32_t here = p->workers < p->here ? p->workers : p->here;
    return p->round + here * p->poll + (p->workers - here) * p->far;
}
/* Time at which worker w has started. */
static inline double start_of(const struct parameters *p, uint32_t w)
{
    uint32_t doubled = 0;
    while (w < p->here && w >> doubled) doubled++;
    return p->start + doubled * p->alone;
}
double time_alone(const struct tree *t, const struct parameters *p);
/* No number of workers can be faster than this. */
double longest_chain(const struct tree *t, const struct parameters *p);

/* ---- events, the earliest first; of those at the same time the one that was put in first ---- */
struct event {
    double time;
    uint64_t number;
    uint32_t kind, who, what;
};
struct queue {
    struct event *heap;
    size_t count, room;
    uint64_t numbers;
};
void queue_put(struct queue *q, double time, uint32_t kind, uint32_t who, uint32_t what);
bool queue_take(struct queue *q, struct event *e);
void queue_free(struct queue *q);
void *memory(void *p, size_t bytes);

#endif
