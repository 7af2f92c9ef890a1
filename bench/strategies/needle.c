/* The last thread must come to its check before the first has done its first step, among R rounds of noise. Depth 1. */
#include "bugs.h"

static atomic_int first, noise, seen;

static void *work(void *arg)
{
    intptr_t me = (intptr_t)arg;
    if (me == 0) atomic_store(&first, 1);
    for (int i = 0; i < R; i++) atomic_fetch_add(&noise, 1);
    if (me == N - 1 && !atomic_load(&first)) atomic_store(&seen, 1);
    return arg;
}

int main(void)
{
    run(N, work);
    assert(!seen);
    return 0;
}
