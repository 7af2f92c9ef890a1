/* Lamport's bakery: everybody takes a number greater than all others; the smallest is served.
 * EXPECT all verified
 * EXPECT -DNO_CHOOSING all error kind=data-race
 * EXPECT -DNO_NAMES all error
 * SLOW -DN=3 optimal verified
 */
#include "classic.h"

static _Atomic int choosing[N], number[N];

static bool is_before(int a, int i, int b, int j)
{
#ifdef NO_NAMES
    (void)i, (void)j;
    return a < b;
#else
    return a < b || (a == b && i < j);
#endif
}

static void lock(int me)
{
    int most = 0;
#ifndef NO_CHOOSING
    choosing[me] = 1;
#endif
    for (int i = 0; i < N; i++) {
        int n = number[i];
        if (n > most) most = n;
    }
    int mine = most + 1;
    number[me] = mine;
    choosing[me] = 0;
    for (int i = 0; i < N; i++) {
        if (i == me) continue;
        while (choosing[i])
            ;
        for (;;) {
            int n = number[i];
            if (n == 0 || !is_before(n, i, mine, me)) break;
        }
    }
}

static void *work(void *me)
{
    lock((int)(intptr_t)me);
    entered(1);
    number[(intptr_t)me] = 0;
    return NULL;
}

int main(void)
{
    run_threads(N, work);
    assert(entered(0) == N);
    return 0;
}
