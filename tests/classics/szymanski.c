/* Szymanski's algorithm: a waiting room whose door closes behind the last one. The state of a thread is 0
 * outside, 1 at the door, 2 waiting for others to come in, 3 in the room, 4 door closed.
 * EXPECT all verified
 * EXPECT -DNO_DOOR all error
 * SLOW -DN=3 optimal verified
 */
#include "classic.h"

static _Atomic int state[N];

static bool someone(int from, int to, int low, int high)
{
    for (int i = from; i < to; i++) {
        int s = state[i];
        if (s >= low && s <= high) return true;
    }
    return false;
}

static void lock(int me)
{
    state[me] = 1;
#ifndef NO_DOOR
    while (someone(0, N, 3, 4))
        ;
#endif
    state[me] = 3;
    if (someone(0, N, 1, 1)) {
        state[me] = 2;
        while (!someone(0, N, 4, 4))
            ;
    }
    state[me] = 4;
#ifndef NO_DOOR
    while (someone(0, me, 2, 4))
        ;
#endif
}

static void unlock(int me)
{
    while (someone(me + 1, N, 2, 3))
        ;
    state[me] = 0;
}

static void *work(void *me)
{
    lock((int)(intptr_t)me);
    entered(1);
    unlock((int)(intptr_t)me);
    return NULL;
}

int main(void)
{
    run_threads(N, work);
    assert(entered(0) == N);
    return 0;
}
