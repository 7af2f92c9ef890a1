/* A thread uses a variable on main's stack only in one of four classes of executions. Until then the race check leaves out
 * main's accesses to it, because no other thread has used it (runtime/loops/lent.c). Then the search starts over.
 * NESTED: the variable is in a frame that main enters again in each round, and only the last round lends it.
 * EXPECT all error kind=data-race
 * EXPECT -DNESTED all error kind=data-race
 * EXPECT -j2 optimal error kind=data-race
 * EXPECT -DORDERED all verified 4
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int rounds;
static int *_Atomic lent;

static void *look(void *arg)
{
    (void)arg;
    if (atomic_load(&rounds) == 3) *atomic_load(&lent) = 2;
    return NULL;
}

static __attribute__((noinline)) int round_of(int last)
{
    int variable = 0, *volatile place = &variable;
    if (last) atomic_store(&lent, place);
    atomic_fetch_add(&rounds, 1);
#ifndef ORDERED
    *(volatile int *)place = 1; /* or the compiler leaves it out: the variable is gone right after */
#endif
    return *place;
}

int main(void)
{
    pthread_t t;
    int variable = 0, *volatile place = &variable;
    atomic_store(&lent, place);
    pthread_create(&t, NULL, look, NULL);
#ifdef NESTED
    round_of(0);
    round_of(0);
    round_of(1); /* returns while the other thread may write: a use of a frame that is gone, and a race */
#else
    for (int i = 0; i < 3; i++) atomic_fetch_add(&rounds, 1);
#ifndef ORDERED
    *place = 1;
#endif
#endif
    pthread_join(t, NULL);
    return variable > 2;
}
