/* Treiber's stack, with nodes that are used again. Between the load of the top and the compare-exchange the
 * same node can be taken off and put back, with another one below it (ABA); a count beside the top helps.
 * EXPECT all verified
 * EXPECT -DABA all error kind=assertion
 * EXPECT -DTORN all error
 */
#include "classic.h"

struct top {
    uint32_t node, count;
};
static _Atomic struct top top;
static _Atomic uint32_t below[4]; /* 0 is none */
static _Atomic int owners[4];

static void push(uint32_t node)
{
    struct top old = top, new;
    owners[node]--;
    do {
        below[node] = old.node;
        new = (struct top){node, old.count};
    } while (!atomic_compare_exchange_strong(&top, &old, new));
}

static uint32_t pop(void)
{
    struct top old = top, new;
    do {
        if (!old.node) return 0;
        new = (struct top){below[old.node], old.count};
#ifndef ABA
        new.count++;
#endif
#ifdef TORN
        top = new;
        break;
#endif
    } while (!atomic_compare_exchange_strong(&top, &old, new));
    int had = atomic_fetch_add(&owners[old.node], 1);
    assert(had == 0); /* nobody else has it */
    return old.node;
}

static void *one(void *unused)
{
    pop();
    return unused;
}

static void *other(void *unused)
{
    uint32_t a = pop(), b = pop();
    if (a) push(a);
    (void)b; /* kept */
    return unused;
}

int main(void)
{
    pthread_t s, t;
    owners[1] = owners[2] = 1;
    push(2);
    push(1);
    pthread_create(&s, NULL, one, NULL);
    pthread_create(&t, NULL, other, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    while (pop())
        ;
    assert(owners[1] == 1 && owners[2] == 1);
    return 0;
}
