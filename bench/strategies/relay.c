/* Two threads hand a token to and fro D times, without waiting: each step must come right in time. Depth D. Noise by the other
 * threads. */
#include "bugs.h"

#ifndef D
#define D 3
#endif

static atomic_int token, noise;

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < R && me > 1; i++) atomic_fetch_add(&noise, 1);
    for (int i = me; i <= D && me < 2; i += 2)
        if (atomic_load(&token) == i) atomic_store(&token, i + 1);
    return arg;
}

int main(void)
{
    run(N, work);
    assert(atomic_load(&token) <= D);
    return 0;
}
