/* N threads add to a counter, R times under a lock and once without: a data race only if nothing orders the two. Depth 2. */
#include "bugs.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int counter;

static void *work(void *arg)
{
    for (int i = 0; i < R; i++) {
        pthread_mutex_lock(&m);
        atomic_store(&counter, atomic_load(&counter) + 1);
        pthread_mutex_unlock(&m);
    }
    if ((intptr_t)arg == 0) atomic_store(&counter, atomic_load(&counter) + 1);
    return arg;
}

int main(void)
{
    run(N, work);
    assert(atomic_load(&counter) == N * R + 1);
    return 0;
}
