/* The same, but only the other order is wrong: the checker must see b before it is set and then a set, by all N setters. */
#include "bugs.h"

static atomic_int a, b, seen;

static void *work(void *arg)
{
    if ((intptr_t)arg < N) {
        atomic_fetch_add(&a, 1);
        atomic_store(&b, 1);
    } else if (atomic_load(&b) == 0 && atomic_load(&a) == N) {
        atomic_store(&seen, 1);
    }
    return arg;
}

int main(void)
{
    run(N + 1, work);
    assert(!atomic_load(&seen));
    return 0;
}
