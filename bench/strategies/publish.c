/* A thread publishes an object before it is filled in; N readers look at it once. Depth 2. */
#include "bugs.h"

static atomic_int published, filled, wrong;

static void *work(void *arg)
{
    if ((intptr_t)arg == 0) {
        atomic_store(&published, 1);
        atomic_store(&filled, 1);
    } else if (atomic_load(&published) && !atomic_load(&filled)) {
        atomic_store(&wrong, 1);
    }
    return arg;
}

int main(void)
{
    run(N, work);
    assert(!wrong);
    return 0;
}
