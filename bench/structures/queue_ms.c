/* The queue of Michael and Scott (1996): a list with a dummy in front. A thread that finds the tail behind
 * the last node moves the tail.
 * Nodes are never freed within an execution, so there is no ABA problem. -DBUG: dequeue
 * checks that the head has not changed, and then moves it without compare and swap.
 * EXPECT -DT0=e1 -DT1=e2 -DT2=d0 -DT3=d0 all verified
 * EXPECT -DBUG -DT0=e1 -DT1=e2 -DT2=d0 -DT3=d0 all error kind=assertion
 */
#include "queue_client.h"

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node dummy;
static _Atomic(struct node *) head = &dummy, tail = &dummy;

static void setup(void) {}

static void enqueue(int value)
{
    struct node *n = malloc(sizeof *n);
    n->value = value;
    atomic_init(&n->next, NULL);
    for (;;) {
        struct node *last = tail, *next = last->next;
        if (last != tail) continue;
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &next, n)) {
            atomic_compare_exchange_strong(&tail, &last, n);
            return;
        }
    }
}

static bool advance(struct node *first, struct node *next)
{
#ifdef BUG
    if (head != first) return false;
    head = next;
    return true;
#else
    return atomic_compare_exchange_strong(&head, &first, next);
#endif
}

static int dequeue(void)
{
    for (;;) {
        struct node *first = head, *last = tail, *next = first->next;
        if (first != head) continue;
        if (first == last) {
            if (!next) return 0;
            atomic_compare_exchange_strong(&tail, &last, next);
        } else {
            int value = next->value;
            if (advance(first, next)) return value;
        }
    }
}
