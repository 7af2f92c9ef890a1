/* Read, copy, update: readers mark where they are and follow the published pointer; the writer publishes a
 * new copy and frees the old one when all who may still use it have left.
 * EXPECT all verified
 * EXPECT -DREADERS=2 all verified
 * EXPECT -DRELAXED all error kind=data-race
 * EXPECT -DNO_GRACE all error
 */
#include "classic.h"

#ifndef READERS
#define READERS 1
#endif
#ifdef RELAXED
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_seq_cst
#endif

struct config {
    int a, b;
};
static struct config *_Atomic current;
static _Atomic int reading[READERS];

static void *reader(void *me)
{
    atomic_store(&reading[(intptr_t)me], 1);
    struct config *c = current;
    assert(c->a == c->b);
    atomic_store(&reading[(intptr_t)me], 0);
    return NULL;
}

static void *writer(void *unused)
{
    struct config *new = malloc(sizeof *new), *old = current;
    *new = (struct config){2, 2};
    atomic_store_explicit(&current, new, PUBLISH);
#ifndef NO_GRACE
    for (int i = 0; i < READERS; i++)
        while (reading[i])
            ;
#endif
    free(old);
    return unused;
}

int main(void)
{
    pthread_t w;
    struct config *first = malloc(sizeof *first);
    *first = (struct config){1, 1};
    current = first;
    pthread_create(&w, NULL, writer, NULL);
    run_threads(READERS, reader);
    pthread_join(w, NULL);
    free(current);
    return 0;
}
