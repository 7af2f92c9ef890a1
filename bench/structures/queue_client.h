/* Clients of queues: e1 enqueues the value 1, d0 dequeues a value (0: the queue is empty). All values of a
 * client are different. check() demands that each value was dequeued once or is still in the queue; that a
 * thread which dequeues several values of one enqueuer gets them in the order in which they were enqueued;
 * and that the values left in the queue have this order, too. */
#ifndef QUEUE_CLIENT_H
#define QUEUE_CLIENT_H

#include "client.h"

#define VALUES 10

static void enqueue(int value);
static int dequeue(void);

static int call(char operation, int value, int t, int i)
{
    (void)t, (void)i;
    switch (operation) {
    case 'e':
        return enqueue(value), 0;
    case 'd':
        return dequeue();
    default:
        abort();
    }
}

/* Thread and number of the call that enqueued a value. */
struct origin {
    int t, i;
};

/* Check the next value that a thread dequeued: not seen before, and in the order of the thread that enqueued it. */
static void got(int value, const struct origin origin[VALUES], bool seen[VALUES], int last[1 + THREADS])
{
    struct origin o = origin[value];
    assert(value > 0 && o.i >= 0); /* a thread enqueued it */
    assert(!seen[value]);
    assert(o.i > last[o.t]);
    seen[value] = true;
    last[o.t] = o.i;
}

static void check(void)
{
    struct origin origin[VALUES];
    bool seen[VALUES] = {false};
    for (int v = 0; v < VALUES; v++) origin[v] = (struct origin){0, -1};
    for (int t = 0; t <= THREADS; t++)
        for (int i = 0; is_call(t, i); i++)
            if (operation_of(t, i) == 'e') origin[digit_of(t, i)] = (struct origin){t, i};
    for (int t = 0; t <= THREADS; t++) {
        int last[1 + THREADS] = {-1, -1, -1, -1};
        for (int i = 0; is_call(t, i); i++)
            if (operation_of(t, i) == 'd' && results[t][i]) got(results[t][i], origin, seen, last);
    }
    int last[1 + THREADS] = {-1, -1, -1, -1};
    for (int value; (value = dequeue());) got(value, origin, seen, last);
    for (int v = 0; v < VALUES; v++) assert(seen[v] == (origin[v].i >= 0));
}

#endif
