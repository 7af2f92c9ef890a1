/* Dekker's algorithm, the first solution: who does not have the turn steps back.
 * EXPECT all verified
 * EXPECT -DSTUBBORN all error kind=livelock
 * EXPECT -DLATE all error kind=data-race
 */
#include "classic.h"

static _Atomic int wants[2], turn;

static void lock(int me)
{
    int other = 1 - me;
#ifdef LATE
    while (wants[other])
        ;
    wants[me] = 1;
#else
    wants[me] = 1;
    while (wants[other]) {
#ifndef STUBBORN
        if (turn == me) continue;
        wants[me] = 0;
        while (turn != me)
            ;
        wants[me] = 1;
#endif
    }
#endif
}

static void *work(void *me)
{
    lock((int)(intptr_t)me);
    entered(1);
    turn = 1 - (int)(intptr_t)me;
    wants[(intptr_t)me] = 0;
    return NULL;
}

int main(void)
{
    run_threads(2, work);
    assert(entered(0) == 2);
    return 0;
}
