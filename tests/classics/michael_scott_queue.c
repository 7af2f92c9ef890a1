/* The queue of Michael and Scott, without giving nodes back: everything that goes in comes out, in order.
 * EXPECT all verified
 * EXPECT -DNO_CAS all error kind=assertion
 * EXPECT -DRELAXED all error kind=data-race
 */
#include "classic.h"

#ifdef RELAXED
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

struct node {
    int value; /* plain: the link orders it */
    struct node *_Atomic next;
};
static struct node nodes[3];
static struct node *_Atomic head = &nodes[0], *_Atomic tail = &nodes[0];

static void enqueue(struct node *n, int value)
{
    n->value = value;
    for (;;) {
        struct node *last = tail, *next = last->next, *none = NULL;
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next); /* help */
            continue;
        }
#ifdef NO_CAS
        last->next = n;
#else
        if (!atomic_compare_exchange_strong_explicit(&last->next, &none, n, LINK, memory_order_relaxed))
            continue;
#endif
        (void)none;
        atomic_compare_exchange_strong(&tail, &last, n);
        return;
    }
}

static int dequeue(void)
{
    for (;;) {
        struct node *first = head, *last = tail, *next = first->next;
        if (!next) return 0;
        if (first == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        int value = next->value;
        if (atomic_compare_exchange_strong(&head, &first, next)) return value;
    }
}

static int early;
static void *producer(void *me)
{
    enqueue(&nodes[1 + (intptr_t)me], 1 + (int)(intptr_t)me);
    return NULL;
}
static void *consumer(void *unused)
{
    early = dequeue();
    return unused;
}

int main(void)
{
    pthread_t c;
    pthread_create(&c, NULL, consumer, NULL);
    run_threads(2, producer);
    pthread_join(c, NULL);
    int sum = early, count = early != 0, value;
    while ((value = dequeue())) sum += value, count++;
    assert(sum == 3 && count == 2);
    return 0;
}
