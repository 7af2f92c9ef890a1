/* The queue of events, a heap; and bounds that hold for any protocol. See simulate.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "simulate.h"

void *memory(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (p) return p;
    fputs("mz-simulate: out of memory\n", stderr);
    exit(2);
}

static bool before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time <= b->time && a->number < b->number);
}

void queue_put(struct queue *q, double time, uint32_t kind, uint32_t who, uint32_t what)
{
    struct event e = {time, q->numbers++, kind, who, what};
    if (q->count == q->room) q->heap = memory(q->heap, (q->room = q->room ? 2 * q->room : 64) * sizeof e);
    size_t i = q->count++;
    for (; i > 0 && before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2) q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

bool queue_take(struct queue *q, struct event *e)
{
    if (q->count == 0) return false;
    *e = q->heap[0];
    struct event last = q->heap[--q->count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && before(&q->heap[child + 1], &q->heap[child])) child++;
        if (!before(&q->heap[child], &last)) break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    if (q->count) q->heap[i] = last;
    return true;
}

void queue_free(struct queue *q)
{
    free(q->heap);
    *q = (struct queue){0};
}

double time_alone(const struct tree *t, const struct parameters *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->count; i++) sum += cost_of(t, p, i);
    return sum;
}

/* An execution cannot begin before the first one that asks for it has ended. The asker comes before it
 * in the order of the search. If an earlier execution asks for it, too, another asker may also come after it; such
 * an asker does not matter. */
double longest_chain(const struct tree *t, const struct parameters *p)
{
    double *known = memory(NULL, t->count * sizeof *known), longest = 0;
    for (uint32_t i = 0; i < t->count; i++) known[i] = i ? -1 : 0;
    for (uint32_t i = 0; i < t->count; i++) {
        double end = known[i] + cost_of(t, p, i);
        if (end > longest) longest = end;
        for (uint64_t a = t->ask_start[i]; a < t->ask_start[i + 1]; a++) {
            uint32_t j = t->ask[a];
            if (j > i && (known[j] < 0 || known[j] > end)) known[j] = end;
        }
    }
    free(known);
    return longest;
}
